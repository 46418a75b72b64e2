"""What PyTorch and the program warn of, as events at the line that was running.

Filters are those that a program has when Python starts it as a script, and what it changes about them holds until it
ends. Warnings that the recorder's own work sets off are not the program's: they are not told.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import torch

from gradwalk.protocol.graph import Span
from gradwalk.tracer import originals
from gradwalk.tracer.calls import CallRecorder
from gradwalk.tracer.frames import snippet_place
from gradwalk.tracer.node_calls import is_unnoticed
from gradwalk.tracer.originals import PROGRAM_FILES
from gradwalk.tracer.places import Places

TEXT_MAX: Final = 2_000
_WHERE_IN_TORCH: Final = re.compile(r" \(Triggered internally at [^()]*\)\s*$")
_STACK_OF_FORWARD: Final = re.compile(r"\.? Traceback of forward call that caused the error:.*", re.DOTALL)
_OF_OUR_HOOKS: Final = "Using `torch.compile(module)` when there are global hooks"
_OURS: Final = __name__.partition(".")[0] + "."
_is_switched_off: Callable[[], bool] = torch._C._is_torch_function_all_disabled
_RECORDING: Final = CallRecorder._guard.__code__


class WarningWatch:
    """Listens while a program runs."""

    def __init__(
        self, send: Callable[[str, str, Span | None], None], places: Places, on_failure: Callable[[Exception], None]
    ) -> None:
        self._send = send
        """Given category, text and place."""
        self._places = places
        self._on_failure = on_failure

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Inside, a script's filters hold, and what torch says once in a process is said in each run."""
        was_always = torch.is_warn_always_enabled()
        with warnings.catch_warnings():
            warnings.resetwarnings()
            for quiet in (ResourceWarning, ImportWarning, PendingDeprecationWarning, DeprecationWarning):
                warnings.simplefilter("ignore", quiet)
            warnings.filterwarnings("default", category=DeprecationWarning, module="__main__")
            warnings.showwarning = self._show  # type: ignore[assignment]
            torch.set_warn_always(True)
            try:
                yield
            finally:
                torch.set_warn_always(was_always)

    def _show(self, message: Warning | str, category: type[Warning], _filename: str, *_more: Any) -> None:
        frame = originals.frame_at(1)
        _forget(frame)
        self._note(message, category, frame)

    def _note(self, message: Warning | str, category: type[Warning], frame: FrameType | None) -> None:
        if _is_switched_off() or is_unnoticed() or _is_recording(frame) or _is_of_our_hooks(message):
            return
        try:
            self._send(category.__name__, _text(message), self._places.span(snippet_place(frame)))
        except Exception as error:  # noqa: BLE001 (our own fault must not become the program's)
            self._on_failure(error)


class PassingWarningWatch(WarningWatch):
    """Listens in a process that is somebody else's: its filters hold, and what is warned of goes where it went."""

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listens beside what shows warnings here, and stops where somebody else has kept this listener by then."""
        self._before, self._listens = warnings.showwarning, True
        own = warnings.showwarning = self._pass  # type: ignore[assignment]
        try:
            yield
        finally:
            self._listens = False
            if warnings.showwarning is own:
                warnings.showwarning = self._before

    def _pass(self, message: Warning | str, category: type[Warning], *more: Any) -> None:
        if self._listens:
            self._note(message, category, originals.frame_at(1))
        if not (self._listens and _is_of_our_hooks(message)):
            self._before(message, category, *more)


def _text(message: Warning | str) -> str:
    # Where torch was built, and a stack with our own frames in it, tell nobody anything.
    return _STACK_OF_FORWARD.sub(".", _WHERE_IN_TORCH.sub("", str(message)[: 2 * TEXT_MAX]))[:TEXT_MAX]


def _is_of_our_hooks(message: Warning | str) -> bool:
    return str(message).startswith(_OF_OUR_HOOKS)


def _is_recording(frame: FrameType | None) -> bool:
    """Whether the recorder noting something set it off, before the program's own code is met."""
    while frame is not None and frame.f_code.co_filename not in PROGRAM_FILES:
        if frame.f_code is _RECORDING:
            return True
        frame = frame.f_back
    return False


def _forget(frame: FrameType | None) -> None:
    """Lets the next one through: to Python all calls of torch come from the same few lines of ours."""
    while frame is not None and frame.f_code.co_filename not in PROGRAM_FILES:
        if frame.f_globals.get("__name__", "").startswith(_OURS):
            frame.f_globals.get("__warningregistry__", {}).clear()
        frame = frame.f_back
