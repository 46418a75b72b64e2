"""Every operator that PyTorch's own database says is differentiable: forward and backward traced, and compared with an
untraced twin under plain hooks, graph, results, random numbers and errors included.

The databases of modules and of custom Functions are in the files beside this one. `skipped_operators.txt` lists what
cannot be judged. `GRADWALK_SAMPLES` raises the number of samples per case (default 1) for a long run.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_flatten, tree_map

from tests.databases import CHUNKS, is_in, load_custom_functions
from tests.tracer import skips
from tests.tracer.traced_calls import Tensors, seeds_for

VARIANTS = {
    torch.float64: ("op", "inplace", "view_inplace", "gradgrad"),
    torch.float32: ("op",),
    torch.bfloat16: ("op",),
    torch.complex128: ("op",),
}


@dataclass(frozen=True)
class Case:
    """One operator in one dtype and one way of calling it."""

    op: Any
    dtype: torch.dtype
    variant: str

    @property
    def label(self) -> str:
        return f"{self.op.formatted_name}-{str(self.dtype).removeprefix('torch.')}-{self.variant}"


def reason_against(op: Any, dtype: torch.dtype, variant: str) -> str | None:
    """Why the database itself rules a case out."""
    if not op.supports_autograd:
        return "torch does not differentiate it"
    if not op.supports_dtype(dtype, "cpu") or dtype not in op.supported_backward_dtypes("cpu"):
        return f"torch does not differentiate it in {str(dtype).removeprefix('torch.')}"
    if "inplace" in variant and (op.inplace_variant is None or not op.supports_inplace_autograd):
        return "it has no differentiable in-place variant"
    if variant == "gradgrad" and not op.supports_gradgrad:
        return "torch does not differentiate it twice"
    return None


def cases(database: Any) -> Iterator[Case]:
    for op in database:
        for dtype, variants in VARIANTS.items():
            for variant in variants:
                if reason_against(op, dtype, variant) is None:
                    yield Case(op, dtype, variant)


def compute(case: Case, sample: Any) -> tuple[Tensors, Tensors]:
    """Differentiable outputs and leaves of one call; leaves are fresh copies of the sample's."""
    leaves: Tensors = []

    def fresh(entry: Any) -> Any:
        if not isinstance(entry, torch.Tensor):
            return entry
        copy = entry.detach().clone()
        if entry.requires_grad:
            copy.requires_grad_()
            leaves.append(copy)
        return copy

    first, args, kwargs = tree_map(fresh, (sample.input, sample.args, sample.kwargs))
    if case.variant == "inplace":
        result = case.op.inplace_variant(first.clone(), *args, **kwargs)
    elif case.variant == "view_inplace":
        result = first.clone().unsqueeze(0)
        case.op.inplace_variant(result[0], *args, **kwargs)
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
        outputs = [gradient for gradient in first_order if gradient is not None and gradient.grad_fn is not None]
        leaves = leaves + seeds
    return outputs, leaves


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunk", CHUNKS)
def test_the_trace_is_what_the_engine_did(chunk: int, operator_database: list[Any]) -> None:
    wrong = {}
    for case in cases([*operator_database, *load_custom_functions()]):
        if not is_in(chunk, case.label):
            continue
        samples = case.op.sample_inputs("cpu", case.dtype, requires_grad=True)
        try:
            skips.judge(case.label, (partial(compute, case, sample) for sample in samples))
        except Exception as error:  # noqa: BLE001 (collected, whatever it is)
            wrong[case.label] = error
    assert wrong == {}


def test_what_the_database_rules_out_is_listed(operator_database: list[Any]) -> None:
    ruled_out = {
        Case(op, torch.float64, "op").label: reason
        for op in (*operator_database, *load_custom_functions())
        if (reason := reason_against(op, torch.float64, "op")) is not None
    }
    labels = {case.label for case in cases([*operator_database, *load_custom_functions()])}
    listed = {label: reason for label, reason in skips.SKIPPED.items() if label.endswith("-float64-op")}
    assert {label: reason for label, reason in listed.items() if label not in labels} == ruled_out
