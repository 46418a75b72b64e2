"""Every operator that PyTorch's own database says is differentiable, traced and compared with plain hooks.

`GRADWALK_SAMPLES` raises the number of samples per operator (default 1) for a long run.
"""

import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from gradwalk.notebook.recording import trace_tensors
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_map

from gradwalk.protocol.requests import Limits
from tests.tracer import conformance

SAMPLES = int(os.environ.get("GRADWALK_SAMPLES", "1"))
LIMITS = Limits(steps=100_000, elements=1_000_000, jacobian_cells=1_024)
RAISES_WITHOUT_A_TRACER = "raises in torch itself"

Compute = Callable[[], tuple[list[torch.Tensor], list[torch.Tensor]]]


@dataclass(frozen=True)
class Case:
    """One operator in one dtype and one way of calling it."""

    op: Any
    dtype: torch.dtype
    variant: str

    @property
    def label(self) -> str:
        return f"{self.op.formatted_name}-{str(self.dtype).removeprefix('torch.')}-{self.variant}"


def cases() -> Iterator[Case]:
    for op in op_db:
        for dtype, variants in (
            (torch.float64, ("op", "inplace", "view_inplace", "gradgrad")),
            (torch.float32, ("op",)),
            (torch.bfloat16, ("op",)),
            (torch.complex128, ("op",)),
        ):
            if not op.supports_autograd or not op.supports_dtype(dtype, "cpu"):
                continue
            if dtype not in op.supported_backward_dtypes("cpu"):
                continue
            for variant in variants:
                if "inplace" in variant and (op.inplace_variant is None or not op.supports_inplace_autograd):
                    continue
                if variant == "gradgrad" and not op.supports_gradgrad:
                    continue
                yield Case(op, dtype, variant)


CASES = list(cases())


def leaves_of(sample: Any) -> tuple[Any, list[torch.Tensor]]:
    """The sample with fresh leaves in the place of its differentiable tensors."""
    leaves: list[torch.Tensor] = []

    def fresh(entry: Any) -> Any:
        if not isinstance(entry, torch.Tensor):
            return entry
        copy = entry.detach().clone()
        if entry.requires_grad:
            copy.requires_grad_()
            leaves.append(copy)
        return copy

    return tree_map(fresh, (sample.input, sample.args, sample.kwargs)), leaves


def compute(case: Case, sample: Any) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Differentiable outputs and leaves of one call."""
    torch.manual_seed(0)
    (first, args, kwargs), leaves = leaves_of(sample)
    if case.variant == "inplace":
        result = case.op.inplace_variant(first.clone(), *args, **kwargs)
    elif case.variant == "view_inplace":
        base = first.clone().unsqueeze(0)
        case.op.inplace_variant(base[0], *args, **kwargs)
        result = base
    else:
        result = case.op(first, *args, **kwargs)
    outputs = [
        entry
        for entry in tree_flatten(result)[0]
        if isinstance(entry, torch.Tensor) and entry.requires_grad and entry.grad_fn is not None
    ]
    if case.variant == "gradgrad" and outputs:
        seeds = [seed.requires_grad_() for seed in seeds_for(outputs)]
        first_order = torch.autograd.grad(outputs, leaves, seeds, create_graph=True, allow_unused=True)
        outputs = [g for g in first_order if g is not None and g.grad_fn is not None]
        leaves = leaves + seeds
    return outputs, leaves


def seeds_for(outputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """A fixed, uneven external gradient per output."""
    generator = torch.Generator().manual_seed(1)
    seeds = []
    for output in outputs:
        seed = torch.randn(output.shape, generator=generator, dtype=torch.float64)
        if output.is_complex():
            seed = torch.complex(seed, torch.randn(output.shape, generator=generator, dtype=torch.float64))
        seeds.append(seed.to(output.dtype))
    return seeds


def plain_backward(case: Case, sample: Any) -> tuple[conformance.Twin, list[torch.Tensor | None]]:
    outputs, leaves = compute(case, sample)
    seeds = seeds_for(outputs)
    twin = conformance.watch_backward(outputs, seeds, lambda: torch.autograd.backward(outputs, seeds))
    return twin, [leaf.grad for leaf in leaves]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=[case.label for case in CASES])
def test_the_trace_is_what_the_engine_did(case: Case) -> None:
    checked = 0
    for sample in case.op.sample_inputs("cpu", case.dtype, requires_grad=True):
        if checked == SAMPLES:
            break
        checked += check_sample(case, sample)


def check_sample(case: Case, sample: Any) -> int:
    """1 when the sample could be checked, 0 when torch itself refuses it or nothing is differentiable."""
    try:
        twin, expected = plain_backward(case, sample)
    except (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError):
        return 0
    if not twin.steps or any(node.name().startswith("Sparse") for node in twin.order):
        return 0
    outputs, leaves = compute(case, sample)
    if not outputs or any(output.layout != torch.strided for output in outputs):
        return 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace = trace_tensors(outputs, seeds_for(outputs), limits=LIMITS)
    conformance.check_pass(trace.document, twin)
    for leaf, grad in zip(leaves, expected, strict=True):
        mine = None if leaf.grad is None else conformance.dense(leaf.grad)
        assert (mine is None) == (grad is None)
        assert grad is None or mine is None or conformance.same(mine, grad)
    return 1
