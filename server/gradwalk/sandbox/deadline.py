"""The first of three stages of the time limit: an alarm inside the child that names the line.

It only raises while a frame of the student's program is on the stack (otherwise it would spoil the child's own
answer), and neither in the recorder nor in torch's own bookkeeping of function modes, which would be left half done:
there it is put off until the recorder goes on. It repeats, because a program may swallow it; the second stage is
SIGKILL by the parent, the third RLIMIT_CPU.
"""

import contextlib
import signal
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Final

import torch.overrides

from gradwalk.tracer.interruption import INTERRUPTION, TELLING, TimeLimitError

PROGRAM_FILENAME = "<snippet>"
_PUT_OFF: Final = (
    f"{Path(__file__).parents[1]}/",
    torch.overrides.handle_torch_function.__code__.co_filename,
    contextlib.contextmanager.__code__.co_filename,
)
REPEAT_SECONDS = 0.02


class Alarm:
    """Raises `TimeLimitError` in the student's program once its time is up."""

    def __init__(self) -> None:
        self._started = self._seconds = self._recording_seconds = self._told_before = 0.0

    def set(self, seconds: float, recording_seconds: float) -> None:
        """Starts the clock; real time, so that sleeping counts too.

        Recording backward passes does not count, up to `recording_seconds`.
        """
        self._started, self._seconds, self._recording_seconds = monotonic(), seconds, recording_seconds
        # The warm process has told passes, too.
        self._told_before = TELLING.past_seconds
        INTERRUPTION.is_due = False
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, seconds, REPEAT_SECONDS)

    def _ring(self, _signal: int, frame: FrameType | None) -> None:
        is_put_off = False
        while frame is not None and frame.f_code.co_filename != PROGRAM_FILENAME:
            is_put_off |= frame.f_code.co_filename.startswith(_PUT_OFF)
            frame = frame.f_back
        # What looks at a tensor may run code of the program, for ever: that is the program's time.
        recorded = (TELLING.seconds if is_put_off else TELLING.past_seconds) - self._told_before
        is_over = monotonic() - self._started - min(recorded, self._recording_seconds) >= self._seconds
        if frame is None or not is_over:
            return
        if not is_put_off:
            raise TimeLimitError
        INTERRUPTION.is_due = True
