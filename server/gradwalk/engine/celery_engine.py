"""The engine of many machines: runs are written into the shared log, and Celery tells the workers.

Lives on the server's event loop: one task waits for news of every run that is followed here (one connection, however
many runs), another one looks after them each second: says that they are still followed, sends those again that are
lost, and learns who works at all.
"""

import asyncio
import logging
import sys
import uuid
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar, cast

from celery import Celery
from redis.exceptions import RedisError

from gradwalk.cluster.connection import connect, connect_listener
from gradwalk.engine.broker import TASK, make_broker, queue_of
from gradwalk.engine.engine import BusyError, EngineStatus, Found, Lane, Order, Sink
from gradwalk.engine.job import CALLED_OFF
from gradwalk.engine.runlog import Caps, Entry, Reader, RunLog
from gradwalk.protocol.events import Versions
from gradwalk.protocol.facts import fact
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.selftest import Protection

log = logging.getLogger(__name__)

T = TypeVar("T")

TEND_SECONDS = 1.0
_AGAIN_SECONDS = 0.25
_PUBLISHERS = 2
_CLOSING_SECONDS = 3.0
_NOBODY_SECONDS = 2
_LEVELS = ("none", "partial", "full")
_SENDING = {"max_retries": 3, "interval_start": 0.1, "interval_step": 0.2, "interval_max": 0.5}
_ANY = Caps(sys.maxsize, sys.maxsize)


class _Follower:
    """One run that this server reads."""

    def __init__(self, order: Order, sink: Sink, cancellation: Cancellation) -> None:
        self.order = order
        self.sink = sink
        self.cancellation = cancellation
        self.cursor = "0"
        self.count = 0
        self.jobs_ahead = 0
        self.has_begun = False

    def take(self, cursor: str, entry: Entry) -> None:
        """Passes on what is new; an entry may come again after the shared server has lost its last second."""
        if entry.first > self.count:
            self.cursor = "0"
            return
        self.cursor = cursor
        if not self.has_begun:
            self.has_begun = True
            self.jobs_ahead = 0
            self.sink.started()
        if entry.progress is not None:
            self.sink.progress(*entry.progress)
        fresh = list(entry.batch[self.count - entry.first :]) if entry.batch else []
        if fresh:
            self.count += len(fresh)
            self.sink.append(fresh)


class CeleryEngine:
    """The server's side of the cluster at `url`; needs no torch. At most `waiting_max` runs wait, over all servers."""

    keeps_results = True

    def __init__(self, url: str, waiting_max: int, client_waiting_max: int | None = None) -> None:
        self._name = uuid.uuid4().hex
        self._connection = connect(url)
        self._log = RunLog(self._connection)
        self._listener = connect_listener(url)
        self._reader = Reader(self._listener, self._name)
        self._broker: Celery = make_broker(url)
        self._caps = Caps(waiting_max, waiting_max if client_waiting_max is None else client_waiting_max)
        self._followers: dict[str, _Follower] = {}
        self._sending = ThreadPoolExecutor(_PUBLISHERS, thread_name_prefix="engine-publisher")
        self._tasks: set[asyncio.Task[Any]] = set()
        self._status = EngineStatus(ready=False, started=0, running=0, waiting={}, layers={}, workers=0)
        self._is_closed = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._keep_doing(self._read_news, 0.0)
        self._keep_doing(self._look_after, TEND_SECONDS)

    async def submit(self, order: Order, sink: Sink, cancellation: Cancellation) -> None:
        is_new = await self._patiently(self._log.open(order, self._name, self._caps))
        self._follow(order, sink, cancellation)
        if is_new:
            self._send(order)

    async def find(self, run_id: str) -> Found | None:
        order = await self._patiently(self._log.find(run_id))
        if order is None:
            return None

        def follow(sink: Sink, cancellation: Cancellation) -> None:
            self._follow(order, sink, cancellation)
            self._in_background(self._log.open(order, self._name, self._caps))

        return Found(order.job, follow)

    def jobs_ahead_of(self, sink: Sink) -> int:
        return next((one.jobs_ahead for one in self._followers.values() if one.sink is sink), 0)

    def versions(self) -> Versions:
        versions = self._status.versions
        if versions is None:
            raise BusyError(_NOBODY_SECONDS, fact("api-busy-no-workers"))
        return versions

    def status(self) -> EngineStatus:
        return self._status

    def close(self) -> None:
        self._is_closed = True
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._shut(), self._loop).result(_CLOSING_SECONDS)
        self._sending.shutdown(cancel_futures=True)
        self._broker.close()

    async def _shut(self) -> None:
        for task in self._tasks:
            task.cancel()
        for follower in list(self._followers.values()):
            self._part(follower)
            follower.sink.finished(CALLED_OFF)
        await self._listener.aclose()
        await self._connection.aclose()

    def _follow(self, order: Order, sink: Sink, cancellation: Cancellation) -> None:
        before = self._followers.get(order.run_id)
        if before is not None:
            before.sink.finished(CALLED_OFF)
        follower = self._followers[order.run_id] = _Follower(order, sink, cancellation)
        cancellation.bind(lambda: self._in_background(self._leave(follower)))
        # The reader waits for news of those it knew when it began to wait.
        self._in_background(self._log.wake(self._name))

    async def _leave(self, follower: _Follower) -> None:
        """Nobody here looks any more: whoever runs it may stop, unless another server still follows."""
        order = follower.order
        is_over = await self._log.leave(order.run_id, self._name, CALLED_OFF)
        if not is_over and self._part(follower):
            follower.sink.finished(CALLED_OFF)

    def _part(self, follower: _Follower) -> bool:
        """Reads it no longer; False when that was so already."""
        is_there = self._followers.get(follower.order.run_id) is follower
        if is_there:
            del self._followers[follower.order.run_id]
            follower.cancellation.bind(None)
        return is_there

    async def _read_news(self) -> None:
        cursors = {run_id: follower.cursor for run_id, follower in self._followers.items()}
        for run_id, cursor, entry in await self._reader.news(cursors):
            follower = self._followers.get(run_id)
            # Whoever has begun to follow meanwhile begins at the beginning.
            if follower is None or (follower.cursor == "0" and cursors[run_id] != "0"):
                continue
            if entry.outcome is None:
                follower.take(cursor, entry)
            elif self._part(follower):
                follower.sink.finished(entry.outcome)

    async def _look_after(self) -> None:
        tended = [run_id for run_id, one in self._followers.items() if not one.cancellation.is_wished]
        for run_id, condition in (await self._log.tend(tended, self._name) if tended else {}).items():
            follower = self._followers.get(run_id)
            if follower is None:
                continue
            follower.jobs_ahead = 0 if follower.has_begun else condition.jobs_ahead
            if condition.state == "lost":
                log.warning("a run was lost with its worker and is sent again")
                self._send(follower.order)
            elif condition.state == "gone":
                await self._begin_anew(follower)
        await self._learn()

    async def _begin_anew(self, follower: _Follower) -> None:
        log.warning("the shared server has forgotten a run; it begins anew")
        follower.cursor = "0"
        # There was room for it once, and its readers have begun to read.
        if await self._log.open(follower.order, self._name, _ANY):
            self._send(follower.order)

    async def _learn(self) -> None:
        """Who works, and how much there is to do."""
        workers = await self._log.workers()
        started, waiting = await self._log.counts()
        versions = cast("Versions | None", await self._log.versions())
        weakest = min((worker["protection"] for worker in workers), key=_rank, default=None)
        self._status = EngineStatus(
            ready=any(worker["versions"] == versions for worker in workers),
            started=started,
            running=sum(worker["running"] for worker in workers),
            waiting=waiting,
            layers=workers[0]["layers"] if workers else {},
            protection=weakest and Protection(weakest["level"], tuple(weakest["open"])),
            versions=versions,
            workers=len(workers),
        )

    def _send(self, order: Order) -> None:
        """Tells the workers; what fails is noticed by who looks after the run."""
        if not self._is_closed:
            self._sending.submit(self._publish, order.run_id, order.lane)

    def _publish(self, run_id: str, lane: Lane) -> None:
        try:
            self._broker.send_task(TASK, [run_id], queue=queue_of(lane), retry_policy=_SENDING)
        except Exception:  # noqa: BLE001 (nobody waits for this thread's answer)
            log.exception("the workers could not be told of a run")

    async def _patiently(self, answer: Coroutine[Any, Any, T]) -> T:
        try:
            return await answer
        except RedisError as error:
            log.warning("the shared server does not answer: %s", error)
            raise BusyError(_NOBODY_SECONDS, fact("api-busy-memory")) from error

    def _keep_doing(self, work: Callable[[], Coroutine[Any, Any, None]], pause_seconds: float) -> None:
        async def repeat() -> None:
            while not self._is_closed:
                try:
                    await work()
                    await asyncio.sleep(pause_seconds)
                except Exception as error:  # noqa: BLE001 (whatever it is: without this work no reader hears anything)
                    if isinstance(error, RedisError):
                        log.warning("the shared server does not answer: %s", error)
                    else:
                        log.exception("looking after runs went wrong")
                    self._status = replace(self._status, ready=False)
                    await asyncio.sleep(_AGAIN_SECONDS)

        self._in_background(repeat())

    def _in_background(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._end_background)

    def _end_background(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("the engine's work in the background failed", exc_info=task.exception())


def _rank(protection: dict[str, Any]) -> int:
    return _LEVELS.index(protection["level"])
