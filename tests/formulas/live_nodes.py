"""Runs real programs through the real engine and looks at every node the way the tracer does: from its hooks."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from gradwalk.formulas.check import check_formula
from tests.twin import Step, watching


@dataclass(frozen=True)
class Visit:
    """One executed node: what went in, what came out, what it had saved."""

    node_name: str
    saved: dict[str, Any]
    grad_outputs: tuple[Tensor | None, ...]
    grad_inputs: tuple[Tensor | None, ...]
    operand_shapes: list[tuple[int, ...] | None]

    @classmethod
    def of(cls, step: Step) -> "Visit":
        """A step of a pass whose graph is still there."""
        node = step.node
        saved = {name: _copied(getattr(node, name)) for name in dir(node) if name.startswith("_saved_")}
        shapes = [after and tuple(after._input_metadata[slot].shape) for after, slot in node.next_functions]
        return cls(node.name(), saved, step.grad_outputs, step.grad_inputs, shapes)

    def check(self) -> bool | None:
        """The verdict of the module under test."""
        return check_formula(self.node_name, self.saved, self.grad_outputs, self.grad_inputs, self.operand_shapes).holds

    @property
    def has_gradients(self) -> bool:
        """Whether there is anything to compare."""
        return bool(self._compared())

    @property
    def is_telling(self) -> bool:
        """Whether a wrong factor would show: some returned gradient is a number other than 0."""
        return any(bool((grad.abs() > 1e-3).any()) for grad in self._compared())

    def _compared(self) -> list[Tensor]:
        pairs = zip(self.grad_inputs, self.operand_shapes, strict=True)
        return [grad for grad, shape in pairs if grad is not None and shape is not None]


Met = tuple[str, Visit]
"""Where a node was met, and the node."""


def _copied(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, Tensor) else value


def run_backward(outputs: Sequence[Tensor], seed: int = 0, fill: float | None = None) -> list[Visit]:
    """Executes the backward pass from all outputs with random grad_outputs, or all of one number."""
    outputs = [output for output in outputs if output.grad_fn is not None]
    generator = torch.Generator().manual_seed(seed)
    seeds = [torch.randn(output.shape, dtype=output.dtype, generator=generator) for output in outputs]
    seeds = seeds if fill is None else [torch.full_like(output, fill) for output in outputs]
    with watching() as (_, steps):
        torch.autograd.backward(outputs, seeds, retain_graph=True)
    return [Visit.of(step) for step in steps if "AccumulateGrad" not in step.name]


def differentiable_tensors(value: Any) -> list[Tensor]:
    """The tensors with a grad_fn in whatever an op returned."""
    found = [one for one in tree_leaves(value) if isinstance(one, Tensor) and one.grad_fn is not None]
    return [one for one in found if not one.is_sparse and one.layout == torch.strided]


def database_visits(database: Sequence[Any], dtype: torch.dtype = torch.float64, limit: int = 12) -> Iterator[Met]:
    """Every node executed for the first samples of each operator of torch's database, with the operator's name."""
    for op in database:
        if op.supports_autograd and op.supports_dtype(dtype, "cpu"):
            with warnings.catch_warnings():
                # The database tries deprecated spellings, too.
                warnings.simplefilter("ignore")
                visits = list(_sample_visits(op, dtype, limit))
            yield from ((op.full_name, visit) for visit in visits)


def _sample_visits(op: Any, dtype: torch.dtype, limit: int) -> Iterator[Visit]:
    torch.manual_seed(0)
    for count, sample in enumerate(op.sample_inputs_func(op, "cpu", dtype, True)):
        if count == limit:
            return
        try:
            outputs = differentiable_tensors(op.op(sample.input, *sample.args, **sample.kwargs))
            yield from run_backward(outputs) if outputs else ()
        except (RuntimeError, NotImplementedError, TypeError):
            # Samples that torch itself cannot differentiate (sparse layouts, ops without a derivative).
            continue
