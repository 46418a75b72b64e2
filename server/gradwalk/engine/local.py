"""The embedded engine: a bounded pool in this process. Its threads only wait on pipes; the children do the work."""

import heapq
import itertools
import logging
import math
import threading
import time
from dataclasses import dataclass, field

from gradwalk.engine.engine import BusyError, EngineStatus, Lane, Sink
from gradwalk.engine.job import Outcome, execute
from gradwalk.protocol.problems import problem
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.jobs import Job
from gradwalk.sandbox.launcher import LauncherGoneError
from gradwalk.sandbox.supervisor import Sandbox

log = logging.getLogger(__name__)

_FIRST_GUESS_SECONDS = 0.1
_NEWEST_SHARE = 0.1
_JOIN_SECONDS = 1.0
_KEEPER_SECONDS = 1.0
_CALLED_OFF = Outcome(lasting=False, problem=problem("internal", "Called off", "This run was called off."))


@dataclass(order=True, slots=True)
class _Waiting:
    lane: Lane
    number: int
    job: Job = field(compare=False)
    sink: Sink = field(compare=False)
    cancellation: Cancellation = field(compare=False)


class LocalEngine:
    """`running_max` jobs at once, `waiting_max` in the queue, first come first served within a lane."""

    def __init__(self, sandbox: Sandbox, running_max: int, waiting_max: int) -> None:
        self._sandbox = sandbox
        self._running_max = running_max
        self._waiting_max = waiting_max
        self._numbers = itertools.count()
        self._queue: list[_Waiting] = []
        self._running: set[Cancellation] = set()
        self._is_closed = False
        self._started = 0
        self._change = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._usual_seconds = _FIRST_GUESS_SECONDS

    def start(self) -> None:
        self._threads = [
            threading.Thread(target=self._work, name=f"engine-{number}", daemon=True)
            for number in range(self._running_max)
        ]
        for thread in (threading.Thread(target=self._keep_ready, name="engine-keeper", daemon=True), *self._threads):
            thread.start()

    def submit(self, job: Job, lane: Lane, sink: Sink, cancellation: Cancellation) -> None:
        with self._change:
            if len(self._queue) >= self._waiting_max:
                raise BusyError(self._seconds_until_room())
            heapq.heappush(self._queue, _Waiting(lane, next(self._numbers), job, sink, cancellation))
            self._change.notify_all()

    def jobs_ahead_of(self, sink: Sink) -> int:
        with self._change:
            own = next((waiting for waiting in self._queue if waiting.sink is sink), None)
            return sum(waiting < own for waiting in self._queue) if own else 0

    def status(self) -> EngineStatus:
        with self._change:
            started, running, waiting = self._started, len(self._running), len(self._queue)
        return EngineStatus(self._sandbox.is_ready, started, running, waiting, self._sandbox.layers)

    def close(self) -> None:
        with self._change:
            self._is_closed = True
            abandoned, self._queue = self._queue, []
            running = list(self._running)
            self._change.notify_all()
        for cancellation in running:
            cancellation.cancel()
        self._sandbox.close()
        for waiting in abandoned:
            waiting.sink.finished(_CALLED_OFF)
        for thread in self._threads:
            thread.join(_JOIN_SECONDS)

    def _keep_ready(self) -> None:
        """Starts what makes children, and again when it has died, so that the next run need not wait for it."""
        while not self._is_closed:
            try:
                if not self._sandbox.is_ready:
                    self._sandbox.start()
            except LauncherGoneError:
                if not self._is_closed:
                    log.exception("children cannot be made")
            with self._change:
                self._change.wait_for(lambda: self._is_closed, _KEEPER_SECONDS)

    def _work(self) -> None:
        while True:
            with self._change:
                while not self._queue and not self._is_closed:
                    self._change.wait()
                if self._is_closed:
                    return
                waiting = heapq.heappop(self._queue)
                self._running.add(waiting.cancellation)
                self._started += 1
            started = time.monotonic()
            outcome = self._carry_out(waiting)
            with self._change:
                self._running.discard(waiting.cancellation)
                self._usual_seconds += _NEWEST_SHARE * (time.monotonic() - started - self._usual_seconds)
            waiting.sink.finished(outcome)

    def _carry_out(self, waiting: _Waiting) -> Outcome:
        if waiting.cancellation.is_wished:
            return _CALLED_OFF
        waiting.sink.started()
        try:
            return execute(waiting.job, waiting.sink.append, sandbox=self._sandbox, cancellation=waiting.cancellation)
        except Exception:  # noqa: BLE001 (a bug of ours must not take a worker thread with it)
            log.exception("a job broke the engine")
            message = "This is a bug of gradwalk, not of your program; it was written to the server's log."
            return Outcome(lasting=False, problem=problem("internal", "The server made a mistake", message))

    def _seconds_until_room(self) -> int:
        return max(1, math.ceil(len(self._queue) * self._usual_seconds / self._running_max))
