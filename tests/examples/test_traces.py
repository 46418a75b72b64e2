"""Every step of every example is what plain hooks see; traced gradients are the untraced ones, bit for bit."""

import pytest
import torch

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.examples.example import Example
from gradwalk.protocol.merging import merge
from tests.examples.plain import run_plainly
from tests.examples.plain_passes import watched_passes
from tests.examples.traced import trace_example
from tests.tracer.conformance import check_pass, check_topology, same, tensor_of


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)
def test_every_step_is_what_plain_hooks_see(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    document = trace_example(example.slug)
    with watched_passes(monkeypatch) as plain:
        run_plainly(example)

    started = [event for event in document["events"] if event["type"] == "pass_started"]
    assert len(started) == len(plain)
    for index, expected in enumerate(plain):
        if not expected.batched:
            check_pass(document, expected.twin, index)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)
def test_leaf_gradients_are_bit_identical_to_an_untraced_run(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    document = trace_example(example.slug)
    with watched_passes(monkeypatch) as plain:
        run_plainly(example)

    compared = 0
    finished = {event["pass"]: event for event in document["events"] if event["type"] == "pass_finished"}
    for started in (event for event in document["events"] if event["type"] == "pass_started"):
        expected = plain[started["pass"]]
        if expected.batched or started["pass"] not in finished:
            continue
        recorded = {entry["leaf"]: entry["grad"] for entry in finished[started["pass"]]["leaf_grads"]}
        leaves = {node["id"]: node.get("leaf") for node in started["graph"]["nodes"]}
        for node_id, node in zip(check_topology(started, expected.twin), expected.twin.order, strict=True):
            if leaves[node_id] in recorded:
                assert same(tensor_of(recorded[leaves[node_id]]), expected.leaf_grads[node])
                compared += 1
    has_named_leaves = any(event["leaf_grads"] for event in finished.values())
    assert (compared > 0) == (has_named_leaves and not all(one.batched for one in plain))


def test_only_a_backward_that_ignores_v_has_a_jacobian_that_v_does_not_reproduce() -> None:
    unchecked = {
        example.slug
        for example in EXAMPLES
        for event in merge(trace_example(example.slug)["events"])
        if event["type"] == "step" and any(jacobian.get("checked") is False for jacobian in event["local_jacobians"])
    }
    assert unchecked == {"returned-jacobian"}


def test_rows_of_v_at_once_are_the_passes_one_by_one() -> None:
    """The batched pass against three single ones, which plain hooks have judged already."""
    together = [event for event in trace_example("whole-jacobian")["events"] if event["type"] == "step"]
    one_by_one = [event for event in trace_example("rows-of-j")["events"] if event["type"] == "step"]
    rows = [[step for step in one_by_one if step["pass"] == index] for index in range(3)]

    assert len(together) == 5, "grad() asks for p alone, so p accumulates nothing"
    for step, *single in zip(together, *(row[:5] for row in rows), strict=True):
        for part in ("grad_outputs", "grad_inputs"):
            for position, value in enumerate(step[part]):
                stacked = torch.stack([tensor_of(one[part][position]) for one in single])
                torch.testing.assert_close(tensor_of(value), stacked, rtol=0, atol=0)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)
def test_an_example_opens_at_a_step_that_exists(example: Example) -> None:
    document = trace_example(example.slug)
    step, phase = map(int, example.start.split("."))
    assert 1 <= step <= document["events"][-1]["steps"]
    assert 1 <= phase <= 5


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)
def test_the_trace_prints_what_the_program_prints(example: Example) -> None:
    document = trace_example(example.slug)
    _, printed, error = run_plainly(example)
    traced = "".join(event["text"] for event in document["events"] if event["type"] == "stdout")
    assert traced.splitlines() == printed
    problems = [event for event in document["events"] if event["type"] == "problem"]
    assert bool(problems) == bool(error)
