"""The runs that are under way: one append-only log each, one cursor per follower.

Everything but a run's side of `Sink` lives on the event loop. A run's results are appended once; a follower is only a
number, so resuming, joining late and lagging behind cost nothing, and any number of followers share one run.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

from gradwalk.change import Change
from gradwalk.engine.engine import Engine, Lane, Order
from gradwalk.engine.job import Job, Outcome
from gradwalk.sandbox.cancellation import Cancellation

log = logging.getLogger(__name__)

_BATCH_EVENTS_MAX = 64
_BATCH_BYTES = 128 << 10
"""A batch that has reached it is full: putting two megabytes together takes a millisecond of the event loop."""
RETAINED_BYTES_MAX = 64 << 20
"""Of results that are not kept, whatever their time; the oldest go first."""
_PATIENCE_SECONDS = 60.0
_TOGETHER_SECONDS = 0.016
"""As long as a screen shows one picture."""


def take_batch(events: list[bytes], begin: int) -> list[bytes]:
    """Those from number `begin` on that are sent together."""
    end, size = begin, 0
    while end < min(len(events), begin + _BATCH_EVENTS_MAX) and size < _BATCH_BYTES:
        size += len(events[end])
        end += 1
    return events[begin:end]


class RunState(Enum):
    """Only ever moves forward."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"


class Run:
    """One job and what it has said so far: the sink of an engine's threads, and the loop's view of what they said.

    The first results are told at once; those that follow within one picture of a screen are told together, since every
    telling wakes every follower.
    """

    def __init__(
        self, run_id: str, job: Job, engine: Engine, abandon_seconds: float, finish: Callable[["Run", Outcome], None]
    ) -> None:
        self.id = run_id
        self.job = job
        self.log: list[bytes] = []
        """Encoded results; of a trace, the event with `seq` n is at n."""
        self.began = time.monotonic()
        """When it was asked for."""
        self.state = RunState.QUEUED
        self.outcome: Outcome | None = None
        """Known when everything is said; what is to be kept has yet to be."""
        self.cancellation = Cancellation()
        self.progress = (0, 0)
        """Pages of a file that are done, and all of them; 0 as long as nobody knows how many."""
        self.followers = 0
        self.admission: asyncio.Future[None] | None = None
        """Whether the engine has room for it; None when somebody else has asked already."""
        self._engine = engine
        self._abandon_seconds = abandon_seconds
        self._finish = finish
        self._loop = asyncio.get_running_loop()
        self._abandonment: asyncio.TimerHandle | None = None
        self._change = Change()
        self._lock = threading.Lock()
        self._untold: list[bytes] = []
        self._is_telling_due = False
        self._tell_from = 0.0
        """When the next results may be told, by the loop's clock."""

    @contextmanager
    def follower(self) -> Iterator[None]:
        """Somebody looks at this run; some time after the last one has left it is called off."""
        self.followers += 1
        if self._abandonment is not None:
            self._abandonment.cancel()
            self._abandonment = None
        try:
            yield
        finally:
            self.followers -= 1
            if self.followers == 0 and self.outcome is None:
                self._abandonment = self._loop.call_later(self._abandon_seconds, self.cancellation.cancel)

    def jobs_ahead(self) -> int:
        """How many waiting jobs come before this one."""
        return self._engine.jobs_ahead_of(self)

    async def news_after(self, count: int, patience_seconds: float) -> list[bytes]:
        """Results from number `count` on, as soon as there are any, a bounded number at once.

        Empty when the run is over, when it changed state, or when `patience_seconds` have passed.
        """
        if len(self.log) <= count:
            await self.change(patience_seconds)
        return take_batch(self.log, count)

    async def change(self, patience_seconds: float) -> None:
        """Returns when there is news of any kind, or `patience_seconds` have passed."""
        if self.state is not RunState.DONE:
            await self._change.wait(patience_seconds)

    def wake_followers(self) -> None:
        """Lets every follower look again."""
        self._change.tell()

    def note_done(self) -> None:
        """The job is over, and its result is where it will be found."""
        self.state = RunState.DONE
        self.wake_followers()

    # Called from an engine's threads, as a `Sink`.

    def started(self) -> None:
        self._call(self._note_started)

    def append(self, batch: list[bytes]) -> None:
        with self._lock:
            self._untold += batch
            was_due, self._is_telling_due = self._is_telling_due, True
        if not was_due:
            self._call(self._tell_in_time)

    def page_done(self, done: int, of: int) -> None:
        self._call(self._note_progress, done, of)

    def finished(self, outcome: Outcome) -> None:
        self._call(self._note_outcome, outcome)

    def _call(self, function: Callable[..., None], *arguments: object) -> None:
        # A loop that has closed meanwhile has no followers either.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *arguments)

    # What comes of it, on the loop.

    def _note_started(self) -> None:
        self.state = RunState.RUNNING
        self.wake_followers()

    def _tell_in_time(self) -> None:
        if self._tell_from <= self._loop.time():
            self._tell()
        else:
            self._loop.call_at(self._tell_from, self._tell)

    def _tell(self) -> None:
        with self._lock:
            batch, self._untold, self._is_telling_due = self._untold, [], False
        if batch:
            self._tell_from = self._loop.time() + _TOGETHER_SECONDS
            self.log += batch
            self.wake_followers()

    def _note_progress(self, done: int, of: int) -> None:
        # A file that is begun anew is not told to have shrunk.
        self.progress = max(self.progress, (done, of))
        self.wake_followers()

    def _note_outcome(self, outcome: Outcome) -> None:
        self._tell()
        self.outcome = outcome
        if self._abandonment is not None:
            self._abandonment.cancel()
        self._finish(self, outcome)


class Runs:
    """Every run under way, by its id: the same id is never run twice at once.

    `keep` puts a lasting result where it can be found later and says whether it did; what is not kept can be read
    here for `retain_seconds`; `on_outcome` hears of every run that has ended. Followers have every event as it comes,
    but a run is done only when it was kept: whoever was told so finds it again, whatever is killed in the next moment.
    """

    def __init__(
        self,
        engine: Engine,
        keep: Callable[[Run], Awaitable[bool]],
        *,
        abandon_seconds: float,
        retain_seconds: float,
        on_outcome: Callable[[Run], None] | None = None,
    ) -> None:
        self._engine = engine
        self._keep = keep
        self._on_outcome = on_outcome
        self._abandon_seconds = abandon_seconds
        self._retain_seconds = retain_seconds
        self._runs: dict[str, Run] = {}
        self._retained: dict[Run, int] = {}
        """Bytes of those that are over and not kept, the oldest first."""
        self._keeping: set[asyncio.Task[None]] = set()
        self.is_stopping = False
        """Once true, streams say goodbye and end."""

    def find(self, run_id: str) -> Run | None:
        """A run under way, or over so recently that it is not kept elsewhere yet."""
        return self._runs.get(run_id)

    def find_joinable(self, run_id: str) -> Run | None:
        """A run under way that another asker can share."""
        known = self._runs.get(run_id)
        if known is None or known.cancellation.is_wished or (known.outcome is not None and not known.outcome.lasting):
            return None
        return known

    async def join_or_start(self, run_id: str, job: Job, lane: Lane, client: str = "") -> Run:
        """The run of this id: the one under way, else a new one of `client`. Ask the store first.

        Raises:
            BusyError: a new one was needed and there is no room for it.
        """
        run = self.find_joinable(run_id)
        if run is None:
            # It can be joined before the engine has agreed, or two who ask at once would have two.
            run = self._make(run_id, job)
            submission = self._engine.submit(Order(run_id, job, lane, client), run, run.cancellation)
            run.admission = asyncio.ensure_future(self._admit(run, submission))
        if run.admission is not None:
            # One who goes away must not take the answer from those who joined.
            await asyncio.shield(run.admission)
        return run

    async def attach(self, run_id: str) -> Run | None:
        """A run under way or just over, here or on another server."""
        if run_id in self._runs:
            return self._runs[run_id]
        found = await self._engine.find(run_id)
        if found is not None and run_id not in self._runs:
            job, follow = found
            run = self._make(run_id, job)
            follow(run, run.cancellation)
        return self._runs.get(run_id)

    async def outcome_of(self, run: Run) -> Outcome | None:
        """Follows it to its end; None where the server goes down before."""
        with run.follower():
            while run.state is not RunState.DONE:
                if self.is_stopping:
                    return None
                await run.change(_PATIENCE_SECONDS)
        return run.outcome

    def _make(self, run_id: str, job: Job) -> Run:
        run = self._runs[run_id] = Run(run_id, job, self._engine, self._abandon_seconds, self._finish)
        return run

    async def _admit(self, run: Run, submission: Coroutine[Any, Any, None]) -> None:
        try:
            await submission
        except BaseException:
            self._forget(run)
            raise

    def stop(self) -> None:
        """Makes every follower look up and leave."""
        self.is_stopping = True
        for run in self._runs.values():
            run.wake_followers()

    async def settle(self) -> None:
        """Waits until everything that is to be kept has been kept."""
        await asyncio.gather(*self._keeping, return_exceptions=True)

    def _finish(self, run: Run, outcome: Outcome) -> None:
        if self._on_outcome is not None:
            self._on_outcome(run)
        if not outcome.lasting:
            run.note_done()
            self._forget_later(run)
            return
        task = asyncio.create_task(self._keep_then_forget(run))
        self._keeping.add(task)
        task.add_done_callback(self._keeping.discard)

    async def _keep_then_forget(self, run: Run) -> None:
        kept = False
        try:
            kept = await self._keep(run)
        except Exception:  # noqa: BLE001 (a store that fails must not take the answer from those who wait for it)
            log.exception("a finished run could not be kept")
        run.note_done()
        if kept:
            self._forget(run)
        else:
            self._forget_later(run)

    def _forget_later(self, run: Run) -> None:
        self._retained[run] = sum(map(len, run.log))
        while sum(self._retained.values()) > RETAINED_BYTES_MAX:
            self._forget(next(iter(self._retained)))
        asyncio.get_running_loop().call_later(self._retain_seconds, self._forget, run)

    def _forget(self, run: Run) -> None:
        self._retained.pop(run, None)
        if self._runs.get(run.id) is run:
            del self._runs[run.id]
