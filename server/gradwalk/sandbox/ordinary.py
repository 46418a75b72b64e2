"""What an ordinary program finds where a locked process cannot have the real thing.

A program is Python with everything that computes. What it cannot have here and does not need for its gradients
(a GPU and worker processes in `accelerators.py`, a drawing and a progress bar in `quiet.py`) behaves as far as a
program can see, and is noted once with its line. Everything else is the real thing, and where the kernel refuses it,
`explain.py` says what to write.
"""

import asyncio
import selectors
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from types import FrameType, ModuleType
from typing import Any, Final

import torch

from gradwalk.protocol.facts import Fact, fact
from gradwalk.sandbox.accelerators import OnTheCpu, without_accelerators
from gradwalk.sandbox.explain import explain
from gradwalk.sandbox.quiet import Quiet, QuietFinder
from gradwalk.tracer.interpreter import Interpreter
from gradwalk.tracer.originals import SNIPPET, frame_at

_INSPECTING: Final = frozenset(
    {"gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys.setprofile", "sys.settrace", "sys._getframe",
     "sys._current_frames"}
)  # fmt: skip
_FRAME_ATTRIBUTES: Final = frozenset({"tb_frame", "f_globals", "f_builtins", "gi_frame", "cr_frame", "ag_frame"})
_FOREVER_SECONDS: Final = 3_600.0
"""The limit on time ends it first."""


class Ordinary:
    """Fits `gradwalk.tracer.surroundings.Surroundings`; made and installed before the fork, used after it."""

    def __init__(self) -> None:
        self._note: Callable[[Fact], None] | None = None
        self._noted: set[str] = set()
        self._is_watched = False
        self._interpreter: Interpreter
        self._is_looking = False

    def install(self) -> None:
        """Puts the stand-ins in place, for this process and those forked from it."""
        sys.meta_path.insert(0, QuietFinder(self.note))
        without_accelerators(self.note)
        torch.compile = self._run_eagerly
        sys.breakpointhook = Quiet("breakpoint")
        asyncio.set_event_loop_policy(_LoopsThatSleep())
        self._interpreter = Interpreter()

    def note(self, subject: str, told_at: Callable[[str], Fact]) -> None:
        """Once for each subject, with the line of the program that runs now."""
        line = _line_of(frame_at(1))
        if self._note is not None and line is not None and subject not in self._noted:
            self._noted.add(subject)
            self._note(told_at(line))

    def namespace(self) -> dict[str, Any]:
        """Those of a new module `__main__`, which pickle, dataclasses and annotations look for."""
        main = sys.modules["__main__"] = ModuleType("__main__")
        # What notebooks exported as programs begin with.
        vars(main)["get_ipython"] = Quiet("IPython")
        return vars(main)

    @contextmanager
    def around(self, note: Callable[[Fact], None]) -> Iterator[None]:
        """The program's own process: no module of ours to import, and what it does to the interpreter is noted."""
        self._note = note
        for name in [name for name in sys.modules if name.partition(".")[0] == "gradwalk"]:
            del sys.modules[name]
        sys.argv = [SNIPPET]
        if not self._is_watched:
            self._is_watched = True
            sys.addaudithook(self._watch)
        with OnTheCpu(self.note), redirect_stderr(sys.stdout):
            yield

    def explain(self, error: BaseException, source: str) -> Fact | None:
        """See `explain.py`."""
        return explain(error, source)

    def revive(self) -> None:
        """See `interpreter.py`."""
        self._interpreter.revive()

    def mend(self, error: BaseException, *, is_over: bool) -> str | None:
        """See `interpreter.py`."""
        return self._interpreter.mend(error, is_over=is_over)

    def _run_eagerly(self, model: Any = None, **_: Any) -> Any:
        """`torch.compile`: what it is given, so that the graph is the program's own."""
        self.note("compile", lambda line: fact("note-compiled-in-line", line=line))
        return (lambda given: given) if model is None else model

    def _watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._is_looking:
            return
        if event == "sys.addaudithook":
            self.note(event, lambda line: fact("note-no-audit-hook", line=line))
            # Which keeps the hook out and is not raised by the call; the recorder's own events would reach it.
            raise RuntimeError(event)
        if event in _INSPECTING or event.startswith("ctypes."):
            name = event
        elif event == "object.__getattr__" and arguments[1] in _FRAME_ATTRIBUTES:
            name = arguments[1]
        else:
            return
        # Looking at a frame is such an event itself.
        self._is_looking = True
        caller = frame_at(1)
        if caller.f_code.co_filename == SNIPPET:
            self.note(name, lambda line: fact("note-reaches-inside", what=name, line=line))
        self._is_looking = False


def _line_of(frame: FrameType | None) -> str | None:
    """The line of the program that called, however deep."""
    while frame is not None:
        if frame.f_code.co_filename == SNIPPET:
            return str(frame.f_lineno)
        frame = frame.f_back
    return None


class _Patience(selectors.SelectSelector):
    """Nothing is ever ready but the time: there is no socket that could be registered."""

    def select(self, timeout: float | None = None) -> list[Any]:
        """Sleeps until the next timer."""
        time.sleep(_FOREVER_SECONDS if timeout is None else max(timeout, 0))
        return []


class _Loop(asyncio.SelectorEventLoop):
    """asyncio's without descriptors: one thread, no signals, nobody has to wake it."""

    def __init__(self) -> None:
        super().__init__(_Patience())

    def _make_self_pipe(self) -> None: ...
    def _close_self_pipe(self) -> None: ...
    def _write_to_self(self) -> None: ...


class _LoopsThatSleep(asyncio.DefaultEventLoopPolicy):
    """What `asyncio.run` and `new_event_loop` ask for a loop."""

    _loop_factory = _Loop
