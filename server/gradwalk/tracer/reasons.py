"""Why there is no gradient, in words. None, undefined and zero are told apart."""

from collections.abc import Sequence
from typing import Any, Final

import torch

from gradwalk.protocol.values import Missing, MissingCause, MissingCauseKind, TensorValue
from gradwalk.tracer.calls import CallLog
from gradwalk.tracer.culprits import Unused
from gradwalk.tracer.cuts import Cut
from gradwalk.tracer.description import Record
from gradwalk.tracer.frames import Place
from gradwalk.tracer.passes import Pass, PassNode
from gradwalk.tracer.places import Places
from gradwalk.tracer.text import called

_PRUNED: Final[Missing] = {
    "missing": "no_path",
    "because": "This call asks only for the gradients of its inputs, and nothing along this edge leads to one of them.",
}
_PASSES: Final = frozenset({"grad", "backward"})
"""Calls that name a tensor without using its value."""
_NO_GRAD_YET: Final[Missing] = {"missing": "not_computed", "because": "`.grad` was still None."}


class Reasons:
    """Finds the reason for each missing gradient."""

    def __init__(self, log: CallLog, places: Places) -> None:
        self._log = log
        self._places = places

    def pruned(self) -> Missing:
        """An edge that `inputs=` cut off."""
        return _PRUNED

    def no_grad_yet(self) -> Missing:
        """`.grad` before the first accumulation."""
        return _NO_GRAD_YET

    def taken_away(self, leaf: str) -> Missing:
        """`.grad` is None right after it was accumulated."""
        because = f"A hook that runs after accumulation set `{leaf}.grad` to None."
        return {"missing": "not_computed", "because": because}

    def nothing_arrived(self, leaf: str) -> Missing:
        """`.grad` is still None after its AccumulateGrad ran, and no hook was there."""
        because = f"Only undefined gradients arrived at `{leaf}`: `.grad` stays None, which is not the same as zeros."
        return {"missing": "undefined", "because": because}

    def returned_nothing(self, record: Record, argnum: int) -> Missing:
        """A node gave no gradient along an existing edge."""
        described = record.node
        name = called(described["inputs"][argnum]) if described is not None else str(argnum)
        if record.kind == "custom":
            because = f"The backward of {described['op'] if described else record.name} returned None for `{name}`."
            return {"missing": "returned_none", "because": because}
        because = f"{record.name} had no gradient to work with, so it returns an undefined tensor for `{name}`."
        return {"missing": "undefined", "because": because}

    def dropped(self, missing: Missing, value: TensorValue) -> Missing:
        """A node returned a gradient where none goes."""
        because = missing.get("because", "No gradient goes there.")
        return {**missing, "because": f"{because} The node returned one; the engine drops it.", "dropped": value}

    def no_result(self, is_in_graph: bool) -> Missing:
        """A `grad` call returned None for an input."""
        if is_in_graph:
            return {"missing": "undefined", "because": "Only undefined gradients arrived here."}
        because = "The outputs do not depend on this input: no path in the graph leads to it."
        return {"missing": "no_path", "because": because}

    def unreached(self, one: Pass, entry: PassNode, is_alive: bool, name: str) -> Missing:
        """A leaf of this pass's graph whose `.grad` is None after it."""
        if one.call == "grad" or (one.call == "implicit" and one.batch is not None):
            by = "torch.func" if one.is_functional else "torch.autograd.grad"
            because = f"{by} returns gradients; it leaves `{name}.grad` alone."
            return {"missing": "not_computed", "because": because}
        if not is_alive:
            because = f"`inputs=` of this call does not name `{name}`, so nothing is accumulated there."
            return {"missing": "no_path", "because": because}
        if not entry.executed:
            return {"missing": "not_computed", "because": "The pass did not get here."}
        reasons = {one["value"].get("missing") for arrived in entry.arrived for one in arrived}
        if None in reasons:
            by = "a hook that runs after accumulation" if entry.kept else "code that ran while the pass did"
            because = (
                f"A gradient was accumulated in `{name}.grad`, and set to None again before the pass was over: {by} "
                "did that."
            )
            return {"missing": "not_computed", "because": because}
        if "returned_none" in reasons:
            because = f"The only gradient for `{name}` was a None that a custom backward returned: `.grad` stays None."
            return {"missing": "returned_none", "because": because}
        culprit = self._where_gradients_end(one, entry)
        if culprit is not None:
            because = (
                f"{culprit} returned None, so only undefined gradients arrived at `{name}`: `.grad` stays None, which "
                "is not the same as zeros."
            )
            return {"missing": "undefined", "because": because}
        return self.nothing_arrived(name)

    def _where_gradients_end(self, one: Pass, receiver: PassNode) -> str | None:
        """The Function of the program, before this node in the pass, whose backward returned None."""
        senders: dict[PassNode, list[PassNode]] = {}
        for entry in one.nodes.values():
            for target, _, _ in entry.targets:
                if target is not None:
                    senders.setdefault(target, []).append(entry)
        pending, seen = [receiver], {receiver}
        while pending:
            entry = pending.pop()
            values = [contribution["value"] for arrived in entry.arrived for contribution in arrived]
            for sender in senders.get(entry, ()):
                if sender.record.kind == "custom" and any(one.get("missing") == "returned_none" for one in values):
                    described = sender.record.node
                    op = sender.record.name if described is None else described["op"]
                    call = sender.record.call
                    return f"The backward of {op}{self._in_line(None if call is None else call.place)}"
            new = [sender for sender in senders.get(entry, ()) if sender not in seen]
            seen.update(new)
            pending += new
        return None

    def no_path(self, name: str, leaf: torch.Tensor, one: Pass) -> Missing:
        """A leaf that this pass's graph does not hold."""
        around = one.around
        while around is not None:
            if any(entry.record.variable is leaf for entry in around.nodes.values()):
                because = (
                    f"This pass runs inside pass {around.index + 1}, which leads to `{name}` and has not got there "
                    "yet; this one has no part in it."
                )
                return {"missing": "not_computed", "because": because}
            around = around.around
        cut = self._find_cut(leaf, one)
        cause: MissingCause | None = None
        if one.is_functional:
            because = (
                f"This pass is one of torch.func, which differentiates with respect to arguments of its function only: "
                f"to it `{name}` is a constant."
            )
        elif cut is not None:
            because = f"`{name}` is cut off: {self._cut_words(cut)}"
            cause = self._cause(cut.kind, cut.place, cut.call)
        else:
            used = self._place_of_use(leaf)
            cause = self._cause("unused" if used is None else "not_in_output", used)
            detail = (
                f"it is used{self._in_line(used)}, but what comes of that does not go into the output"
                if used is not None
                else "no differentiable operation uses it"
            )
            because = f"Nothing in this pass leads from the output to `{name}`, so its `.grad` stays None: {detail}."
        absent: Missing = {"missing": "no_path", "because": because}
        return absent if cause is None else {**absent, "cause": cause}

    def is_frozen(self, tensor: torch.Tensor) -> bool:
        """Whether the program switched its requires_grad off."""
        return id(tensor) in self._log.cuts.frozen

    def not_required(self, name: str, tensor: torch.Tensor) -> Missing:
        """A named tensor that the program asks for its `.grad`, and that does not require grad."""
        if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
            switched = self._log.cuts.frozen.get(id(tensor))
            cause = self._cause("frozen" if self.is_frozen(tensor) else "not_required", switched)
            how = (
                f"requires_grad was switched off{self._in_line(switched)}"
                if self.is_frozen(tensor)
                else "it was made without requires_grad=True"
            )
        else:
            cause = self._cause("integer")
            how = f"it holds {str(tensor.dtype).removeprefix('torch.')} values, which cannot have a gradient"
        because = f"`{name}` does not require grad: {how}. So the engine computes nothing for it."
        return {"missing": "not_required", "because": because, "cause": cause}

    def overwritten(self, name: str, leaf: torch.Tensor) -> Missing:
        """A leaf whose name belonged to another one when the graph was built."""
        place = self._log.leaf_places.get(id(leaf))
        because = (
            f"`{name}` was assigned again{self._in_line(place)}: the gradient went to the tensor that it named before. "
            "The tensor that it names now was not met in this pass."
        )
        return {"missing": "no_path", "because": because, "cause": self._cause("reassigned", place)}

    def no_leaf(self, name: str, record: Record, leaves: Sequence[torch.Tensor]) -> Missing:
        """A name that stands for a result, not for a leaf."""
        call = record.call
        how = record.name if call is None else f"`{call.label.strip('_')}`{self._in_line(call.place)}"
        lines = dict.fromkeys(self._in_line(self._log.leaf_places.get(id(leaf))) for leaf in leaves)
        where = "".join(f" The leaf made{line} has it." for line in lines if line)
        because = (
            f"`{name}` is no leaf: {how} computed it, so the engine passes its gradient on and keeps nothing in "
            f"`.grad`. Call {name}.retain_grad() before backward to keep it, or set requires_grad on the result "
            f"instead.{where}"
        )
        place, label = (None, None) if call is None else (call.place, call.label.strip("_"))
        return {"missing": "not_computed", "because": because, "cause": self._cause("non_leaf", place, label)}

    def cut_of(self, leaf: Any) -> str | None:
        """The call that took what was computed from a leaf out of the graph, in words."""
        cut = self._find_cut(leaf)
        return None if cut is None else self._cut_words(cut)

    def _find_cut(self, leaf: Any, one: Pass | None = None) -> Cut | None:
        """The call that cut a leaf off; of several the one whose result this pass uses, else the latest."""
        cuts = [cut for cut in self._log.cuts.found if id(leaf) in cut.leaves]
        if not cuts:
            return None
        constants = set() if one is None else _constants_of(one)
        used = [cut for cut in cuts if (cut.identity, id(cut.result)) in constants]
        return (used or [other for other in cuts if other.result is not None] or cuts)[-1]

    def _cut_words(self, cut: Cut) -> str:
        gives = "plain numbers" if cut.result is None and "detach" not in cut.reason else "a tensor"
        return f"{cut.reason}{self._in_line(cut.place)} gives {gives} without a history."

    def unused(self, name: str | None, tensor: torch.Tensor | torch.autograd.graph.GradientEdge, one: Pass) -> Unused:
        """An input of `torch.autograd.grad` to which nothing leads."""
        if isinstance(tensor, torch.autograd.graph.GradientEdge):
            return Unused(name, "", None)
        made = self._log.leaf_places.get(id(tensor))
        used = self._place_of_use(tensor)
        if tensor.grad_fn is not None:
            call = self._log.by_sequence.get(tensor.grad_fn._sequence_nr())
            made = None if call is None else call.place
        cut = self._find_cut(tensor, one)
        if cut is not None:
            detail = f"It is cut off: {self._cut_words(cut)}"
        elif used is not None:
            detail = f"It is used{self._in_line(used)}, but what comes of that does not go into the output."
        else:
            detail = "" if tensor.grad_fn is not None else "No differentiable operation uses it."
        return Unused(name, detail, self._places.span(made))

    def _cause(self, kind: MissingCauseKind, place: Place | None = None, call: str | None = None) -> MissingCause:
        span = self._places.span(place)
        cause: MissingCause = {"kind": kind, "line": None if span is None else span["line"]}
        return cause if call is None else {**cause, "call": call}

    def _place_of_use(self, leaf: Any) -> Place | None:
        for call in reversed(self._log.by_sequence.values()):
            if call.label in _PASSES:
                continue
            if any(identity == id(leaf) for identity, _, _ in call.arguments):
                return call.place
        return None

    def _in_line(self, place: Place | None) -> str:
        span = self._places.span(place)
        return "" if span is None else f" in line {span['line']}"


def _constants_of(one: Pass) -> set[tuple[int, int]]:
    """Tensors without a history that the calls of this pass's nodes got: `id` of the tensor and of its value."""
    calls = (entry.record.call for entry in one.nodes.values())
    return {(identity, id(value)) for call in calls if call is not None
            for identity, requires_grad, value in call.arguments if not requires_grad}  # fmt: skip
