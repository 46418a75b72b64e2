"""Deliberately wrong tracers: each way of being wrong must be caught by the conformance check.

A wrong tracer is played by rewriting a right document the way that tracer would have written it.
"""

import copy

import pytest
import torch

from gradwalk.notebook.recording import trace_tensors
from gradwalk.protocol.merging import merge
from gradwalk.protocol.requests import Limits
from tests.twin import Nonconformity, check_pass, watching


def program():
    """A repeat, a fan-out, a broadcast, a multi-output node with an unused output, two outputs with seeds."""
    x = torch.tensor([[1.5, -2.0, 0.5], [3.0, 0.25, -1.0]], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([2.0, -1.0, 4.0], dtype=torch.float64, requires_grad=True)
    y = x * x
    _, second = torch.unbind(y * w)
    z = second.sin() + second
    return [z, y], [torch.tensor([1.0, -2.0, 3.0]).double(), torch.full((2, 3), 0.5).double()]


def repeated_edges_once(graph, steps):
    edges = {(e["from"]["node"], e["from"]["output_nr"], e["to"]["node"]): e for e in graph["edges"]}
    graph["edges"] = [*edges.values()]


def zeros_for_none(graph, steps):
    for step in steps:
        given = next(value for value in step["grad_outputs"] if "missing" not in value)
        zeros = {**given, "data": [0.0] * len(given["data"])}
        step["grad_outputs"] = [zeros if "missing" in value else value for value in step["grad_outputs"]]


def a_product_not_reduced(graph, steps):
    jacobians = [one for step in steps for one in step["local_jacobians"]]
    value = next(one["value"] for one in jacobians if one["structure"] == "sum_over_copies")
    value["data"] = [2 * entry for entry in value["data"]]


def off_by_a_millionth(graph, steps):
    value = steps[-1]["grad_outputs"][0]
    value["data"] = [entry + 1e-6 for entry in value["data"]]


WRONG = {
    "repeated edges once": repeated_edges_once,
    "a contribution dropped": lambda _, steps: next(s for s in steps if s["contributions"][1:])["contributions"].pop(),
    "zeros for None": zeros_for_none,
    "steps in order of ids": lambda _, steps: steps.sort(key=lambda step: int(step["node"][1:])),
    "a product not reduced": a_product_not_reduced,
    "off by a millionth": off_by_a_millionth,
    "operands swapped": lambda _, steps: next(
        step for step in steps if step["grad_inputs"] != step["grad_inputs"][::-1]
    )["grad_inputs"].reverse(),
}


@pytest.mark.parametrize("be_wrong", WRONG.values(), ids=WRONG)
def test_a_wrong_tracer_is_caught(be_wrong):
    with watching() as (passes, _):
        torch.autograd.backward(*program())
    right = merge(trace_tensors(*program(), limits=Limits(jacobian_cells=10_000)).document["events"])
    check_pass(right, passes[0])
    wrong = copy.deepcopy(right)
    steps = [event for event in wrong if event["type"] == "step"]
    be_wrong(next(event["graph"] for event in wrong if event["type"] == "pass_started"), steps)
    others = iter(steps)
    wrong = [next(others) if event["type"] == "step" else event for event in wrong]
    assert wrong != right
    with pytest.raises(Nonconformity):
        check_pass(wrong, passes[0])
