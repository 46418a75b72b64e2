"""The engine of many machines: Celery carries runs to workers, and their results come back in shared logs.

Lives on the server's event loop: one task waits for news of every run that is followed here (one connection, however
many runs), another one looks after them each second: says that they are still followed, sends those again that are
lost, and learns which workers there are.
"""

import asyncio
import logging
import sys
import time
import uuid
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar, cast

from celery import Celery
from redis.exceptions import RedisError

from gradwalk.cluster.connection import connect, connect_listener
from gradwalk.engine.broker import PRIORITIES, TASK, make_broker, queue_of
from gradwalk.engine.engine import BusyError, EngineStatus, Follow, Order, Sink
from gradwalk.engine.job import CALLED_OFF, Job, Outcome
from gradwalk.engine.runlog import Entry, Reader, RunLog, SharedRun
from gradwalk.protocol.events import Versions
from gradwalk.protocol.facts import fact
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.selftest import Protection

log = logging.getLogger(__name__)

T = TypeVar("T")

TEND_SECONDS = 1.0
PATIENCE_SECONDS = 5.0
"""A message to the workers that is nowhere after so long is lost."""
_AGAIN_SECONDS = 0.25
_PUBLISHERS = 2
_CLOSING_SECONDS = 3.0
_NOBODY_SECONDS = 2
_LEVELS = ("none", "partial", "full")
_SENDING = {"max_retries": 3, "interval_start": 0.1, "interval_step": 0.2, "interval_max": 0.5}


@dataclass(eq=False, slots=True)
class _Follower:
    """One run that this server reads."""

    run: SharedRun
    sink: Sink
    cancellation: Cancellation
    cursor: str = "0"
    count: int = 0
    jobs_ahead: int = 0
    has_begun: bool = False
    sent: float = field(default_factory=time.monotonic)
    """When its message was sent last."""

    def take(self, cursor: str, entry: Entry) -> None:
        """Passes on what is new; after a fault, another attempt may write what came already."""
        self.cursor = cursor
        if not self.has_begun:
            self.has_begun = True
            self.jobs_ahead = 0
            self.sink.started()
        if entry.progress is not None:
            self.sink.page_done(*entry.progress)
        fresh = list(entry.batch[self.count - entry.first :])
        if fresh:
            self.count += len(fresh)
            self.sink.append(fresh)


class CeleryEngine:
    """The server's side of the cluster at `url`; needs no torch. At most `waiting_max` runs wait, over all servers."""

    keeps_results = True

    def __init__(self, url: str, waiting_max: int, client_waiting_max: int = sys.maxsize) -> None:
        self._name = uuid.uuid4().hex
        self._connection = connect(url)
        self._log = RunLog(self._connection)
        self._listener = connect_listener(url)
        self._reader = Reader(self._listener, self._name)
        self._broker: Celery = make_broker(url)
        self._caps = waiting_max, client_waiting_max
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
        run, priority = await self._patiently(self._log.open(order, self._name, *self._caps))
        self._follow(run, sink, cancellation)
        if priority is not None:
            self._send(order, priority)

    async def find(self, run_id: str) -> tuple[Job, Follow] | None:
        run = await self._patiently(self._log.find(run_id))
        return None if run is None else (run.order.job, partial(self._follow, run))

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
            self._finish(follower, CALLED_OFF)
        await self._listener.aclose()
        await self._connection.aclose()

    def _follow(self, run: SharedRun, sink: Sink, cancellation: Cancellation) -> None:
        before = self._followers.get(run.order.run_id)
        if before is not None:
            before.sink.finished(CALLED_OFF)
        follower = self._followers[run.order.run_id] = _Follower(run, sink, cancellation)
        cancellation.bind(lambda: self._in_background(self._leave(follower)))
        # The reader waits for news of those it knew when it began to wait.
        self._in_background(self._log.wake(self._name))

    async def _leave(self, follower: _Follower) -> None:
        """No reader is left here: the run may stop, unless another server still follows."""
        if self._followers.get(follower.run.order.run_id) is follower:
            await self._log.leave(follower.run.order.run_id, self._name)

    def _finish(self, follower: _Follower, outcome: Outcome) -> None:
        """Reads it no longer."""
        if self._followers.get(follower.run.order.run_id) is follower:
            del self._followers[follower.run.order.run_id]
            follower.cancellation.bind(None)
            follower.sink.finished(outcome)

    async def _read_news(self) -> None:
        followers = {follower.run.log: follower for follower in self._followers.values()}
        for name, cursor, entry in await self._reader.news({name: one.cursor for name, one in followers.items()}):
            follower = followers[name]
            # It may have begun anew meanwhile, or have ended.
            if follower.run.log == name and self._followers.get(follower.run.order.run_id) is follower:
                follower.take(cursor, entry)
                if entry.outcome is not None:
                    self._finish(follower, entry.outcome)

    async def _look_after(self) -> None:
        await self._learn()
        followers = list(self._followers.values())
        followed = [(one.run, not one.cancellation.is_wished) for one in followers]
        conditions = await self._log.tend(followed, self._name) if followed else []
        for follower, (run, is_wanted), condition in zip(followers, followed, conditions, strict=True):
            state, order = condition.state, run.order
            if self._followers.get(order.run_id) is not follower or state == "done":
                continue
            follower.jobs_ahead = 0 if follower.has_begun else condition.jobs_ahead
            if is_wanted and follower.cancellation.is_wished:
                # The last reader left while `tend` said that they follow.
                await self._leave(follower)
            elif not is_wanted:
                if not condition.is_stopping:
                    self._finish(follower, CALLED_OFF)
            elif state == "gone":
                await self._begin_anew(follower)
            elif state == "lost" or (state == "unsent" and time.monotonic() - follower.sent > PATIENCE_SECONDS):
                follower.sent = time.monotonic()
                if await self._log.enqueue_again(order) or state == "unsent":
                    log.warning("a run was lost with its worker or message, and is sent again")
                    self._send(order, order.lane * PRIORITIES)

    async def _begin_anew(self, follower: _Follower) -> None:
        log.warning("the shared server has forgotten a run; it begins anew")
        # There was room for it once, and its readers have begun to read.
        follower.run, priority = await self._log.open(follower.run.order, self._name)
        follower.cursor = "0"
        if priority is not None:
            self._send(follower.run.order, priority)
        await self._log.wake(self._name)

    async def _learn(self) -> None:
        """Which workers there are, and how much there is to do."""
        workers = await self._log.workers()
        started, waiting, _ = await self._log.counts()
        versions = cast("Versions | None", await self._log.versions())
        protections = (worker["protection"] for worker in workers)
        weakest = min(protections, key=lambda one: _LEVELS.index(one["level"]), default=None)
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

    def _send(self, order: Order, priority: int) -> None:
        """Sends a message to the workers; where that fails, `_look_after` notices it."""
        if not self._is_closed:
            self._sending.submit(self._publish, order, priority)

    def _publish(self, order: Order, priority: int) -> None:
        try:
            queue = queue_of(order.lane)
            self._broker.send_task(TASK, [order.run_id], queue=queue, priority=priority, retry_policy=_SENDING)
        except Exception:  # noqa: BLE001 (nothing waits for this thread's answer)
            log.exception("a message to the workers could not be sent")

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
