"""One computation with its backward pass, twice: untraced under plain hooks, and under the whole recorder."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

from gradwalk.protocol.requests import ResolvedLimits
from gradwalk.tracer.recorder import Recorder
from gradwalk.tracer.run import recording
from gradwalk.tracer.stream import EventStream
from tests.twin import Pass, check_pass, dense, same, watching

SKIPPED = dict(
    line.split(": ", 1)
    for line in Path(__file__).with_name("skipped_operators.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)
"""What the databases hold but cannot be judged: the reason by label. A case that is not listed must be judged."""
LIMITS = ResolvedLimits(steps=100_000, elements=1_000_000, jacobian_cells=1_024, jacobian_cells_total=200_000)
ON_DEMAND = LIMITS.model_copy(update={"jacobian_cells": 0})
"""Without Jacobians a pass is told after it ran, of references that hooks took."""

Tensors = list[torch.Tensor]
Compute = Callable[[], tuple[Tensors, Tensors]]
"""Builds a graph from a fixed random state; gives differentiable outputs and leaves."""


def judge(label: str, samples: Iterable[Compute]) -> None:
    """Compares samples until enough could be; a case that has none must be listed, and no other may be."""
    judged, reason = 0, "the database has no sample"
    for compute in samples:
        why = compare_with_twin(compute)
        judged, reason = judged + (why is None), why or reason
        if judged:
            break
    found = None if judged else reason
    assert found == SKIPPED.get(label), f"{label}: {found}"


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


@dataclass
class Run:
    """What one computation and its backward left."""

    outputs: Tensors = field(default_factory=list)
    leaves: Tensors = field(default_factory=list)
    error: Exception | None = None
    random_state: Any = None


def seeds_for(outputs: Sequence[torch.Tensor]) -> Tensors:
    """A fixed, uneven external gradient per output."""
    generator = torch.Generator().manual_seed(1)
    seeds = []
    for output in outputs:
        seed = torch.randn(output.shape, generator=generator, dtype=torch.float64)
        if output.is_complex():
            seed = torch.complex(seed, torch.randn(output.shape, generator=generator, dtype=torch.float64))
        seeds.append(seed.to(output.dtype))
    return seeds


def compare_with_twin(compute: Compute) -> str | None:
    """Judges the trace of a computation and its backward; the reason when torch leaves nothing to judge.

    Raises:
        AssertionError: the trace, a result, a gradient, an error or the random state is not that of the untraced twin.
    """
    with watching() as (twin, _):
        plain = _run(compute, torch.autograd.backward)
    reasons = [_judge(compute, plain, twin, limits) for limits in (LIMITS, ON_DEMAND)]
    return reasons[0]


def _judge(compute: Compute, plain: Run, twin: list[Pass], limits: ResolvedLimits) -> str | None:
    events: list[Any] = []
    stream = EventStream(events.append, limits.stdout_characters)
    recorder = Recorder(stream, limits, None, dict)
    with recording(recorder, stream) as mode:
        traced = _run(compute, torch.autograd.backward, mode)
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


def _run(compute: Compute, backward: Callable[[Tensors, Tensors], Any], mode: Any = None) -> Run:
    run = Run()
    torch.manual_seed(0)
    with warnings.catch_warnings(), mode or warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run.outputs, run.leaves = compute()
            if run.outputs and all(output.layout == torch.strided for output in run.outputs):
                backward(run.outputs, seeds_for(run.outputs))
        except Exception as error:  # noqa: BLE001 (compared, whatever it is)
            run.error = error
    run.random_state = torch.get_rng_state().tolist()
    return run
