"""What goes through a node in one step: received, returned, changed by others on the way, accumulated."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import torch

from gradwalk.protocol.events import Accumulate, ReturnedChange
from gradwalk.protocol.values import Gradient, Missing
from gradwalk.tracer import originals
from gradwalk.tracer.calls import CallLog
from gradwalk.tracer.description import GraphWriter
from gradwalk.tracer.naming import NamedTensors
from gradwalk.tracer.originals import grad_fn_of
from gradwalk.tracer.passes import MATERIALIZED, UNDEFINED, Pass, PassNode
from gradwalk.tracer.places import Places
from gradwalk.tracer.reasons import NO_GRAD_YET, Reasons
from gradwalk.tracer.sums import ContributionSums
from gradwalk.tracer.values import ValueTable


class StepGradients:
    """Puts the gradients of a step down, and hands them on to the nodes that they are contributions to."""

    def __init__(  # noqa: PLR0913 (what knows of gradients)
        self,
        values: ValueTable,
        log: CallLog,
        places: Places,
        writer: GraphWriter,
        reasons: Reasons,
        sums: ContributionSums,
    ) -> None:
        self._values = values
        self._log = log
        self._places = places
        self._writer = writer
        self._reasons = reasons
        self._sums = sums

    def returned(self, one: Pass, entry: PassNode, grad_inputs: Any, index: int) -> list[Gradient]:
        """The grad_inputs, each put down at the node that it is a contribution to."""
        returned: list[Gradient] = []
        value_of = self._values.value_of
        for argnum, (receiver, slot, edge_id) in enumerate(entry.targets):
            gradient = grad_inputs[argnum] if argnum < len(grad_inputs) else None
            missing = entry.missing[argnum]
            if missing is not None:
                # cat and stack compute one for each of their tensors.
                returned.append(missing if gradient is None else {**missing, "dropped": value_of(gradient)})
                continue
            value: Gradient
            if gradient is None:
                ruled = entry.returned[argnum] if entry.returned is not None and argnum < len(entry.returned) else None
                value = self._reasons.returned_nothing(entry.record, argnum, ruled)
            else:
                value = value_of(gradient)
                if grad_fn_of(gradient) is not None:
                    self._log.outputs[grad_fn_of(gradient)._sequence_nr(), gradient.output_nr] = value
                if receiver is not None and receiver.summands is not None:
                    receiver.summands[slot].append(gradient if one.is_quiet else self._sums.copy(gradient))
            returned.append(value)
            if receiver is not None:
                receiver.arrived[slot].append(
                    {"output_nr": slot, "edge": edge_id or "", "from_step": index, "value": value}
                )
        return returned

    def received(self, entry: PassNode, grad_outputs: Any, materialized: Collection[int]) -> list[Gradient]:
        """What the engine handed to the node, as it was before a custom backward or a hook could write into it."""
        received: list[Gradient] = [self.value_of(gradient) for gradient in grad_outputs]
        if entry.changed is not None:
            received = [UNDEFINED if value is None else value for value in entry.changed]
        for slot in materialized:
            if "missing" in received[slot]:
                received[slot] = MATERIALIZED
        return received

    def changes(
        self, entry: PassNode, unfitted: Mapping[int, torch.Tensor], ruled: Sequence[torch.Tensor | None]
    ) -> list[ReturnedChange]:
        """What became of what the rule returned before it was sent on: by the engine first, then by hooks."""
        changes: list[ReturnedChange] = []
        for argnum, missing in enumerate(entry.missing):
            if missing is not None:
                continue
            gradient, fitted = unfitted.get(argnum), ruled[argnum] if argnum < len(ruled) else None
            if gradient is not None and fitted is not None:
                changes += self._refits(argnum, gradient, fitted)
            chain = entry.sent.get(argnum)
            if chain is not None:
                changes += [{"argnum": argnum, **change} for change in chain.changes(self._places)]
        return changes

    def _refits(self, argnum: int, gradient: torch.Tensor, fitted: torch.Tensor) -> Iterator[ReturnedChange]:
        """What the engine makes of a gradient that a rule returned: it sums what was broadcast, and casts."""
        value_of = self._values.value_of
        with torch.no_grad():
            gradient, fitted = (originals.detach(self._values.unwrap(one)) for one in (gradient, fitted))
            if gradient.layout is not fitted.layout or gradient.is_nested:
                return
            if gradient.shape != fitted.shape:
                before, gradient = value_of(gradient), gradient.sum_to_size(fitted.shape)
                after = value_of(gradient)
                yield {"argnum": argnum, "kind": "sum_to_size", "before": before, "after": after, "span": None}
            if gradient.dtype != fitted.dtype:
                before, after = value_of(gradient), value_of(fitted)
                yield {"argnum": argnum, "kind": "cast", "before": before, "after": after, "span": None}

    def accumulated(self, entry: PassNode, variable: torch.Tensor, named: NamedTensors) -> Accumulate:
        """What became of the `.grad` of a leaf."""
        after = variable.grad
        name = self._writer.leaf_name(variable, named)
        accumulate: Accumulate = {
            "leaf": name,
            "before": entry.before if entry.before is not None else NO_GRAD_YET,
            "after": self._no_grad_after(entry, name) if after is None else self._values.value_of(after),
        }
        chain = entry.kept.get(0)
        changes = [] if chain is None else list(chain.changes(self._places))
        if changes:
            accumulate["changes"] = changes
        return accumulate

    def _no_grad_after(self, entry: PassNode, name: str) -> Missing:
        return self._reasons.taken_away(name) if entry.kept else self._reasons.nothing_arrived(name)

    def value_of(self, gradient: torch.Tensor | None) -> Gradient:
        """What the engine passes, which may be no tensor."""
        return UNDEFINED if gradient is None else self._values.value_of(gradient)
