"""Why there is no gradient. None, undefined and zero are told apart."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import torch

from gradwalk.protocol.facts import Fact, fact
from gradwalk.protocol.values import Missing, MissingReason
from gradwalk.tracer import originals
from gradwalk.tracer.calls import Call, CallLog
from gradwalk.tracer.culprits import Unused
from gradwalk.tracer.cuts import Cut, Use
from gradwalk.tracer.description import Record
from gradwalk.tracer.frames import Place
from gradwalk.tracer.originals import grad_fn_of
from gradwalk.tracer.passes import Pass, PassNode
from gradwalk.tracer.places import Places
from gradwalk.tracer.text import called
from gradwalk.tracer.transforms import unwrapped
from gradwalk.tracer.values import storage_address

NO_GRAD_YET: Final[Missing] = {"missing": "not_computed", "because": fact("missing-no-grad-yet")}
"""`.grad` before the first accumulation."""
_PASSES: Final = frozenset({"grad", "backward"})
"""Calls that name a tensor without using its value."""


class Reasons:
    """Finds the reason for each missing gradient."""

    def __init__(self, log: CallLog, places: Places) -> None:
        self._log = log
        self._places = places

    def taken_away(self, leaf: str) -> Missing:
        """`.grad` is None right after it was accumulated."""
        return {"missing": "not_computed", "because": fact("missing-cleared-by-hook", name=leaf)}

    def nothing_arrived(self, leaf: str) -> Missing:
        """`.grad` is still None after its AccumulateGrad ran, and no hook was there."""
        return {"missing": "undefined", "because": fact("missing-nothing-arrived", name=leaf)}

    def returned_nothing(self, record: Record, argnum: int, ruled: torch.Tensor | None = None) -> Missing:
        """A node gave no gradient along an existing edge; `ruled` is what a hook then took away."""
        described = record.node
        name = called(described["inputs"][argnum]) if described is not None else str(argnum)
        if ruled is not None:
            return {"missing": "undefined", "because": fact("missing-hook-removed", op=record.name, name=name)}
        if record.kind == "custom":
            because = fact("missing-op-returned-none", op=_operation(record), name=name)
            return {"missing": "returned_none", "because": because}
        return {"missing": "undefined", "because": fact("missing-op-undefined", op=record.name, name=name)}

    def no_result(self, is_in_graph: bool) -> Missing:
        """A `grad` call returned None for an input."""
        if is_in_graph:
            return {"missing": "undefined", "because": fact("missing-result-undefined")}
        return {"missing": "no_path", "because": fact("missing-result-no-path")}

    def unreached(self, one: Pass, entry: PassNode, is_alive: bool, name: str) -> Missing:
        """A leaf of this pass's graph whose `.grad` is None after it."""
        if one.call == "grad" or (one.call == "implicit" and one.batch is not None):
            return self._returned_instead(one, name, entry.record.variable)
        if not is_alive:
            return {"missing": "no_path", "because": fact("missing-not-inputs", name=name)}
        if not entry.executed:
            return {"missing": "not_computed", "because": fact("missing-not-reached")}
        reasons = {one["value"].get("missing") for arrived in entry.arrived for one in arrived}
        if None in reasons:
            if entry.kept:
                return self.taken_away(name)
            return {"missing": "not_computed", "because": fact("missing-cleared", name=name)}
        if "returned_none" in reasons:
            return {"missing": "returned_none", "because": fact("missing-only-none", name=name)}
        culprit = self._where_gradients_end(one, entry)
        if culprit is not None:
            return {"missing": "undefined", "because": fact("missing-none-before", op=culprit, name=name)}
        return self.nothing_arrived(name)

    def _where_gradients_end(self, one: Pass, receiver: PassNode) -> Fact | None:
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
                    call = sender.record.call
                    return self._places.called(_operation(sender.record), None if call is None else call.place)
            new = [sender for sender in senders.get(entry, ()) if sender not in seen]
            seen.update(new)
            pending += new
        return None

    def no_path(self, name: str, leaf: torch.Tensor, one: Pass) -> Missing:
        """A leaf that this pass's graph does not hold."""
        around = one.around
        while around is not None:
            if any(entry.record.variable is leaf for entry in around.nodes.values()):
                because = fact("missing-around", number=str(around.index + 1), name=name)
                return {"missing": "not_computed", "because": because}
            around = around.around
        arguments = [argument for argument in _leaves_in(one) if one.is_functional or self._log.argument_name(argument)]
        for argument in arguments:
            if storage_address(unwrapped(argument)) == storage_address(leaf):
                return self._returned_instead(one, name, argument)
        if any(originals.is_functorch_wrapped(argument) for argument in arguments):
            return {"missing": "no_path", "because": fact("missing-functional", name=name)}
        return self._mendable("no_path", *self._why_cut_off(name, leaf, one))

    def _why_cut_off(self, name: str, leaf: torch.Tensor, one: Pass) -> tuple[Fact, Place | None]:
        """Why nothing leads from a pass to a leaf, and where the program could be written otherwise."""
        cut = self._find_cut(leaf, one)
        if cut is not None:
            return self._keeps_from(cut, name), cut.place
        late = self._use_before_asked(leaf, one)
        use = late or self._last_use(leaf)
        if use is None:
            return fact("missing-unused", name=name), None
        call = self._places.called(use.label.strip("_"), use.place)
        if late is not None:
            return fact("missing-asked-late", name=name, call=call), use.place
        return fact("missing-not-in-output", name=name, call=call), use.place

    def is_frozen(self, tensor: torch.Tensor) -> bool:
        """Whether the program switched its requires_grad off."""
        return self._log.identities.of(tensor) in self._log.cuts.frozen

    def not_required(self, name: str, tensor: torch.Tensor) -> Missing:
        """A named tensor that the program asks for its `.grad`, and that does not require grad."""
        place = self._log.cuts.frozen.get(self._log.identities.of(tensor))
        line = self._places.line(place)
        if not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
            because = fact("missing-integer", name=name, dtype=str(tensor.dtype).removeprefix("torch."))
        elif not self.is_frozen(tensor):
            because = fact("missing-made-without", name=name)
        elif line is None:
            because = fact("missing-frozen", name=name)
        else:
            because = fact("missing-frozen-in-line", name=name, line=line)
        return self._mendable("not_required", because, place)

    def overwritten(self, name: str, leaf: torch.Tensor) -> Missing:
        """A leaf whose name belonged to another one when the graph was built."""
        place = self._log.leaf_place(leaf)
        line = self._places.line(place)
        if line is None:
            return self._mendable("no_path", fact("missing-reassigned", name=name), place)
        return self._mendable("no_path", fact("missing-reassigned-in-line", name=name, line=line), place)

    def no_leaf(self, name: str, one: Pass, record: Record, leaves: Sequence[torch.Tensor]) -> Missing:
        """A name that stands for a result, not for a leaf."""
        if one.call == "grad":
            return self._returned_instead(one, name, None)
        made = record.call
        place = None if made is None else made.place
        call = self._places.called(record.name if made is None else made.label.strip("_"), place)
        found = dict.fromkeys(self._places.line(self._log.leaf_place(leaf)) for leaf in leaves)
        lines = [line for line in found if line is not None]
        because = (
            fact("missing-non-leaf-of", name=name, call=call, count=len(lines), lines=[*lines])
            if lines
            else fact("missing-non-leaf", name=name, call=call)
        )
        return self._mendable("not_computed", because, place)

    def cut_of(self, leaf: Any, name: str) -> Fact | None:
        """The call that took what was computed from a leaf of this name out of the graph: a `missing-` fact."""
        cut = self._find_cut(leaf)
        return None if cut is None else self._keeps_from(cut, name)

    def _find_cut(self, leaf: Any, one: Pass | None = None) -> Cut | None:
        """The last call that cut a leaf off; with a pass, the last of which something is in its outputs."""
        identity = self._log.identities.of(leaf)
        reached = -1 if one is None else self._reached(one)
        cuts = [cut for cut in self._log.cuts.found if identity in cut.leaves and cut.bit & reached]
        return cuts[-1] if cuts else None

    def _reached(self, one: Pass) -> int:
        """The bits of all that the outputs of a pass come from."""
        return self._log.cuts.sources.reached(one.sources, self._places.may_reach)

    def unused(self, name: str | None, position: int, one: Pass) -> Unused:
        """The input of a `torch.autograd.grad` at a position, to which nothing leads."""
        tensor = one.asked[position]
        if isinstance(tensor, torch.autograd.graph.GradientEdge):
            return Unused(position, name, None, None)
        made = self._log.leaf_place(tensor)
        if grad_fn_of(tensor) is not None:
            call = self._log.by_sequence.get(grad_fn_of(tensor)._sequence_nr())
            made = None if call is None else call.place
        because, place = self._why_cut_off(name or "", tensor, one)
        is_told = name is not None and (place is not None or grad_fn_of(tensor) is None)
        return Unused(position, name, because if is_told else None, self._places.span(made))

    def _keeps_from(self, cut: Cut, name: str) -> Fact:
        return cut.keeps_from(name, self._places.called(cut.call, cut.place))

    def _returned_instead(self, one: Pass, name: str, leaf: Any) -> Missing:
        """A pass that returns its gradients, and puts none into `.grad`."""
        is_functional = one.is_functional or (leaf is not None and originals.is_functorch_wrapped(leaf))
        call = "torch.func" if is_functional else "torch.autograd.grad"
        return {"missing": "not_computed", "because": fact("missing-grad-returned", call=call, name=name)}

    def _use_before_asked(self, leaf: Any, one: Pass) -> Use | None:
        """The last call that used a tensor before it required grad, and of which something is in this pass's output."""
        known, reached = self._log.identities.of(leaf), self._reached(one)
        uses = [use for (identity, _), use in self._log.cuts.uses.items() if identity == known and use.bit & reached]
        return uses[-1] if uses else None

    def _mendable(self, reason: MissingReason, because: Fact, place: Place | None) -> Missing:
        span = self._places.span(place)
        return {"missing": reason, "because": because, "line": None if span is None else span["line"]}

    def _last_use(self, leaf: Any) -> Call | None:
        known = self._log.identities.of(leaf)
        for call in reversed(self._log.by_sequence.values()):
            if call.label in _PASSES:
                continue
            if any(identity == known for identity, _, _ in call.arguments):
                return call
        return None


def _operation(record: Record) -> str:
    return record.name if record.node is None else record.node["op"]


def _leaves_in(one: Pass) -> Iterator[torch.Tensor]:
    return (entry.record.variable for entry in one.nodes.values() if entry.record.variable is not None)
