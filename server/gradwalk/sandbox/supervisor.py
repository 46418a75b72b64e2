"""The parent's side of a run: give a child its job, read what it says, end it in time, say what became of it.

Everything here is synchronous: a thread that only waits on a pipe costs nothing, and one function serves the
web server, a worker on another machine and the command line alike. No torch, no tracer, no formulas.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any, Self

from gradwalk.protocol.document import trace_id
from gradwalk.protocol.events import Event, Problem, Versions
from gradwalk.sandbox.answers import EventAnswer, ReplayAnswer, expected_header
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.conversation import Answer, Charge, Conversation, Item, charge_nobody
from gradwalk.sandbox.jobs import ReplayJob, TraceJob
from gradwalk.sandbox.launcher import Launcher, LauncherGoneError, launcher_for
from gradwalk.sandbox.limits import RunLimits
from gradwalk.sandbox.selftest import Protection, measure
from gradwalk.sandbox.verdict import Ending, judge
from gradwalk.words.catalogue import tell

log = logging.getLogger(__name__)

_ATTEMPTS = 2
"""A run that was lost with the zygote is repeated once: programs are deterministic, so the stream goes on."""


class ReplayProblemError(Exception):
    """A replay that gave no answer; `problem` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(tell(problem["fact"]))
        self.problem = problem


class Sandbox:
    """Runs programs in children. Thread-safe; one per process is enough."""

    def __init__(
        self, limits: RunLimits | None = None, make_launcher: Callable[[RunLimits], Launcher] = launcher_for
    ) -> None:
        self._limits = limits or RunLimits()
        self._make_launcher = make_launcher
        self._lock = threading.Lock()
        self._launcher: Launcher | None = None
        self._starting: Launcher | None = None
        self._is_closed = False
        self.layers: dict[str, Any] = {}
        """What locks children in, as the launcher said; empty before `start`."""
        self.protection: Protection | None = None
        """What the self-test found; None before `measure`."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def launcher(self) -> Launcher | None:
        """The one in use; another one after a restart."""
        return self._launcher

    @property
    def is_ready(self) -> bool:
        """True while children can be had without waiting for a start."""
        launcher = self._launcher
        return launcher is not None and launcher.is_alive

    def start(self) -> None:
        """Waits until a child can be had; every run does it if need be, also after the zygote has died.

        Raises:
            LauncherGoneError: children cannot be made here.
        """
        self._working_launcher()

    def measure(self) -> Protection:
        """How well programs are locked in, tried out in real children; also kept in `protection`.

        Raises:
            LauncherGoneError: children cannot be made here.
        """
        found = measure(self._working_launcher())
        if found.level == "full":
            log.info("protection: full; every probe was refused")
        else:
            log.warning("protection: %s; open: %s. %s", found.level, ", ".join(found.open), tell(found.said))
        self.protection = found
        return found

    def close(self) -> None:
        """Ends every child. Idempotent."""
        self._is_closed = True
        starting = self._starting
        if starting is not None:
            starting.close()
        with self._lock:
            launcher, self._launcher = self._launcher, None
        if launcher is not None:
            launcher.close()

    def trace(
        self,
        job: TraceJob,
        versions: Versions,
        cancellation: Cancellation,
        answer: EventAnswer | None = None,
        charge: Charge = charge_nobody,
    ) -> Iterator[list[Event]]:
        """The events of one run as they come, in batches; always a whole stream, whatever becomes of the child.

        Only a run that is postponed stops short. Called again with the same `answer` it goes on where it stopped.
        """
        if answer is None:
            answer = EventAnswer(expected_header(trace_id(job.request, versions), job.request, versions))
        conversation = self._conversation(answer, cancellation, charge)
        yield from self._hold(conversation, job, answer.restart)
        if conversation.ending is Ending.CANCELLED and not cancellation.is_wished:
            answer.restart()
            return
        verdict = judge(conversation.ending, conversation.exit, self._limits.wall_seconds)
        rest = answer.end_with(verdict.problem, verdict.truncated)
        if rest:
            yield rest

    def replay(self, job: ReplayJob, cancellation: Cancellation, charge: Charge = charge_nobody) -> list[Any]:
        """What is asked of one step (or pass), by running the program again: local Jacobians or gradcheck reports.

        Raises:
            ReplayProblemError: the replay ended without an answer.
        """
        conversation = self._conversation(ReplayAnswer(job), cancellation, charge)
        found = [item for batch in self._hold(conversation, job) for item in batch]
        if conversation.ending is Ending.COMPLETE:
            return found
        raise ReplayProblemError(judge(conversation.ending, conversation.exit, self._limits.wall_seconds).problem)

    def _conversation(self, answer: Answer[Item], cancellation: Cancellation, charge: Charge) -> Conversation[Item]:
        return Conversation(self._limits.wall_seconds, self._limits.total_seconds, answer, cancellation, charge)

    def _hold(
        self, conversation: Conversation[Item], job: TraceJob | ReplayJob, restart: Callable[[], None] | None = None
    ) -> Iterator[list[Item]]:
        payload = job.model_dump_json().encode()
        for attempt in range(_ATTEMPTS):
            try:
                yield from conversation.hold(self._working_launcher(), payload)
            except LauncherGoneError as error:
                log.warning("attempt %d of a run was lost: %s", attempt + 1, error)
                conversation.ending = Ending.LOST
            if not self._has_lost(conversation):
                return
            if restart is not None:
                restart()

    def _has_lost(self, conversation: Conversation[Any]) -> bool:
        """True when the launcher is to blame; it is then replaced before the next run."""
        unreported = conversation.exit is None and conversation.ending is not Ending.COMPLETE
        if unreported:
            self._discard(conversation.launcher)
        return conversation.ending is Ending.LOST and not self._is_closed

    def _working_launcher(self) -> Launcher:
        with self._lock:
            if self._is_closed:
                raise LauncherGoneError("this sandbox is closed")
            if self._launcher is not None and not self._launcher.is_alive:
                self._launcher.close()
                self._launcher = None
            if self._launcher is None:
                self._launcher = self._start_launcher()
            return self._launcher

    def _start_launcher(self) -> Launcher:
        launcher = self._starting = self._make_launcher(self._limits)
        try:
            self.layers = launcher.start()
        finally:
            self._starting = None
        return launcher

    def _discard(self, launcher: Launcher | None) -> None:
        with self._lock:
            if launcher is None or launcher is not self._launcher:
                return
            self._launcher = None
        launcher.close()
