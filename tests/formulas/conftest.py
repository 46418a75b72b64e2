"""Runs real programs through the real engine and looks at every node the way the tracer does: from its hooks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd.graph import Node
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo

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
        return check_formula(self.node_name, self.saved, self.grad_outputs, self.grad_inputs, self.operand_shapes)


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


def run_backward(outputs: Sequence[Tensor], seed: int = 0) -> list[Visit]:
    """Executes the backward pass from all outputs with random grad_outputs."""
    outputs = [output for output in outputs if output.grad_fn is not None]
    visits: list[Visit] = []
    for node in reachable(outputs):
        if "AccumulateGrad" not in node.name():
            _watch(node, visits)
    generator = torch.Generator().manual_seed(seed)
    seeds = [torch.randn(output.shape, dtype=output.dtype, generator=generator) for output in outputs]
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


def sample_visits(op: OpInfo, dtype: torch.dtype = torch.float64, limit: int = 12) -> Iterator[Visit]:
    """Every node executed for the first samples of an op of torch's operator database."""
    torch.manual_seed(0)
    for count, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=True)):
        if count == limit:
            return
        try:
            outputs = list(differentiable_tensors(op.op(sample.input, *sample.args, **sample.kwargs)))
            yield from run_backward(outputs) if outputs else ()
        except (RuntimeError, NotImplementedError, TypeError):
            # Samples that torch itself cannot differentiate (sparse layouts, ops without a derivative).
            continue


@pytest.fixture(scope="session")
def operators() -> list[OpInfo]:
    """The operator database: the entries that support autograd in float64."""
    return [op for op in op_db if op.supports_autograd and op.supports_dtype(torch.float64, "cpu")]


@pytest.fixture(scope="session")
def visits_of_operators(operators: list[OpInfo]) -> dict[str, list[tuple[str, Visit]]]:
    """All nodes met in the operator database by node name, with the op in whose sample each was met."""
    met: dict[str, list[tuple[str, Visit]]] = {}
    for op in operators:
        for visit in sample_visits(op):
            met.setdefault(visit.node_name, []).append((op.full_name, visit))
    return met


@pytest.fixture(scope="session")
def visit_all() -> Callable[..., list[Visit]]:
    """`run_backward` for tests."""
    return run_backward
