"""What arrives at a node, added up again: the contributions we recorded against what the engine handed over."""

from collections.abc import Callable, Sequence
from typing import Final

import torch

from gradwalk.protocol.events import HookChange, HookKind
from gradwalk.protocol.graph import Span
from gradwalk.protocol.values import Gradient
from gradwalk.tracer import originals
from gradwalk.tracer.hooks import HookWatch
from gradwalk.tracer.passes import UNDEFINED, PassNode
from gradwalk.tracer.places import Places
from gradwalk.tracer.rewrites import Chain
from gradwalk.tracer.snapshot import has_numbers
from gradwalk.tracer.values import ValueTable

_UNWATCHED: Final = Chain()


class ContributionMismatch(Exception):  # noqa: N818 (said as a problem of ours)
    """The contributions do not add up to what the engine handed over."""

    def __init__(self, node: str, name: str, slot: int) -> None:
        super().__init__(f"the contributions recorded for output {slot} of {name} ({node}) do not add up")


class ContributionSums:
    """Adds contributions up, and tells a hook's rewriting from a fault of ours."""

    def __init__(
        self, values: ValueTable, hooks: HookWatch, places: Places, on_failure: Callable[[Exception], None]
    ) -> None:
        self._values = values
        self._places = places
        self._hooks = hooks
        self._on_failure = on_failure

    def copy(self, gradient: torch.Tensor) -> torch.Tensor:
        """A contribution as it is now, to add up later."""
        return originals.clone(originals.detach(self._values.unwrap(gradient)))

    def check(
        self,
        entry: PassNode,
        received: list[Gradient],
        grad_outputs: Sequence[torch.Tensor | None],
        writers: Sequence[Span | None],
    ) -> list[HookChange]:
        """Compares the sum of what arrived with what the engine handed over; gives what hooks rewrote.

        Args:
            entry: the node in its pass.
            received: the values of grad_outputs when the engine handed them over.
            grad_outputs: themselves, where they are still that; a value is not asked for again.
            writers: what has written into gradients of this pass before; one of them may share its memory.
        """
        changes: list[HookChange] = []
        for slot, value in enumerate(received):
            total = self.total(entry, slot, grad_outputs[slot] if grad_outputs else None, value)
            chain = entry.received.get(slot, _UNWATCHED)
            first = chain.first or value
            if not _is_same(total, first):
                found, span = self._hooks.rewriter_of(entry.record, slot)
                if found or writers:
                    kind: HookKind = "tensor_hook" if found else "shared_write"
                    span = span if found else writers[-1]
                    changes.append({"output_nr": slot, "kind": kind, "before": total, "after": first, "span": span})
                else:
                    self._on_failure(ContributionMismatch(entry.record.id, entry.record.name, slot))
            changes += [{"output_nr": slot, **change} for change in chain.changes(self._places)]
        return changes

    def total(
        self, entry: PassNode, slot: int, known: torch.Tensor | None = None, value: Gradient = UNDEFINED
    ) -> Gradient:
        """The sum of what arrived for one output; `value` where it is what `known` holds."""
        arrived = [summand for summand in entry.arrived[slot] if "missing" not in summand["value"]]
        if len(arrived) == 1:
            return arrived[0]["value"]
        if entry.summands is None or not arrived:
            return UNDEFINED
        return self._sum(entry.summands[slot], known, value)

    def _sum(self, summands: list[torch.Tensor], known: torch.Tensor | None, value: Gradient) -> Gradient:
        if known is not None and not has_numbers(known):
            return value
        total = summands[0]
        with originals.no_grad():
            for summand in summands[1:]:
                total = originals.add(total, summand)
        if known is None or total.is_nested or total.dtype != known.dtype or not originals.equal(total, known):
            return self._values.value_of(total)
        return value


def _is_same(total: Gradient, value: Gradient) -> bool:
    return total is value or total == value or ("missing" in total and "missing" in value)
