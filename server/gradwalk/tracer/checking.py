"""Steps whose formulas are still to be checked."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch

from gradwalk.tracer import originals
from gradwalk.tracer.description import Record
from gradwalk.tracer.node_formulas import NodeFormulas


class Unchecked(NamedTuple):
    """A step, and what it takes to check its node's formula."""

    event: dict[str, Any]
    record: Record
    saved: Mapping[str, Any]
    grad_outputs: Sequence[torch.Tensor | None]
    grad_inputs: Sequence[torch.Tensor | None]
    shapes: Sequence[tuple[int, ...] | None]

    def check(self, formulas: NodeFormulas) -> bool:
        """Writes into the event whether the formula holds, and with which numbers; False where it does not."""
        verdict = formulas.check(
            self.saved, self.record.name, self.grad_outputs, self.grad_inputs, self.shapes, self.record.letters
        )
        if verdict is None:
            return True
        self.event["formula_checked"] = verdict.holds
        if verdict.holds and verdict.substitutions:
            self.event["substitutions"] = verdict.substitutions
        if verdict.holds and verdict.moves:
            self.event["moves"] = verdict.moves
        return verdict.holds

    def lasting(self, copies: dict[int, tuple[torch.Tensor, torch.Tensor]]) -> "Unchecked":
        """The same with copies of all tensors, which the program may change. `copies` has those made so far."""
        saved = {name: _copy(one, copies) for name, one in self.saved.items()}
        received = [_copy(one, copies) for one in self.grad_outputs]
        returned = [_copy(one, copies) for one in self.grad_inputs]
        return self._replace(saved=saved, grad_outputs=received, grad_inputs=returned)


def _copy(value: Any, copies: dict[int, tuple[torch.Tensor, torch.Tensor]]) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_copy(one, copies) for one in value)
    if not isinstance(value, originals.Tensor):
        return value
    known = copies.get(id(value))
    if known is None:
        known = copies[id(value)] = value, originals.clone(originals.detach(value))
    return known[1]
