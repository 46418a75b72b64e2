"""Where the forward pass leaves the graph: calls that take a differentiable tensor and return what is not."""

from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final

import torch

from gradwalk.protocol.values import TensorValue
from gradwalk.tracer import originals
from gradwalk.tracer.arguments import tensors_in
from gradwalk.tracer.frames import Place, snippet_place
from gradwalk.tracer.originals import SNIPPET
from gradwalk.tracer.values import ValueTable

_CUTS_KEPT: Final = 200
_REQUIRES_GRAD = torch.Tensor.requires_grad_
_SET_REQUIRES_GRAD = torch.Tensor.requires_grad.__set__  # type: ignore[attr-defined]
_TO_NUMBERS: Final = frozenset(
    {torch.Tensor.item, torch.Tensor.tolist, torch.Tensor.__float__, torch.Tensor.__int__, torch.Tensor.__complex__}
)
"""What it gives are plain numbers, which have no history."""
WITHOUT_TENSOR: Final = _TO_NUMBERS | {_SET_REQUIRES_GRAD}
"""Torch functions that cut although they return no tensor."""


class Cut:
    """A call that took a differentiable tensor and returned what is not."""

    __slots__ = ("identity", "leaves", "place", "reason", "result")

    def __init__(  # noqa: PLR0913 (all there is to know)
        self, reason: str, place: Place, leaves: frozenset[int], identity: int, result: TensorValue | None
    ) -> None:
        self.reason = reason
        self.place = place
        self.leaves = leaves
        """`id`s of the leaves that the argument depends on."""
        self.identity = identity
        """`id` of what it returned, which may be gone by now."""
        self.result = result
        """None where it gave plain numbers."""


class CutLog:
    """The cuts of one run, and the tensors whose requires_grad it switched off."""

    def __init__(self, values: ValueTable) -> None:
        self.found: list[Cut] = []
        """The first at each place of the program, in order."""
        self.frozen: dict[int, Place | None] = {}
        """`id` of a tensor -> where its requires_grad was switched off."""
        self._values = values

    def note_detached(
        self, func: Callable[..., Any], args: tuple[Any, ...], result: torch.Tensor | None, frame: FrameType
    ) -> None:
        """A call that gave what has no history: because requires_grad was switched off, or by a cut."""
        if func is _REQUIRES_GRAD or func == _SET_REQUIRES_GRAD:
            if not args[0].requires_grad:
                self.frozen[id(args[0])] = snippet_place(frame)
        elif len(self.found) < _CUTS_KEPT:
            self.note(func, args, result, frame)

    def note(
        self, func: Callable[..., Any], args: tuple[Any, ...], result: torch.Tensor | None, frame: FrameType
    ) -> None:
        """Enters a call that gave `result`, if a gradient could have flowed into its arguments."""
        sources = [tensor for tensor in tensors_in(args) if tensor.requires_grad]
        # What torch's own code leaves out of the graph while grad mode is on is none of the program's doing.
        if not sources or (originals.is_grad_enabled() and frame.f_code.co_filename != SNIPPET):
            return
        reason, place = _cut_reason(func, result), snippet_place(frame)
        if reason is None or place is None or any(known.place == place for known in self.found):
            return
        leaves = frozenset(leaf for source in sources for leaf in _leaves_of(source))
        value = None if result is None else self._values.value_of(result)
        self.found.append(Cut(reason, place, leaves, id(result), value))


def _cut_reason(func: Callable[..., Any], result: torch.Tensor | None) -> str | None:
    """What cut, as the program would call it; None for a getter that gives no values."""
    name: str = getattr(func, "__name__", "")
    if name == "__get__":
        name = getattr(getattr(func, "__self__", None), "__name__", "")
        return "`.data`" if name == "data" else None
    if name in ("detach", "detach_"):
        return f"`.{name}()`"
    if func in _TO_NUMBERS:
        return f"`{name.strip('_')}()`" if name.startswith("__") else f"`.{name}()`"
    if not originals.is_grad_enabled():
        return "`torch.no_grad()`"
    if result is not None and not (result.is_floating_point() or result.is_complex()):
        return f"`{name.strip('_')}`, which gives whole numbers or booleans,"
    return f"`{name.strip('_')}`"


def _leaves_of(tensor: torch.Tensor, visited_max: int = 5_000) -> Iterator[int]:
    """`id`s of the leaves that a tensor depends on."""
    if tensor.grad_fn is None:
        yield id(tensor)
        return
    pending: list[Any] = [tensor.grad_fn]
    seen: set[Any] = set()
    while pending and len(seen) < visited_max:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None:
            yield id(variable)
        pending.extend(following for following, _ in node.next_functions if following is not None)
