"""Where the forward pass leaves the graph: calls that take a differentiable tensor and return what is not."""

from collections import Counter
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final, Literal

import torch

from gradwalk.protocol.facts import Fact, fact
from gradwalk.protocol.values import TensorValue
from gradwalk.tracer import originals
from gradwalk.tracer.arguments import tensors_in
from gradwalk.tracer.frames import Place, snippet_place
from gradwalk.tracer.identities import Identities
from gradwalk.tracer.originals import SNIPPET, grad_fn_of
from gradwalk.tracer.values import ValueTable

_CUTS_KEPT: Final = 200
_LOOKED_AT: Final = 8
"""How often the leaves behind a cut at one place are looked for: a helper may cut off several, one after the other."""
_OURS: Final = __name__.partition(".")[0] + "."
_REQUIRES_GRAD = torch.Tensor.requires_grad_
_SET_REQUIRES_GRAD = torch.Tensor.requires_grad.__set__  # type: ignore[attr-defined]
_TO_NUMBERS: Final = frozenset(
    {torch.Tensor.item, torch.Tensor.tolist, torch.Tensor.__float__, torch.Tensor.__int__, torch.Tensor.__complex__}
)
"""What it gives are plain numbers, which have no history."""
_REBUILDING: Final = frozenset(
    {torch.tensor, torch.as_tensor, torch.asarray, torch.scalar_tensor, torch.Tensor.new_tensor}
)
"""They copy the values of a tensor into a new one."""
CutKind = Literal["cut", "data", "detach", "discrete", "no_grad", "numbers", "rebuilt"]
"""`numbers`: read out as Python numbers; `discrete`: whole numbers or booleans have no slope; `rebuilt`: copied into a
new tensor; `cut`: by another call."""
WITHOUT_TENSOR: Final = _TO_NUMBERS | {_SET_REQUIRES_GRAD}
"""Torch functions that cut although they return no tensor."""


class Cut:
    """A call that took a differentiable tensor and returned what is not."""

    __slots__ = ("call", "identity", "kind", "leaves", "place", "result")

    def __init__(
        self,
        kind: CutKind,
        call: str,
        place: Place,
        leaves: frozenset[int],
        identity: int,
        result: TensorValue | None,
    ) -> None:
        self.kind = kind
        self.call = call
        """What cut, as the program writes it: `.detach()`."""
        self.place = place
        self.leaves = leaves
        """Identities of the leaves that the argument depends on."""
        self.identity = identity
        """Of what it returned, which may be gone by now; 0 for plain numbers."""
        self.result = result
        """None where it gave plain numbers."""

    def keeps_from(self, name: str, call: Fact) -> Fact:
        """That it keeps the gradient away from the leaf of this name; `call` is what cut, and where."""
        match self.kind:
            case "data":
                return fact("missing-data", name=name, call=call)
            case "detach":
                return fact("missing-detach", name=name, call=call)
            case "discrete":
                return fact("missing-discrete", name=name, call=call)
            case "no_grad":
                return fact("missing-no-grad", name=name, call=call)
            case "numbers":
                return fact("missing-numbers", name=name, call=call)
            case "rebuilt":
                return fact("missing-rebuilt", name=name, call=call)
            case "cut":
                return fact("missing-cut", name=name, call=call)


class CutLog:
    """The cuts of one run, and the tensors whose requires_grad it switched off."""

    def __init__(self, values: ValueTable, identities: Identities) -> None:
        self.found: list[Cut] = []
        """Those that cut off a leaf which none before at the same place did, in order."""
        self._looked: Counter[Place] = Counter()
        self.frozen: dict[int, Place | None] = {}
        """Identity of a tensor -> where its requires_grad was switched off."""
        self._values = values
        self._identities = identities

    def note_detached(
        self, func: Callable[..., Any], args: tuple[Any, ...], result: torch.Tensor | None, frame: FrameType
    ) -> None:
        """A call that gave what has no history: because requires_grad was switched off, or by a cut."""
        if func is _REQUIRES_GRAD or func == _SET_REQUIRES_GRAD:
            if not args[0].requires_grad:
                self.frozen[self._identities.of(args[0])] = snippet_place(frame)
        elif len(self.found) < _CUTS_KEPT:
            self.note(func, args, result, frame)

    def note_function(self, function: type, args: tuple[Any, ...], result: Any, frame: FrameType) -> None:
        """A call of a Function of the program, which cuts where none of its results has a history."""
        results = [*tensors_in((result,))]
        if results and not any(one.requires_grad for one in results) and len(self.found) < _CUTS_KEPT:
            self.note(function, args, results[0], frame)

    def note(
        self, func: Callable[..., Any], args: tuple[Any, ...], result: torch.Tensor | None, frame: FrameType
    ) -> None:
        """Enters a call that gave `result`, if a gradient could have flowed into its arguments."""
        sources = [tensor for tensor in tensors_in(args) if tensor.requires_grad and tensor is not result]
        # What torch's own code leaves out of the graph while grad mode is on is none of the program's doing.
        if not sources or (originals.is_grad_enabled() and not _is_from_program(frame)):
            return
        found, place = _cut_reason(func, result), snippet_place(frame)
        if found is None or place is None or self._looked[place] >= _LOOKED_AT:
            return
        self._looked[place] += 1
        leaves = frozenset(leaf for source in sources for leaf in self._leaves_of(source))
        if any(known.place == place and known.leaves >= leaves for known in self.found):
            return
        value = None if result is None else self._values.value_of(result)
        identity = 0 if result is None else self._identities.of(result)
        self.found.append(Cut(*found, place, leaves, identity, value))

    def _leaves_of(self, tensor: torch.Tensor, visited_max: int = 5_000) -> Iterator[int]:
        """Identities of the leaves that a tensor depends on."""
        if grad_fn_of(tensor) is None:
            yield self._identities.of(tensor)
            return
        pending: list[Any] = [grad_fn_of(tensor)]
        seen: set[Any] = set()
        while pending and len(seen) < visited_max:
            node = pending.pop()
            if node in seen:
                continue
            seen.add(node)
            variable = getattr(node, "variable", None)
            if variable is not None:
                yield self._identities.of(variable)
            pending.extend(following for following, _ in node.next_functions if following is not None)


def _cut_reason(func: Callable[..., Any], result: torch.Tensor | None) -> tuple[CutKind, str] | None:
    """What cut: its kind, and how the program writes it; None for a getter that gives no values."""
    name: str = getattr(func, "__name__", "")
    if name == "__get__":
        name = getattr(getattr(func, "__self__", None), "__name__", "")
        return ("data", ".data") if name == "data" else None
    bare = name.strip("_")
    if bare == "detach":
        return "detach", f".{name}()"
    if func in _TO_NUMBERS:
        return "numbers", f"{bare}()" if name.startswith("__") else f".{name}()"
    if not originals.is_grad_enabled():
        return "no_grad", "torch.no_grad()"
    if result is not None and not (result.is_floating_point() or result.is_complex()):
        return "discrete", bare
    return ("rebuilt" if func in _REBUILDING else "cut"), bare


def _is_from_program(frame: FrameType | None) -> bool:
    """Whether the program called this itself, if only through a door that a guard of ours stands at."""
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_OURS):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename == SNIPPET
