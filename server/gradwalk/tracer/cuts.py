"""Where the forward pass leaves the graph: calls that take a differentiable tensor and return what is not."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any, Final, Literal, NamedTuple

import torch

from gradwalk.protocol.facts import Fact, fact
from gradwalk.tracer import originals
from gradwalk.tracer.arguments import tensors_in
from gradwalk.tracer.frames import Place, snippet_place
from gradwalk.tracer.identities import Identities
from gradwalk.tracer.originals import PROGRAM_FILES, base_of, can_have_gradient, grad_fn_of
from gradwalk.tracer.sources import TO_NUMBERS, Sources

_CUTS_KEPT: Final = 200
_LOOKED_AT: Final = 8
"""How often the leaves behind a cut at one place are looked for: a helper may cut off several, one after the other."""
_USES_KEPT: Final = 1_000
_ASKING: Final = frozenset({"backward", "grad"})
"""Calls and attributes that name a tensor without using its value."""
_OURS: Final = __name__.partition(".")[0] + "."
_REQUIRES_GRAD = torch.Tensor.requires_grad_
_SET_REQUIRES_GRAD = torch.Tensor.requires_grad.__set__  # type: ignore[attr-defined]
_REBUILDING: Final = frozenset(
    {torch.tensor, torch.as_tensor, torch.asarray, torch.scalar_tensor, torch.Tensor.new_tensor}
)
"""They copy the values of a tensor into a new one."""
CutKind = Literal["cut", "data", "detach", "discrete", "inside", "listed", "no_grad", "numbers", "numpy", "rebuilt"]
"""`numbers`: read out as Python numbers; `numpy`: detached for numpy; `discrete`: whole numbers or booleans
have no slope; `rebuilt`: copied into a new tensor; `inside`: used by a custom Function that did not get it as an
argument of its own; `listed`: returned by one in a list or a dict; `cut`: by another call."""


class Cut:
    """A call that took a differentiable tensor and returned what is not."""

    __slots__ = ("bit", "call", "kind", "leaves", "place")

    def __init__(self, kind: CutKind, call: str, place: Place, leaves: frozenset[int], bit: int) -> None:
        self.kind = kind
        self.call = call
        """What cut, as the program writes it: `.detach()`."""
        self.place = place
        self.leaves = leaves
        """Identities of the leaves that the argument depends on."""
        self.bit = bit
        """Held by what comes of it."""

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
            case "numpy":
                return fact("missing-numpy", name=name, call=call)
            case "rebuilt":
                return fact("missing-rebuilt", name=name, call=call)
            case "inside":
                return fact("missing-inside", name=name, call=call)
            case "cut" | "listed":
                return fact("missing-cut", name=name, call=call)


class Use(NamedTuple):
    """A call that a tensor took part in before it required grad."""

    label: str
    place: Place
    bit: int


class CutLog:
    """The cuts of one run, what uses tensors that do not require grad, and which of these are in which values."""

    def __init__(self, identities: Identities) -> None:
        self.found: list[Cut] = []
        """In order, one for the leaves that calls at the same place cut off together."""
        self.uses: dict[tuple[int, Place], Use] = {}
        """By the identity of a tensor that did not require grad, and place."""
        self.frozen: dict[int, Place | None] = {}
        """Identity of a tensor -> where its requires_grad was switched off."""
        self.sources = Sources(identities)
        self._detached: dict[int, Cut] = {}
        """By the identity of the result."""
        self._at: defaultdict[Place, list[Cut]] = defaultdict(list)
        """The last cut at a place, as often as one was looked for there."""
        self._identities = identities

    def follow(  # noqa: PLR0913 (what one call was)
        self,
        func: Callable[..., Any],
        arguments: tuple[Any, ...],
        result: Any,
        written: tuple[torch.Tensor, int] | None,
        frame: FrameType,
        cut: int = 0,
    ) -> None:
        """Enters what a call cut off and used, and what its results come from."""
        label, place = _name_of(func), snippet_place(frame)
        if func is _REQUIRES_GRAD or func == _SET_REQUIRES_GRAD:
            if not arguments[0].requires_grad:
                self.frozen[self._identities.of(arguments[0])] = place
            return
        given, results = [*tensors_in(arguments)], [*tensors_in((result,))]
        if not results and written is None and label not in TO_NUMBERS:
            return
        if label == "numpy":
            for detached in filter(None, [self._detached.get(self._identities.of(one)) for one in given]):
                detached.kind = "numpy"
        ends = [one for one in results if _is_end(one, func) and all(one is not other for other in given)]
        if ends or label in TO_NUMBERS:
            cut = self.note(func, given, ends[0] if ends else None, frame)
        used = 0
        if place is not None and label not in _ASKING:
            for tensor in given:
                if not tensor.requires_grad and tensor is not result and can_have_gradient(tensor):
                    used |= self._use(tensor, label, place)
        self.sources.follow(label, arguments, given, results, written, frame, used, cut)

    def _use(self, tensor: torch.Tensor, label: str, place: Place) -> int:
        key = self._identities.of(tensor), place
        if key not in self.uses:
            if len(self.uses) >= _USES_KEPT:
                return 0
            self.uses[key] = Use(label, place, self.sources.new())
        return self.uses[key].bit

    def note(
        self, func: Callable[..., Any], given: Iterable[torch.Tensor], result: torch.Tensor | None, frame: FrameType
    ) -> int:
        """Enters a call that gave `result`, if a gradient could have flowed into its arguments; gives its bit."""
        sources = [tensor for tensor in given if tensor.requires_grad and tensor is not result]
        # What torch's own code leaves out of the graph while grad mode is on is none of the program's doing.
        if not sources or (originals.is_grad_enabled() and not _is_from_program(frame)):
            return 0
        found, place = _cut_reason(func, result), snippet_place(frame)
        if found is None or place is None:
            return 0
        before = self._at[place]
        if len(before) < _LOOKED_AT and len(self.found) < _CUTS_KEPT:
            self._enter(*found, place, self._leaves_of_all(sources))
        if not before:
            return 0
        if found[0] == "detach" and result is not None:
            self._detached[self._identities.of(result)] = before[-1]
        return before[-1].bit

    def _enter(self, kind: CutKind, call: str, place: Place, leaves: frozenset[int]) -> None:
        before = self._at[place]
        cut = next((one for one in before if one.leaves == leaves), None)
        if cut is None:
            cut = Cut(kind, call, place, leaves, self.sources.new())
            self.found.append(cut)
        before.append(cut)

    def note_of_function(
        self, kind: CutKind, function: str, place: Place | None, given: Iterable[Any], own: Iterable[Any] = ()
    ) -> int:
        """Enters what a custom Function keeps from the leaves of these tensors, except those of its `own` arguments."""
        sources = [one for one in given if isinstance(one, torch.Tensor) and one.requires_grad]
        known = [one for one in own if isinstance(one, torch.Tensor)]
        if place is None or all(any(one is other for other in known) for one in sources):
            return 0
        leaves = self._leaves_of_all(sources) - self._leaves_of_all(known)
        before = self._at[place]
        if leaves and len(before) < _LOOKED_AT and len(self.found) < _CUTS_KEPT:
            self._enter(kind, function, place, leaves)
        return before[-1].bit if leaves and before else 0

    def _leaves_of_all(self, tensors: Iterable[torch.Tensor]) -> frozenset[int]:
        return frozenset(leaf for tensor in tensors for leaf in self._leaves_of(tensor))

    def _leaves_of(self, tensor: torch.Tensor, visited_max: int = 5_000) -> Iterator[int]:
        """Identities of the leaves that a tensor depends on."""
        if grad_fn_of(tensor) is None:
            # A view that was made under no_grad still says that it requires grad.
            base = base_of(tensor)
            tensor = tensor if base is None else base
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
    name = _name_of(func)
    if getattr(func, "__name__", "") == "__get__":
        return ("data", ".data") if name == "data" else None
    bare = name.strip("_")
    if bare == "detach":
        return "detach", f".{name}()"
    if result is None:
        return "numbers", f"{bare}()" if name.startswith("__") else f".{name}()"
    if not originals.is_grad_enabled():
        return "no_grad", "torch.inference_mode()" if originals.is_inference_mode_enabled() else "torch.no_grad()"
    if result is not None and not (result.is_floating_point() or result.is_complex()):
        return "discrete", bare
    return ("rebuilt" if func in _REBUILDING else "cut"), bare


def _name_of(func: Callable[..., Any]) -> str:
    """What a torch function is called; of a getter, the attribute."""
    name: str = getattr(func, "__name__", "")
    return getattr(getattr(func, "__self__", None), "__name__", name) if name == "__get__" else name


def _is_end(result: torch.Tensor, func: Callable[..., Any]) -> bool:
    """Whether no gradient flows on from a result.

    One that `torch.tensor` made begins anew, if it requires grad, and so does a view that was made under no_grad.
    """
    if grad_fn_of(result) is not None:
        return False
    return not result.requires_grad or func is torch.tensor or base_of(result) is not None


def _is_from_program(frame: FrameType | None) -> bool:
    """Whether the program called this itself, if only through a door that a guard of ours stands at."""
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_OURS):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename in PROGRAM_FILES
