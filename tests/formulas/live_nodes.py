"""Runs real programs through the real engine and looks at every node the way the tracer does: from its hooks."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import Node

from gradwalk.formulas.check import check_formula


@dataclass(frozen=True)
class Visit:
    """One executed node: what went in, what came out, what it had saved."""

    node_name: str
    saved: dict[str, Any]
    grad_outputs: tuple[Tensor | None, ...]
    grad_inputs: tuple[Tensor | None, ...]
    operand_shapes: list[tuple[int, ...] | None]

    def check(self) -> bool | None:
        """The verdict of the module under test."""
        return check_formula(self.node_name, self.saved, self.grad_outputs, self.grad_inputs, self.operand_shapes).holds

    @property
    def has_gradients(self) -> bool:
        """Whether there is anything to compare."""
        pairs = zip(self.grad_inputs, self.operand_shapes, strict=True)
        return any(grad is not None and shape is not None for grad, shape in pairs)

    @property
    def is_telling(self) -> bool:
        """Whether a wrong factor would show: some returned gradient is a number other than 0."""
        return any(
            grad is not None and shape is not None and grad.layout == torch.strided and bool((grad.abs() > 1e-3).any())
            for grad, shape in zip(self.grad_inputs, self.operand_shapes, strict=True)
        )


Met = tuple[str, Visit]
"""Where a node was met, and the node."""


def reachable(outputs: Sequence[Tensor]) -> list[Node]:
    """Every node below the outputs, leaves included, each once."""
    found: dict[Node, None] = {}
    waiting = [output.grad_fn for output in outputs if output.grad_fn is not None]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found[node] = None
            waiting += [following for following, _ in node.next_functions if following is not None]
    return list(found)


def run_backward(outputs: Sequence[Tensor], seed: int = 0, fill: float | None = None) -> list[Visit]:
    """Executes the backward pass from all outputs with random grad_outputs, or all of one number."""
    outputs = [output for output in outputs if output.grad_fn is not None]
    visits: list[Visit] = []
    for node in reachable(outputs):
        if "AccumulateGrad" not in node.name():
            _watch(node, visits)
    generator = torch.Generator().manual_seed(seed)
    seeds = [
        torch.randn(output.shape, dtype=output.dtype, generator=generator)
        if fill is None
        else torch.full_like(output, fill)
        for output in outputs
    ]
    torch.autograd.backward(outputs, seeds)
    return visits


def _watch(node: Node, visits: list[Visit]) -> None:
    saved: dict[str, Any] = {}

    def before(_grad_outputs: tuple[Tensor | None, ...]) -> None:
        for name in dir(node):
            if name.startswith("_saved_"):
                saved[name] = _copied(getattr(node, name))

    def after(grad_inputs: tuple[Tensor | None, ...], grad_outputs: tuple[Tensor | None, ...]) -> None:
        shapes = [
            None if following is None else tuple(following._input_metadata[slot].shape)
            for following, slot in node.next_functions
        ]
        visits.append(
            Visit(node.name(), dict(saved), tuple(map(_copied, grad_outputs)), tuple(map(_copied, grad_inputs)), shapes)
        )

    node.register_prehook(before)
    node.register_hook(after)


def _copied(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, Tensor) else value


def differentiable_tensors(value: Any) -> Iterator[Tensor]:
    """The tensors with a grad_fn in whatever an op returned."""
    if isinstance(value, Tensor):
        if value.grad_fn is not None and not value.is_sparse and value.layout == torch.strided:
            yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from differentiable_tensors(item)


def sample_visits(op: Any, dtype: torch.dtype = torch.float64, limit: int = 12) -> Iterator[Visit]:
    """Every node executed for the first samples of an op of torch's operator database."""
    with warnings.catch_warnings():
        # The database tries deprecated spellings, too.
        warnings.simplefilter("ignore")
        yield from list(_sample_visits(op, dtype, limit))


def _sample_visits(op: Any, dtype: torch.dtype, limit: int) -> Iterator[Visit]:
    torch.manual_seed(0)
    for count, sample in enumerate(op.sample_inputs_func(op, "cpu", dtype, True)):
        if count == limit:
            return
        try:
            outputs = list(differentiable_tensors(op.op(sample.input, *sample.args, **sample.kwargs)))
            yield from run_backward(outputs) if outputs else ()
        except (RuntimeError, NotImplementedError, TypeError):
            # Samples that torch itself cannot differentiate (sparse layouts, ops without a derivative).
            continue


def operators(database: Sequence[Any], dtype: torch.dtype = torch.float64) -> list[Any]:
    """The entries that support autograd in this dtype."""
    return [op for op in database if op.supports_autograd and op.supports_dtype(dtype, "cpu")]
