"""The embedded engine: a bounded pool in this process. Its threads only wait on pipes; the children do the work.

Everything else happens on the event loop.

A run begins in a quick place. One that is still there after a moment while others wait is not quick: it moves to a
slow place, where it gets what the others leave of the processor; where all of those are taken, it is postponed and
begins anew later (programs are deterministic, so its readers see no gap). So a crowd of endless loops costs an honest
program a moment, not minutes.
"""

import asyncio
import itertools
import logging
import math
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from weakref import WeakKeyDictionary

from gradwalk.engine.engine import BusyError, EngineStatus, Lane, Order, Sink
from gradwalk.engine.fairness import Usage, Waiting, count_by_client, in_order
from gradwalk.engine.job import CALLED_OFF, OUR_FAULT, Outcome, execute, refuse
from gradwalk.engine.rates import OwnRate
from gradwalk.protocol.events import Versions
from gradwalk.protocol.facts import fact
from gradwalk.protocol.problems import problem
from gradwalk.protocol.versions import installed_versions
from gradwalk.sandbox.answers import EventAnswer, expected_header
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.jobs import TraceJob
from gradwalk.sandbox.launcher import LauncherGoneError
from gradwalk.sandbox.supervisor import Sandbox

log = logging.getLogger(__name__)

QUICK_SECONDS = 0.15
"""What a run may take of a quick place while others wait for it; a small program needs a tenth of that."""
_QUICK_SECONDS_BEFORE_OTHERS = 1.0
"""The same while only clients wait that have had more of late: where the processor is scarce, all runs take longer."""
_NICENESS_PER_SECOND = 3
"""Five seconds more than another who is here are the lowest priority."""
_FIRST_GUESS_SECONDS = 0.1
_NEWEST_SHARE = 0.1
_PLACES_SECONDS = 0.1
_CLOSING_SECONDS = 1.0
_KEEPER_SECONDS = 1.0


@dataclass(eq=False, slots=True)
class _Work(Waiting):
    order: Order
    sink: Sink
    cancellation: Cancellation
    answer: EventAnswer | None = None
    """Of a trace, from its beginning on."""
    began: float = 0.0
    is_slow: bool = False


class LocalEngine:
    """`running_max` jobs at once, and as many slow ones behind them; `waiting_max` in the queue.

    What they use is counted in `cpu`.
    """

    keeps_results = False

    def __init__(
        self,
        sandbox: Sandbox,
        running_max: int,
        waiting_max: int,
        client_waiting_max: int = sys.maxsize,
        *,
        cpu: OwnRate,
    ) -> None:
        self._sandbox = sandbox
        self._running_max = self._slow_max = running_max
        self._waiting_max = waiting_max
        self._client_waiting_max = client_waiting_max
        self._cpu = cpu
        self._numbers = itertools.count()
        self._usage = Usage()
        self._waiting: list[_Work] = []
        """For a quick place; or, where they are slow, postponed until there is a slow one."""
        self._running: dict[_Work, asyncio.Task[None]] = {}
        self._is_open = False
        self._started = 0
        self._threads = ThreadPoolExecutor(self._running_max + self._slow_max, thread_name_prefix="engine")
        self._keeping: list[asyncio.Task[None]] = []
        self._balancing: asyncio.TimerHandle | None = None
        self._usual_seconds = _FIRST_GUESS_SECONDS
        self._places: WeakKeyDictionary[Sink, int] = WeakKeyDictionary()
        """How many jobs come before that of a sink, as of a moment ago: everybody who waits asks every second."""
        self._places_expire = 0.0
        self._has_newer_than_places = False

    def start(self) -> None:
        self._is_open = True
        self._keeping.append(asyncio.create_task(self._keep_ready()))

    async def submit(self, order: Order, sink: Sink, cancellation: Cancellation) -> None:
        if len(self._waiting) >= self._waiting_max:
            raise BusyError(self._seconds_until_room())
        if count_by_client(self._waiting)[order.client] >= self._client_waiting_max:
            raise BusyError(self._seconds_until_room(), fact("api-busy-client-queue"))
        self._waiting.append(_Work(order.lane, order.client, next(self._numbers), order, sink, cancellation))
        self._let_pass(order.client)
        self._has_newer_than_places = True
        self._balance()

    async def find(self, run_id: str) -> None:  # noqa: ARG002 (there is no other server)
        return None

    def versions(self) -> Versions:
        return installed_versions()

    def jobs_ahead_of(self, sink: Sink) -> int:
        now = time.monotonic()
        if now >= self._places_expire or (self._has_newer_than_places and sink not in self._places):
            order = enumerate(self._in_order(count_by_client(self._running)))
            self._places = WeakKeyDictionary({work.sink: place for place, work in order})
            self._places_expire = now + _PLACES_SECONDS
            self._has_newer_than_places = False
        return self._places.get(sink, 0)

    def status(self) -> EngineStatus:
        lanes = [work.lane for work in self._waiting]
        protection = self._sandbox.protection
        return EngineStatus(
            ready=self._sandbox.is_ready and protection is not None,
            started=self._started,
            running=len(self._running),
            waiting={lane: lanes.count(lane) for lane in Lane},
            layers=self._sandbox.layers,
            protection=protection,
            versions=installed_versions(),
        )

    async def close(self) -> None:
        self._is_open = False
        if self._balancing is not None:
            self._balancing.cancel()
        abandoned, self._waiting = self._waiting, []
        for work in abandoned:
            work.sink.finished(CALLED_OFF)
        for work in self._running:
            work.cancellation.cancel()
        if self._running:
            await asyncio.wait(self._running.values(), timeout=_CLOSING_SECONDS)
        # Those whose child cannot be had would take longer.
        for task in (*self._running.values(), *self._keeping):
            task.cancel()
        self._threads.shutdown(wait=False)

    async def _keep_ready(self) -> None:
        """Starts what makes children, and again when it has died, so that the next run need not wait for it."""
        while self._is_open:
            try:
                if not self._sandbox.is_ready:
                    await asyncio.to_thread(self._sandbox.start)
                if self._sandbox.protection is None:
                    await asyncio.to_thread(self._sandbox.measure)
            except LauncherGoneError:
                log.exception("children cannot be made")
            await asyncio.sleep(_KEEPER_SECONDS)

    def _balance(self) -> None:
        """Begins what there is a place for, and moves runs that are not quick out of the way of those that may be."""
        while self._is_open and (work := self._next()) is not None:
            work.began = time.monotonic()
            self._running[work] = asyncio.create_task(self._run(work))
            for client in {other.client for other in self._running}:
                self._let_pass(client)
        if self._balancing is not None:
            self._balancing.cancel()
        seconds = self._move_slow_runs()
        self._balancing = None if seconds is None else asyncio.get_running_loop().call_later(seconds, self._balance)

    def _move_slow_runs(self) -> float | None:
        """Seconds until there may be something to do again; None until something changes."""
        staying = [work for work in self._running if not work.cancellation.is_postponed]
        quick = [work for work in staying if not work.is_slow]
        slow = [work for work in staying if work.is_slow]
        batch = [work for work in slow if work.lane is Lane.BATCH]
        postponed = self._in_order(count_by_client(staying), is_slow=True)
        if postponed and postponed[0].lane is Lane.LIVE and len(slow) >= self._slow_max:
            in_the_way = batch[:1] or self._second_places(slow, postponed[0].client, count_by_client(staying))
            if in_the_way:
                in_the_way[0].cancellation.postpone()
                return 0.0
        # What somebody looks at never makes room for what nobody does.
        queue = self._in_order(count_by_client(self._running))
        if not queue or len(quick) < self._running_max:
            return None
        waiting = queue[0]
        movable = [work for work in quick if work.lane >= waiting.lane]
        if not movable:
            return None
        # Of two, the one whose client has had more of late.
        oldest = max(movable, key=lambda work: (work.lane, int(self._usage.of(work.client)), -work.began))
        left = oldest.began + self._quick_seconds(oldest, waiting) - time.monotonic()
        if left > 0:
            return left
        if len(slow) < self._slow_max:
            oldest.is_slow = True
            self._let_pass(waiting.client)
        elif oldest.lane is Lane.LIVE and batch:
            batch[0].cancellation.postpone()
        else:
            oldest.cancellation.postpone()
        return 0.0

    def _let_pass(self, client: str) -> None:
        """Runs get the processor after this client's, the more of it their own clients have had of late.

        The client's own get it after its new ones, the longer they go on: a lecture hall is one client.
        """
        now, had = time.monotonic(), self._had_of_late(client)
        for work in self._running:
            more = now - work.began if work.client == client else self._had_of_late(work.client) - had
            work.cancellation.step_back(int(_NICENESS_PER_SECOND * more))

    def _had_of_late(self, client: str) -> float:
        """Seconds, with those of its runs that go on."""
        now = time.monotonic()
        return self._usage.of(client) + sum(now - work.began for work in self._running if work.client == client)

    def _quick_seconds(self, work: _Work, waiting: _Work) -> float:
        has_had_more = int(self._usage.of(waiting.client)) > int(self._usage.of(work.client))
        return _QUICK_SECONDS_BEFORE_OTHERS if has_had_more else QUICK_SECONDS

    def _second_places(self, slow: list[_Work], client: str, running: Counter[str]) -> list[_Work]:
        """Slow places of clients that have others, where a client that has none waits for a place."""
        return [] if running[client] else [work for work in slow if running[work.client] > 1]

    async def _run(self, work: _Work) -> None:
        outcome = CALLED_OFF
        try:
            outcome = await asyncio.get_running_loop().run_in_executor(self._threads, self._carry_out, work)
        finally:
            del self._running[work]
            seconds = time.monotonic() - work.began
            self._usage.note(work.client, seconds)
            if self._has_stopped_short(work, outcome) and self._is_open:
                work.cancellation.resume()
                work.is_slow = True
                self._waiting.append(work)
            else:
                work.sink.finished(outcome)
                if work.lane is Lane.LIVE:
                    self._usual_seconds += _NEWEST_SHARE * (seconds - self._usual_seconds)
            self._balance()

    def _next(self) -> _Work | None:
        slow = sum(work.is_slow for work in self._running)
        running = count_by_client(self._running)
        if len(self._running) - slow < self._running_max and (queue := self._in_order(running)):
            self._started += 1
            work = queue[0]
        elif slow < self._slow_max and (postponed := self._in_order(running, is_slow=True)):
            work = postponed[0]
        else:
            return None
        self._waiting.remove(work)
        return work

    def _in_order(self, running: Counter[str], *, is_slow: bool = False) -> list[_Work]:
        """Those that wait for a quick place, or for a slow one."""
        return in_order([work for work in self._waiting if work.is_slow is is_slow], running, self._usage)

    def _carry_out(self, work: _Work) -> Outcome:
        job = work.order.job
        if not work.is_slow:
            work.sink.started()
        try:
            if isinstance(job, TraceJob) and work.answer is None:
                work.answer = EventAnswer(expected_header(work.order.run_id, job.request, installed_versions()))
            # It may have been asked for long before the client's others had used up their time.
            refusal = self._cpu.refusal_of(work.client)
            if refusal is not None:
                return refuse(problem("busy", refusal.fact), work.sink.append, work.answer)
            return execute(
                job,
                work.sink.append,
                sandbox=self._sandbox,
                cancellation=work.cancellation,
                answer=work.answer,
                report=work.sink.page_done,
                charge=partial(self._cpu.charge, work.client),
            )
        except Exception:  # noqa: BLE001 (a bug of ours must not take a worker thread with it)
            log.exception("a job broke the engine")
            return OUR_FAULT

    def _has_stopped_short(self, work: _Work, outcome: Outcome) -> bool:
        if not work.cancellation.is_postponed or work.cancellation.is_wished:
            return False
        return not work.answer.is_complete if work.answer is not None else not outcome.lasting

    def _seconds_until_room(self) -> int:
        return max(1, math.ceil(len(self._waiting) * self._usual_seconds / self._running_max))
