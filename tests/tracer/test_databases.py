"""Every operator, custom Function and module of PyTorch's own databases: forward and backward traced and compared with
an untraced twin under plain hooks, graph, results, random numbers and errors included.

`skipped_operators.txt` lists what cannot be judged.
"""

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch.utils._pytree import tree_flatten, tree_map

from gradwalk.protocol.requests import ResolvedLimits
from gradwalk.tracer.recorder import Recorder
from gradwalk.tracer.run import recording
from gradwalk.tracer.stream import EventStream
from tests.databases import CHUNKS, is_in, load_custom_functions
from tests.twin import Pass, check_pass, dense, same, watching

LISTED = Path(__file__).with_name("skipped_operators.txt").read_text(encoding="utf-8").splitlines()
SKIPPED = dict(line.split(": ", 1) for line in LISTED if line and not line.startswith("#"))
"""What the databases hold but cannot be judged: the reason by label. A case that is not listed must be judged."""
LIMITS = ResolvedLimits(steps=100_000, elements=1_000_000, jacobian_cells=1_024, jacobian_cells_total=200_000)
ON_DEMAND = LIMITS.model_copy(update={"jacobian_cells": 0})
"""Without Jacobians a pass is told after it ran, of references that hooks took."""
VARIANTS = {
    torch.float64: ("op", "inplace", "view_inplace", "gradgrad"),
    torch.float32: ("op",),
    torch.bfloat16: ("op",),
    torch.complex128: ("op",),
}

Tensors = list[torch.Tensor]
Compute = Callable[[], tuple[Tensors, Tensors]]
"""Builds a graph from a fixed random state; gives differentiable outputs and leaves."""


class Run(NamedTuple):
    """What one computation and its backward left."""

    outputs: Tensors
    leaves: Tensors
    error: Exception | None
    random_state: Any


def run(compute: Compute, mode: Any = None) -> Run:
    outputs, leaves, error = [], [], None
    torch.default_generator.manual_seed(0)
    with warnings.catch_warnings(), mode or warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            outputs, leaves = compute()
            if outputs and all(output.layout == torch.strided for output in outputs):
                torch.autograd.backward(outputs, seeds_for(outputs))
        except Exception as raised:  # noqa: BLE001 (compared, whatever it is)
            error = raised
    return Run(outputs, leaves, error, torch.get_rng_state().tolist())


def seeds_for(outputs: Tensors) -> Tensors:
    """A fixed, uneven external gradient per output."""
    generator = torch.Generator().manual_seed(1)
    seeds = []
    for output in outputs:
        seed = torch.randn(output.shape, generator=generator, dtype=torch.float64)
        if output.is_complex():
            seed = torch.complex(seed, torch.randn(output.shape, generator=generator, dtype=torch.float64))
        seeds.append(seed.to(output.dtype))
    return seeds


def compare(compute: Compute, plain: Run, twin: list[Pass], limits: ResolvedLimits) -> str | None:
    """Judges a traced computation by its untraced twin; the reason when torch leaves nothing to judge."""
    events: list[Any] = []
    stream = EventStream(events.append, limits.stdout_characters)
    recorder = Recorder(stream, limits, None, dict)
    with recording(recorder, stream) as mode:
        traced = run(compute, mode)
    stream.finish()
    if recorder.failure is not None:
        raise recorder.failure
    assert (type(traced.error), str(traced.error)) == (type(plain.error), str(plain.error))
    if plain.error is not None:
        return f"torch itself raises {type(plain.error).__name__}"
    assert traced.random_state == plain.random_state
    for mine, theirs in zip(traced.outputs, plain.outputs, strict=True):
        assert same(dense(mine), theirs)
    if not plain.outputs:
        return "it builds no node"
    if any(output.layout != torch.strided for output in plain.outputs):
        return "the output is sparse"
    for mine, theirs in zip(traced.leaves, plain.leaves, strict=True):
        assert (mine.grad is None) == (theirs.grad is None)
        assert theirs.grad is None or same(dense(mine.grad), theirs.grad)
    passes = [event["pass"] for event in events if event["type"] == "pass_started"]
    assert not any(event.get("hooks") for event in events)
    assert not [event for event in events if event["type"] == "problem"]
    check_pass(events, twin[-1], passes[-1])
    return None


def judge(label: str, samples: Iterable[Compute]) -> None:
    """Compares samples until one could be; a case that has none must be listed, and no other may be."""
    reason: str | None = "the database has no sample"
    for compute in samples:
        with watching() as (twin, _):
            plain = run(compute)
        reason, _ = [compare(compute, plain, twin, limits) for limits in (LIMITS, ON_DEMAND)]
        if reason is None:
            break
    assert reason == SKIPPED.get(label), f"{label}: {reason}"


class Case(NamedTuple):
    """One operator in one dtype and one way of calling it."""

    op: Any
    dtype: torch.dtype
    variant: str

    @property
    def label(self) -> str:
        return f"{self.op.formatted_name}-{str(self.dtype).removeprefix('torch.')}-{self.variant}"


def is_differentiated(op: Any, dtype: torch.dtype, variant: str) -> bool:
    """Whether the database says that torch differentiates this."""
    return (
        op.supports_autograd
        and op.supports_dtype(dtype, "cpu")
        and dtype in op.supported_backward_dtypes("cpu")
        and ("inplace" not in variant or (op.inplace_variant is not None and op.supports_inplace_autograd))
        and (variant != "gradgrad" or op.supports_gradgrad)
    )


def cases(operators: Iterable[Any]) -> Iterator[Case]:
    every = (Case(op, dtype, variant) for op in operators for dtype, those in VARIANTS.items() for variant in those)
    return (case for case in every if is_differentiated(*case))


def fresh(arguments: Any) -> tuple[Any, Tensors]:
    """The arguments of a sample with copies of its tensors, and the leaves among these."""
    leaves: Tensors = []

    def copy_of(entry: Any) -> Any:
        if not isinstance(entry, torch.Tensor):
            return entry
        copy = entry.detach().clone()
        if entry.requires_grad:
            leaves.append(copy.requires_grad_())
        return copy

    return tree_map(copy_of, arguments), leaves


def outputs_of(result: Any) -> Tensors:
    """The differentiable tensors in what a call returned."""
    entries = [entry for entry in tree_flatten(result)[0] if isinstance(entry, torch.Tensor)]
    return [entry for entry in entries if entry.requires_grad and entry.grad_fn is not None]


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
    return (partial(call, case, sample) for sample in case.op.sample_inputs("cpu", case.dtype, requires_grad=True))


def samples_of_module(info: Any, dtype: torch.dtype) -> Iterator[Compute]:
    samples = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=True)
    return (partial(call_module, info, dtype, sample) for sample in samples if sample.forward_input is not None)


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
