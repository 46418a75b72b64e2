"""The first of three stages of the time limit: an alarm inside the child that names the line.

It only raises while a frame of the student's program is on the stack (otherwise it would spoil the child's
own answer) and never between an event's number and its last byte. It repeats, because a program may swallow it; the
second stage is SIGKILL by the parent, the third RLIMIT_CPU.
"""

import signal
from time import monotonic
from types import FrameType

from gradwalk.tracer.interruption import TELLING, TimeLimitError
from gradwalk.tracer.stream import EventStream

PROGRAM_FILENAME = "<snippet>"
_STREAM_FILENAME = EventStream.send.__code__.co_filename
REPEAT_SECONDS = 0.02


class Alarm:
    """Raises `TimeLimitError` in the student's program once its time is up."""

    def __init__(self) -> None:
        self.is_held = False
        """True while an interruption would tear something that must stay whole."""
        self._started = self._seconds = self._recording_seconds = self._told_before = 0.0

    def set(self, seconds: float, recording_seconds: float) -> None:
        """Starts the clock; real time, so that sleeping counts too.

        Recording backward passes does not count, up to `recording_seconds`.
        """
        self._started, self._seconds, self._recording_seconds = monotonic(), seconds, recording_seconds
        # The warm process has told passes, too.
        self._told_before = TELLING.past_seconds
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, seconds, REPEAT_SECONDS)

    def _ring(self, _signal: int, frame: FrameType | None) -> None:
        if self.is_held:
            return
        # What looks at a tensor may run code of the program, for ever.
        is_programs = frame is not None and frame.f_code.co_filename == PROGRAM_FILENAME
        recorded = (TELLING.past_seconds if is_programs else TELLING.seconds) - self._told_before
        if monotonic() - self._started - min(recorded, self._recording_seconds) < self._seconds:
            return
        while frame is not None and frame.f_code.co_filename != _STREAM_FILENAME:
            if frame.f_code.co_filename == PROGRAM_FILENAME:
                raise TimeLimitError
            frame = frame.f_back
