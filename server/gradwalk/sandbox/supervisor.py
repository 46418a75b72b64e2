"""The parent's side of a run: give a child its job, read what it says, end it in time, say what became of it.

Everything here is synchronous: a thread that only waits on a pipe costs nothing, and one function serves the
web server, a worker on another machine and the command line alike. No torch, no tracer, no formulas.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from gradwalk.protocol.events import Event, LocalJacobian, Problem, Versions
from gradwalk.sandbox.answers import AnswerError, EventAnswer, JacobianAnswer, expected_header
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.frames import FrameError, FrameReader, encode_frame
from gradwalk.sandbox.jobs import JacobianJob, TraceJob
from gradwalk.sandbox.launcher import Child, Exit, Launcher, LauncherGoneError, launcher_for
from gradwalk.sandbox.limits import RunLimits
from gradwalk.sandbox.verdict import Ending, judge

log = logging.getLogger(__name__)

_READ_BYTES = 1 << 16
_EXIT_REPORT_SECONDS = 2.0
_DYING_SECONDS = 0.3
"""Between the closing of a child's pipe and the report of how it ended."""
_ATTEMPTS = 2
"""A run that was lost with the zygote is repeated once: programs are deterministic, so the stream goes on."""

Item = TypeVar("Item")


class _Answer(Protocol[Item]):
    @property
    def is_complete(self) -> bool: ...

    def accept(self, payload: bytes) -> list[Item]: ...


class JacobianProblemError(Exception):
    """A replay that gave no Jacobian; `problem` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem["message"])
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

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
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

    def trace(self, job: TraceJob, versions: Versions, cancellation: Cancellation) -> Iterator[list[Event]]:
        """The events of one run as they come, in batches; always a whole stream, whatever becomes of the child."""
        answer = EventAnswer(expected_header(job.request, versions))
        payload = job.model_dump_json().encode()
        for attempt in range(_ATTEMPTS):
            conversation = _Conversation(self._limits.wall_seconds, answer, cancellation)
            try:
                launcher = self._working_launcher()
                yield from conversation.hold(launcher, payload)
            except LauncherGoneError as error:
                log.warning("attempt %d of a run was lost: %s", attempt + 1, error)
                conversation.ending = Ending.LOST
            if not self._has_lost(conversation):
                break
            answer.restart()
        verdict = judge(conversation.ending, conversation.exit, self._limits.wall_seconds)
        rest = answer.end_with(verdict.problem, verdict.truncated)
        if rest:
            yield rest

    def jacobians(self, job: JacobianJob, cancellation: Cancellation) -> list[LocalJacobian]:
        """The local Jacobians of one step, by running the program again.

        Raises:
            JacobianProblemError: the replay ended without an answer.
        """
        found: list[LocalJacobian] = []
        payload = job.model_dump_json().encode()
        for _ in range(_ATTEMPTS):
            conversation = _Conversation(self._limits.wall_seconds, JacobianAnswer(), cancellation)
            try:
                found = [item for batch in conversation.hold(self._working_launcher(), payload) for item in batch]
            except LauncherGoneError:
                conversation.ending = Ending.LOST
            if not self._has_lost(conversation):
                break
        if conversation.ending is Ending.COMPLETE:
            return found
        raise JacobianProblemError(judge(conversation.ending, conversation.exit, self._limits.wall_seconds).problem)

    def _has_lost(self, conversation: "_Conversation[Any]") -> bool:
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


class _Conversation(Generic[Item]):
    """One child, from its job to its end."""

    def __init__(self, wall_seconds: float, answer: _Answer[Item], cancellation: Cancellation) -> None:
        self._wall_seconds = wall_seconds
        self._answer = answer
        self._cancellation = cancellation
        self.launcher: Launcher | None = None
        self.ending = Ending.SILENT
        self.exit: Exit | None = None

    def hold(self, launcher: Launcher, payload: bytes) -> Iterator[list[Item]]:
        """What the child says, batch by batch; afterwards `ending` and `exit` tell how it went."""
        self.launcher = launcher
        child = launcher.lease()
        deadline = time.monotonic() + self._wall_seconds
        self._cancellation.bind(child.kill)
        try:
            yield from self._listen(child, payload, deadline)
        finally:
            # Also when the reader of this generator gives up: no child outlives its conversation.
            self._cancellation.bind(None)
            if self.ending is Ending.SILENT:
                self.exit = child.wait(_DYING_SECONDS)
            child.kill()
            child.channel.close()
            closed_and_lived_on = self.exit is None
            if self.exit is None:
                self.exit = child.wait(_EXIT_REPORT_SECONDS)
            if self.ending is Ending.SILENT:
                self.ending = self._tell_silences_apart(closed_and_lived_on)

    def _tell_silences_apart(self, closed_and_lived_on: bool) -> Ending:
        if self._cancellation.is_wished:
            return Ending.CANCELLED
        if self.exit is None:
            return Ending.LOST
        return Ending.UNREADABLE if closed_and_lived_on else Ending.SILENT

    def _listen(self, child: Child, payload: bytes, deadline: float) -> Iterator[list[Item]]:
        reader = FrameReader()
        try:
            child.channel.settimeout(_seconds_until(deadline))
            child.channel.sendall(encode_frame(payload))
            while not self._answer.is_complete:
                child.channel.settimeout(_seconds_until(deadline))
                chunk = child.channel.recv(_READ_BYTES)
                if not chunk:
                    return
                batch, fault = self._accept(reader.feed(chunk))
                if batch:
                    yield batch
                if fault is not None:
                    raise fault
            self.ending = Ending.COMPLETE
        except TimeoutError:
            self.ending = Ending.DEADLINE
        except FrameError:
            self.ending = Ending.TOO_LONG
        except AnswerError as error:
            log.warning("a child's answer was not usable: %s", error)
            self.ending = Ending.UNREADABLE
        except OSError:
            self.ending = Ending.SILENT

    def _accept(self, payloads: Iterator[bytes]) -> tuple[list[Item], ValueError | None]:
        """What was good, and the fault that ended it."""
        batch: list[Item] = []
        try:
            for payload in payloads:
                batch += self._answer.accept(payload)
                if self._answer.is_complete:
                    break
        except (AnswerError, FrameError) as fault:
            return batch, fault
        return batch, None


def _seconds_until(deadline: float) -> float:
    """Never 0, which would mean "do not block"."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
