"""Why there is no gradient, in words. None, undefined and zero are told apart."""

from typing import Any, Final

import torch

from gradwalk.protocol.values import Missing
from gradwalk.tracer.calls import CallLog
from gradwalk.tracer.description import Record
from gradwalk.tracer.passes import Pass, PassNode
from gradwalk.tracer.places import Places

_PRUNED: Final[Missing] = {
    "missing": "no_path",
    "because": "This call asks only for the gradients of its inputs, and nothing along this edge leads to one of them.",
}
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

    def returned_nothing(self, record: Record, argnum: int) -> Missing:
        """A node gave no gradient along an existing edge."""
        described = record.node
        name = described["inputs"][argnum]["name"] if described is not None else str(argnum)
        if record.kind == "custom":
            because = f"The backward of {described['op'] if described else record.name} returned None for `{name}`."
            return {"missing": "returned_none", "because": because}
        because = f"{record.name} had no gradient to work with, so it returns an undefined tensor for `{name}`."
        return {"missing": "undefined", "because": because}

    def no_result(self, is_in_graph: bool) -> Missing:
        """A `grad` call returned None for an input."""
        if is_in_graph:
            return {"missing": "undefined", "because": "Only undefined gradients arrived here."}
        because = "The outputs do not depend on this input: no path in the graph leads to it."
        return {"missing": "no_path", "because": because}

    def unreached(self, one: Pass, entry: PassNode, is_alive: bool, name: str) -> Missing:
        """A leaf of this pass's graph whose `.grad` is None after it."""
        if one.call == "grad" or (one.call == "implicit" and one.batch is not None):
            because = f"torch.autograd.grad returns gradients; it leaves `{name}.grad` alone."
            return {"missing": "not_computed", "because": because}
        if not is_alive:
            because = f"`inputs=` of this call does not name `{name}`, so nothing is accumulated there."
            return {"missing": "no_path", "because": because}
        if not entry.executed:
            return {"missing": "not_computed", "because": "The pass did not get here."}
        reasons = {one["value"].get("missing") for arrived in entry.arrived for one in arrived}
        if "returned_none" in reasons:
            because = f"The only gradient for `{name}` was a None that a custom backward returned: `.grad` stays None."
            return {"missing": "returned_none", "because": because}
        because = f"Only undefined gradients arrived at `{name}`: `.grad` stays None, which is not the same as zeros."
        return {"missing": "undefined", "because": because}

    def no_path(self, name: str, leaf: torch.Tensor) -> Missing:
        """A leaf that this pass's graph does not hold."""
        cut = self.cut_of(leaf)
        if cut is not None:
            because = f"`{name}` is cut off: {cut}"
        else:
            because = f"Nothing in this pass leads from the output to `{name}`, so its `.grad` stays None."
        return {"missing": "no_path", "because": because}

    def cut_of(self, leaf: Any) -> str | None:
        """The latest call that took what was computed from a leaf out of the graph, in words."""
        for cut in reversed(self._log.cuts):
            if id(leaf) in cut.leaves:
                span = self._places.span(cut.place)
                where = "" if span is None else f" in line {span['line']}"
                return f"{cut.reason}{where} gives a tensor without a history."
        return None
