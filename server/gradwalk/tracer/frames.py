"""Where in the program something happens, read from the stack while it happens."""

import inspect
from collections.abc import Iterator
from types import CodeType, FrameType, TracebackType
from typing import Final

import torch
from torch.nn.modules import module as torch_module

from gradwalk.tracer.originals import PROGRAM_FILES

Place = tuple[CodeType, int]
"""An instruction of the program: code object and offset."""
Lines = tuple[int, ...]
"""Where the functions of the program are that run, outermost first; a lambda or comprehension is part of its caller."""

_IS_FUNCTION: Final = inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS
_IS_SUSPENDED: Final = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def _is_function(code: CodeType) -> bool:
    """True for a plain function of the program: no module, class body, comprehension or generator."""
    # Not kept in a table: the hash of a code object goes through all that the function holds.
    if code.co_filename not in PROGRAM_FILES or code.co_flags & _IS_SUSPENDED:
        return False
    name = code.co_name
    return code.co_flags & _IS_FUNCTION == _IS_FUNCTION and (name[0] != "<" or name == "<lambda>")


def function_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of a plain function of the program; None at its outermost level."""
    while frame is not None:
        if frame.f_code.co_filename in PROGRAM_FILES:
            if _is_function(frame.f_code):
                return frame
            if frame.f_code.co_name == "<module>":
                return None
        frame = frame.f_back
    return None


def snippet_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the program on the stack that begins at `frame`."""
    while frame is not None:
        if frame.f_code.co_filename in PROGRAM_FILES:
            return frame
        frame = frame.f_back
    return None


def frames_in(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    """Each frame of a traceback, outermost first, and the offset of the instruction that it was at."""
    while trace is not None:
        yield trace.tb_frame, trace.tb_lasti
        trace = trace.tb_next


def snippet_place(frame: FrameType | None) -> Place | None:
    """The innermost instruction of the program on the stack that begins at `frame`."""
    frame = snippet_frame(frame)
    return None if frame is None else (frame.f_code, frame.f_lasti)


def running_lines(frame: FrameType | None) -> Lines:
    """The lines of the program on the stack that begins at `frame`, of up to `_DEPTH` calls."""
    found: list[int] = []
    while frame is not None and len(found) < _DEPTH:
        code = frame.f_code
        if code.co_filename in PROGRAM_FILES:
            if code.co_name == "<module>":
                found.append(frame.f_lineno)
                break
            if code.co_name[0] != "<":
                found.append(frame.f_lineno)
        frame = frame.f_back
    return (*reversed(found),)


_DEPTH: Final = 16
_WRAPPERS: Final = frozenset({torch_module.__file__, torch._tensor.__file__, torch.overrides.__file__})


def calls_directly(frame: FrameType | None, function: str) -> bool:
    """Whether the program itself calls what runs in `frame`: only torch's wrappers of that function are between."""
    while frame is not None and frame.f_code.co_filename not in PROGRAM_FILES:
        if frame.f_code.co_filename not in _WRAPPERS and frame.f_code.co_name != function:
            return False
        frame = frame.f_back
    return frame is not None


_GRAD: Final = torch.autograd.grad.__code__


def is_materializing(frame: FrameType | None) -> bool:
    """Whether the innermost `torch.autograd.grad` on the stack that begins at `frame` was told materialize_grads."""
    while frame is not None and frame.f_code is not _GRAD and frame.f_code.co_filename not in PROGRAM_FILES:
        frame = frame.f_back
    return frame is not None and frame.f_code is _GRAD and bool(frame.f_locals.get("materialize_grads"))
