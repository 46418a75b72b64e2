"""Is a node's written formula what the engine just did? Asked while its saved tensors live, of small values only."""

from collections.abc import Sequence
from typing import Any, Final

import torch

from gradwalk.formulas.check import check_formula
from gradwalk.formulas.registry import entry_of
from gradwalk.tracer import originals
from gradwalk.tracer.saved import is_hooked
from gradwalk.tracer.walk import Node

STEPS_CHECKED: Final = 500
"""Of one trace; a loop repeats its nodes, and what held so often will hold."""
ELEMENTS_CHECKED: Final = 4_096
"""Of one node's saved tensors and gradients together."""


class FormulaChecks:
    """Checks the first steps of one trace. Counts, not times, so that a trace is deterministic."""

    def __init__(self, steps: int = STEPS_CHECKED, elements: int = ELEMENTS_CHECKED) -> None:
        self._steps_left = steps
        self._elements = elements
        self._fields: dict[type, tuple[tuple[str, str | None], ...]] = {}

    def check(
        self,
        node: Node,
        name: str,
        grad_outputs: Sequence[torch.Tensor | None],
        grad_inputs: Sequence[torch.Tensor | None],
        operand_shapes: Sequence[tuple[int, ...] | None],
    ) -> bool | None:
        """Whether the entry reproduces `grad_inputs`; None where nothing was evaluated. Call it in a hook."""
        if self._steps_left <= 0 or entry_of(name) is None:
            return None
        elements = 0
        for gradients in (grad_outputs, grad_inputs):
            for one in gradients:
                if one is not None:
                    elements += one.numel()
                    if _is_wrapped(one):
                        return None
        if elements > self._elements:
            return None
        saved = self._read(node)
        if saved is None:
            return None
        self._steps_left -= 1
        return check_formula(name, saved, grad_outputs, grad_inputs, operand_shapes, self._elements)

    def _read(self, node: Node) -> dict[str, Any] | None:
        """What the node saved; None where reading would be noticed or is not possible any more."""
        kind = type(node)
        fields = self._fields.get(kind)
        if fields is None:
            fields = self._fields[kind] = _fields_of(kind)
        saved: dict[str, Any] = {}
        try:
            for name, packed in fields:
                if packed is not None and is_hooked(getattr(node, packed)):
                    return None
                saved[name] = getattr(node, name)
        except RuntimeError:
            return None
        for one in saved.values():
            if isinstance(one, torch.Tensor) and _is_wrapped(one):
                return None
        return saved


def _fields_of(kind: type) -> tuple[tuple[str, str | None], ...]:
    """Per saved value its attribute, and that of its packed form where it is a tensor."""
    names = [name for name in dir(kind) if name.startswith("_saved_")]
    return tuple((name, f"_raw{name}" if hasattr(kind, f"_raw{name}") else None) for name in names)


def _is_wrapped(tensor: torch.Tensor) -> bool:
    """True where values are not plain numbers: under torch.func, `is_grads_batched`, and in nested tensors."""
    return originals.is_functorch_wrapped(tensor) or originals.is_legacy_batched(tensor) or tensor.is_nested
