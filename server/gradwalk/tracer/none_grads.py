"""An error because `.grad` was None: the tensor whose `.grad` it was, why, and what to write instead."""

import re
from types import FrameType
from typing import Any, Final

import torch

from gradwalk.protocol.events import Problem
from gradwalk.tracer.frames import Place
from gradwalk.tracer.originals import SNIPPET, Tensor
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
            found["title"] = f"`{name}.grad` is None"
            found["message"], found["hint"] = _why(name, tensor, found["message"])
            return


def _why(name: str, tensor: torch.Tensor, words: str) -> tuple[str, str]:
    if tensor.grad_fn is not None:
        return (
            f"`{name}` is no leaf: an operation computed it, so backward leaves nothing in its `.grad`. {words}",
            f"Change the leaf in place instead of computing a new tensor: `with torch.no_grad():` around "
            f"`{name} -= lr * {name}.grad`. Or call {name}.retain_grad() before backward.",
        )
    if not tensor.requires_grad:
        return (
            f"`{name}` does not require grad, so no backward pass leaves anything in its `.grad`. {words}",
            f"Create it with requires_grad=True, or call {name}.requires_grad_() before it is used.",
        )
    return (
        f"No backward pass has left a gradient in `{name}.grad` before this line, or zero_grad() took it away. {words}",
        "Call backward() on a result of it before this line, and zero_grad() after it.",
    )


def _innermost(error: BaseException) -> tuple[FrameType | None, Place | None]:
    """The program's innermost frame in the traceback of an error, and the instruction there."""
    frame, place, trace = None, None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == SNIPPET:
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
        value = value._parameters.get(key, value._modules.get(key))
    return value
