"""Every operator, custom Function and module of PyTorch's own databases: forward and backward traced and compared with
an untraced twin under plain hooks, graph, results, random numbers and errors included.

`skipped_operators.txt` lists what cannot be judged.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import torch

from tests.databases import CHUNKS, is_in, load_custom_functions
from tests.tracer.traced_calls import SKIPPED, Compute, Tensors, fresh, judge, outputs_of, seeds_for

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


def call(case: Case, sample: Any) -> tuple[Tensors, Tensors]:
    """Differentiable outputs and leaves of one call; leaves are fresh copies of the sample's."""
    (first, args, kwargs), leaves = fresh((sample.input, sample.args, sample.kwargs))
    if case.variant == "inplace":
        result = case.op.inplace_variant(first.clone(), *args, **kwargs)
    elif case.variant == "view_inplace":
        result = first.clone().unsqueeze(0)
        case.op.inplace_variant(result[0], *args, **kwargs)
    else:
        result = case.op(first, *args, **kwargs)
    outputs = outputs_of(result)
    if case.variant == "gradgrad" and outputs:
        seeds = [seed.requires_grad_() for seed in seeds_for(outputs)]
        first_order = torch.autograd.grad(outputs, leaves, seeds, create_graph=True, allow_unused=True)
        outputs = [gradient for gradient in first_order if gradient is not None and gradient.grad_fn is not None]
        leaves = leaves + seeds
    return outputs, leaves


def call_module(info: Any, dtype: torch.dtype, sample: Any) -> tuple[Tensors, Tensors]:
    """Differentiable outputs and leaves of one call of a new module."""
    made, given = sample.constructor_input, sample.forward_input
    module = info.module_cls(*made.args, **made.kwargs).to(dtype=dtype)
    (args, kwargs), leaves = fresh((given.args, given.kwargs))
    return outputs_of(module(*args, **kwargs)), leaves + list(module.parameters())


def samples_of(case: Case) -> Iterator[Compute]:
    for sample in case.op.sample_inputs("cpu", case.dtype, requires_grad=True):
        yield partial(call, case, sample)


def samples_of_module(info: Any, dtype: torch.dtype) -> Iterator[Compute]:
    for sample in info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=True):
        if sample.forward_input is not None:
            yield partial(call_module, info, dtype, sample)


def wrong_of(samples: Iterable[tuple[str, Callable[[], Iterator[Compute]]]]) -> dict[str, Exception]:
    """By label, what the trace of a case has wrong."""
    wrong = {}
    for label, of_label in samples:
        try:
            judge(label, of_label())
        except Exception as error:  # noqa: BLE001, PERF203 (collected, whatever it is)
            wrong[label] = error
    return wrong


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunk", CHUNKS)
def test_the_trace_of_an_operator_is_what_the_engine_did(chunk: int, operator_database: list[Any]) -> None:
    chosen = [one for one in cases([*operator_database, *load_custom_functions()]) if is_in(chunk, one.label)]
    assert wrong_of((case.label, partial(samples_of, case)) for case in chosen) == {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunk", CHUNKS)
def test_the_trace_of_a_module_is_what_the_engine_did(chunk: int, module_database: list[Any]) -> None:
    labelled = [
        (f"{info.formatted_name}-{str(dtype).removeprefix('torch.')}-module", partial(samples_of_module, info, dtype))
        for info, dtype in itertools.product(module_database, (torch.float64, torch.bfloat16))
        if dtype in info.supported_dtypes("cpu")
    ]
    assert wrong_of((label, samples) for label, samples in labelled if is_in(chunk, label)) == {}


def test_what_the_database_rules_out_is_listed(operator_database: list[Any]) -> None:
    ruled_out = {
        Case(op, torch.float64, "op").label: reason
        for op in (*operator_database, *load_custom_functions())
        if (reason := reason_against(op, torch.float64, "op")) is not None
    }
    labels = {case.label for case in cases([*operator_database, *load_custom_functions()])}
    listed = {label: reason for label, reason in SKIPPED.items() if label.endswith("-float64-op")}
    assert {label: reason for label, reason in listed.items() if label not in labels} == ruled_out
