"""An error because `.grad` was None: the tensor whose `.grad` it was, why, and what to write instead."""

import re
from types import FrameType
from typing import Any, Final

import torch

from gradwalk.protocol.events import Problem
from gradwalk.protocol.facts import Fact, fact
from gradwalk.tracer.explanation import words_of
from gradwalk.tracer.frames import Place
from gradwalk.tracer.originals import PROGRAM_FILES, Tensor, grad_fn_of
from gradwalk.tracer.places import Places

_OF_NONE: Final = re.compile(r"'NoneType'")
_GRAD: Final = re.compile(r"\b([^\W\d]\w*(?:\.\w+)*)\.grad\b")


def explain_none_grad(error: BaseException, found: Problem, places: Places) -> None:
    """Adds to the problem of a TypeError or AttributeError what the `.grad` in its line says about it."""
    if not isinstance(error, TypeError | AttributeError) or not _OF_NONE.search(str(error)):
        return
    frame, place = _innermost(error)
    text = places.text(place, characters_max=200)
    for name in () if frame is None or text is None else _GRAD.findall(text):
        tensor = _resolve(name, frame)
        if isinstance(tensor, Tensor) and tensor.grad is None:
            found["fact"] = _why(name, tensor)
            found["words"] = words_of(error)
            return


def _why(name: str, tensor: torch.Tensor) -> Fact:
    if grad_fn_of(tensor) is not None:
        return fact("problem-grad-none-result", name=name)
    if not tensor.requires_grad:
        return fact("problem-grad-none-not-required", name=name)
    return fact("problem-grad-none-before", name=name)


def _innermost(error: BaseException) -> tuple[FrameType | None, Place | None]:
    """The program's innermost frame in the traceback of an error, and the instruction there."""
    frame, place, trace = None, None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in PROGRAM_FILES:
            frame, place = trace.tb_frame, (trace.tb_frame.f_code, trace.tb_lasti)
        trace = trace.tb_next
    return frame, place


def _resolve(path: str, frame: FrameType | None) -> Any:
    """What a dotted name stands for. Of modules only parameters and modules: nothing of the program runs."""
    if frame is None:
        return None
    first, *rest = path.split(".")
    value = frame.f_locals.get(first, frame.f_globals.get(first))
    for key in rest:
        if not isinstance(value, torch.nn.Module):
            return None
        # Neither is there where `__init__` did not call Module's.
        own = vars(value)
        value = own.get("_parameters", {}).get(key, own.get("_modules", {}).get(key))
    return value
