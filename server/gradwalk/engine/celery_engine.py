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
from collections.abc import Awaitable, Callable, Coroutine
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
from gradwalk.engine.runlog import Entry, Place, Reader, RunLog, SharedRun
from gradwalk.protocol.events import Versions
from gradwalk.protocol.facts import fact
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.selftest import Protection

log = logging.getLogger(__name__)

T = TypeVar("T")

TEND_SECONDS = 1.0
PATIENCE_SECONDS = 5.0
"""The message of a run that has not begun in this time may be lost: it is sent again, then after twice the time."""
_AGAIN_SECONDS = 0.25
_PUBLISHERS = 2
_NOBODY_SECONDS = 2
_LEVELS = ("none", "partial", "full")


@dataclass(eq=False, slots=True)
class _Follower:
    """One run that this server reads."""

    run: SharedRun
    sink: Sink
    cancellation: Cancellation
    place: Place
    count: int = 0
    """The number of the last entry that was read."""
    has_begun: bool = False
    times_sent: int = 0
    """Since it was known to run."""
    send_at: float = field(default_factory=lambda: time.monotonic() + PATIENCE_SECONDS)
    """When its message is sent again, unless a worker runs it then."""

    def begin(self) -> None:
        """A worker runs it; should that one die, another takes over at once."""
        if not self.has_begun:
            self.has_begun = True
            self.sink.started()
        self.times_sent, self.send_at = 0, 0.0

    def take(self, entry: Entry) -> None:
        """Passes on what is new; after a fault, another attempt may write what came already."""
        self.begin()
        fresh, self.count = entry.after(self.count), entry.number
        if entry.progress is not None:
            self.sink.page_done(*entry.progress)
        if fresh:
            self.sink.append([*fresh])


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
        self._tasks: set[asyncio.Future[Any]] = set()
        self._status = EngineStatus(ready=False, started=0, running=0, waiting={}, layers={}, workers=0)

    def start(self) -> None:
        self._in_background(self._keep_doing(self._read_news, 0.0))
        self._in_background(self._keep_doing(self._look_after, TEND_SECONDS))

    async def submit(self, order: Order, sink: Sink, cancellation: Cancellation) -> None:
        run, place = await self._patiently(self._log.open(order, *self._caps))
        self._follow(run, sink, cancellation, place)

    async def find(self, run_id: str) -> tuple[Job, Follow] | None:
        run = await self._patiently(self._log.find(run_id))
        return None if run is None else (run.order.job, partial(self._follow, run))

    def jobs_ahead_of(self, sink: Sink) -> int:
        turn = next((one.place.turn for one in self._followers.values() if one.sink is sink and not one.has_begun), 0)
        return max(0, turn - self._status.started)

    def versions(self) -> Versions:
        versions = self._status.versions
        if versions is None:
            raise BusyError(_NOBODY_SECONDS, fact("api-busy-no-workers"))
        return versions

    def status(self) -> EngineStatus:
        return self._status

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        for follower in list(self._followers.values()):
            self._finish(follower, CALLED_OFF)
        self._sending.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._broker.close)
        await self._listener.aclose()
        await self._connection.aclose()

    def _follow(self, run: SharedRun, sink: Sink, cancellation: Cancellation, place: Place | None = None) -> None:
        before = self._followers.get(run.order.run_id)
        if before is not None:
            before.sink.finished(CALLED_OFF)
        # A run that was joined has its place elsewhere; should its message be lost, it comes last.
        follower = _Follower(run, sink, cancellation, place or Place((run.order.lane + 1) * PRIORITIES - 1, 0))
        self._followers[run.order.run_id] = follower
        cancellation.bind(lambda: self._in_background(self._leave(follower)))
        if place is not None:
            self._send(follower)
        # The reader waits for news of those it knew when it began to wait.
        self._in_background(self._log.wake(self._name))

    async def _leave(self, follower: _Follower) -> None:
        """No reader is left here: the run may stop, unless another server still follows."""
        if self._followers.get(follower.run.order.run_id) is follower:
            await self._log.leave(follower.run)

    def _finish(self, follower: _Follower, outcome: Outcome) -> None:
        """Reads it no longer."""
        if self._followers.get(follower.run.order.run_id) is follower:
            del self._followers[follower.run.order.run_id]
            follower.cancellation.bind(None)
            follower.sink.finished(outcome)

    async def _read_news(self) -> None:
        followers = {follower.run.log: follower for follower in self._followers.values()}
        for name, entry in await self._reader.news({name: one.count for name, one in followers.items()}):
            follower = followers[name]
            # It may have begun anew meanwhile, or have ended.
            if follower.run.log == name and self._followers.get(follower.run.order.run_id) is follower:
                follower.take(entry)
                if entry.outcome is not None:
                    self._finish(follower, entry.outcome)

    async def _look_after(self) -> None:
        await self._learn()
        followers = list(self._followers.values())
        followed = [(one.run, not one.cancellation.is_wished, not one.has_begun) for one in followers]
        conditions = await self._log.tend(followed) if followed else []
        for follower, (beats, is_there) in zip(followers, conditions, strict=True):
            if self._followers.get(follower.run.order.run_id) is not follower:
                continue
            if follower.cancellation.is_wished:
                # One that runs says how it ended.
                if not beats:
                    self._finish(follower, CALLED_OFF)
            elif beats:
                follower.begin()
            elif not is_there:
                await self._begin_anew(follower)
            elif time.monotonic() > follower.send_at:
                log.info("a run waits for long, or its worker is dead: its message is sent again")
                self._send(follower)

    async def _begin_anew(self, follower: _Follower) -> None:
        log.warning("the shared server has forgotten a run; it begins anew")
        # There was room for it once.
        follower.run, place = await self._log.open(follower.run.order)
        if place is not None:
            self._send(follower)
        await self._log.wake(self._name)

    async def _learn(self) -> None:
        """Which workers there are, and how much there is to do."""
        workers = await self._log.workers()
        started, waiting, found = await self._log.counts()
        versions = cast("Versions | None", found)
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

    def _send(self, follower: _Follower) -> None:
        """Sends a message to the workers; where that fails, `_look_after` does it again."""
        follower.send_at = time.monotonic() + PATIENCE_SECONDS * 2**follower.times_sent
        follower.times_sent += 1
        order, queue = follower.run.order, queue_of(follower.run.order.lane)
        priority = order.lane * PRIORITIES if follower.has_begun else follower.place.priority
        send = partial(self._broker.send_task, TASK, [order.run_id], queue=queue, priority=priority)
        self._in_background(asyncio.get_running_loop().run_in_executor(self._sending, send))

    async def _patiently(self, answer: Coroutine[Any, Any, T]) -> T:
        try:
            return await answer
        except RedisError as error:
            log.warning("the shared server does not answer: %s", error)
            raise BusyError(_NOBODY_SECONDS, fact("api-busy-memory")) from error

    async def _keep_doing(self, work: Callable[[], Coroutine[Any, Any, None]], pause_seconds: float) -> None:
        while True:
            try:
                await work()
                await asyncio.sleep(pause_seconds)
            except Exception as error:  # noqa: BLE001 (whatever it is: without this work no reader hears anything)
                log.warning("looking after runs went wrong: %s", error, exc_info=not isinstance(error, RedisError))
                self._status = replace(self._status, ready=False)
                await asyncio.sleep(_AGAIN_SECONDS)

    def _in_background(self, work: Awaitable[Any]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._end_background)

    def _end_background(self, task: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("the engine's work in the background failed", exc_info=task.exception())
