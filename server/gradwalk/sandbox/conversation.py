"""One child, from its job to its end: the job goes in, what it says comes out, in time or not at all."""

import logging
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Generic, Protocol, TypeVar

from gradwalk.sandbox.answers import AnswerError
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.frames import FrameError, FrameReader, encode_frame
from gradwalk.sandbox.launcher import Child, Exit, Launcher, step_back
from gradwalk.sandbox.verdict import Ending

log = logging.getLogger(__name__)

_READ_BYTES = 1 << 16
_EXIT_REPORT_SECONDS = 2.0
_DYING_SECONDS = 0.3
"""Between the closing of a child's pipe and the report of how it ended."""

Item = TypeVar("Item")

Charge = Callable[[float], None]
"""Takes the seconds of processor time that a process used for somebody, once it has ended, however it ended."""


def charge_nobody(_: float) -> None:
    """For runs in one's own name."""


class Answer(Protocol[Item]):
    """Checks what a child says."""

    @property
    def is_complete(self) -> bool:
        """True when nothing more is to come."""

    def accept(self, payload: bytes) -> list[Item]:
        """What is in one payload; raises AnswerError when it is not what was agreed."""


class Conversation(Generic[Item]):
    """One child at a time. It may be silent for `wall_seconds`, and has `total_seconds` in all."""

    def __init__(
        self,
        wall_seconds: float,
        total_seconds: float,
        answer: Answer[Item],
        cancellation: Cancellation,
        charge: Charge = charge_nobody,
    ) -> None:
        self._wall_seconds = wall_seconds
        self._total_seconds = total_seconds
        self._answer = answer
        self._cancellation = cancellation
        self._charge = charge
        self.launcher: Launcher | None = None
        self.ending = Ending.SILENT
        self.exit: Exit | None = None

    def hold(self, launcher: Launcher, payload: bytes) -> Iterator[list[Item]]:
        """What the child says, batch by batch; afterwards `ending` and `exit` tell how it went."""
        self.launcher, self.ending, self.exit = launcher, Ending.SILENT, None
        child = launcher.lease()
        deadline = time.monotonic() + self._total_seconds
        self._cancellation.bind(child.kill, partial(step_back, child))
        try:
            yield from self._listen(child, payload, deadline)
        finally:
            # Also when the reader of this generator gives up: no child outlives its conversation.
            self._cancellation.bind(None)
            if self.ending is Ending.SILENT:
                self.exit = child.wait(_DYING_SECONDS)
            child.kill()
            child.channel.close()
            was_late = self.exit is None
            if self.exit is None:
                self.exit = child.wait(_EXIT_REPORT_SECONDS)
            if self.ending is Ending.SILENT:
                self.ending = self._tell_silences_apart(was_late)
            if self.exit is not None:
                self._charge(self.exit.cpu_seconds)

    def _tell_silences_apart(self, was_late: bool) -> Ending:
        if self._cancellation.is_wished or self._cancellation.is_postponed:
            return Ending.CANCELLED
        if self.exit is None:
            return Ending.LOST
        # The report of a death may be late, too; but a child that lived on died of our own signal.
        lived_on = was_late and self.exit.signal == signal.SIGKILL
        return Ending.UNREADABLE if lived_on else Ending.SILENT

    def _listen(self, child: Child, payload: bytes, deadline: float) -> Iterator[list[Item]]:
        reader = FrameReader()
        try:
            child.channel.settimeout(self._patience(deadline))
            child.channel.sendall(encode_frame(payload))
            while not self._answer.is_complete:
                child.channel.settimeout(self._patience(deadline))
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

    def _patience(self, deadline: float) -> float:
        """How long the child may be silent from now on. Never 0, which would mean "do not block"."""
        left = min(deadline - time.monotonic(), self._wall_seconds)
        if left <= 0:
            raise TimeoutError
        return left

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
