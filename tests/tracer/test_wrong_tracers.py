"""Deliberately wrong tracers: each way of being wrong must be caught by the conformance check.

A wrong tracer is played by rewriting a right document the way that tracer would have written it.
"""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch

from gradwalk.notebook.recording import trace_tensors
from gradwalk.protocol.merging import merge
from gradwalk.protocol.requests import Limits
from tests.twin import Nonconformity, Pass, check_pass, watching

Document = dict[str, Any]


def program() -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """A repeat, a fan-out, a broadcast, a multi-output node with an unused output, two outputs with seeds."""
    x = torch.tensor([[1.5, -2.0, 0.5], [3.0, 0.25, -1.0]], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([2.0, -1.0, 4.0], dtype=torch.float64, requires_grad=True)
    y = x * x
    _, second = torch.unbind(y * w)
    z = second.sin() + second
    seeds = [torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64), torch.full((2, 3), 0.5, dtype=torch.float64)]
    return [z, y], seeds


def right() -> tuple[Document, Pass]:
    outputs, seeds = program()
    with watching() as (passes, _):
        torch.autograd.backward(outputs, seeds)
    outputs, seeds = program()
    document = trace_tensors(outputs, seeds, limits=Limits(jacobian_cells=10_000)).document
    return {**document, "events": merge(document["events"])}, passes[0]


def steps(document: Document) -> list[dict[str, Any]]:
    return [event for event in document["events"] if event["type"] == "step"]


def graph(document: Document) -> dict[str, Any]:
    return next(event["graph"] for event in document["events"] if event["type"] == "pass_started")


def drop_a_repeated_edge(document: Document) -> None:
    edges = {(e["from"]["node"], e["from"]["output_nr"], e["to"]["node"]): e for e in graph(document)["edges"]}
    graph(document)["edges"] = [*edges.values()]


def drop_a_repeated_contribution(document: Document) -> None:
    next(step for step in steps(document) if len(step["contributions"]) > 1)["contributions"].pop()


def ignore_the_slot(document: Document) -> None:
    for edge in graph(document)["edges"]:
        edge["from"]["output_nr"] = 0


def forget_seeds(document: Document) -> None:
    for step in steps(document):
        step["contributions"] = [one for one in step["contributions"] if one["edge"] != "seed"]


def write_zeros_for_none(document: Document) -> None:
    for step in steps(document):
        given = next(value for value in step["grad_outputs"] if "missing" not in value)
        zeros = {**given, "data": [0.0] * len(given["data"])}
        step["grad_outputs"] = [zeros if "missing" in value else value for value in step["grad_outputs"]]


def order_by_id(document: Document) -> None:
    ordered = iter(sorted(steps(document), key=lambda step: int(step["node"][1:])))
    document["events"] = [next(ordered) if e["type"] == "step" else e for e in document["events"]]


def leave_the_product_unreduced(document: Document) -> None:
    jacobians = [one for step in steps(document) for one in step["local_jacobians"]]
    value = next(one["value"] for one in jacobians if one["structure"] == "sum_over_copies")
    value["data"] = [2 * entry for entry in value["data"]]


def be_off_by_a_millionth(document: Document) -> None:
    value = steps(document)[-1]["grad_outputs"][0]
    value["data"] = [entry + 1e-6 for entry in value["data"]]


def swap_operands(document: Document) -> None:
    next(s for s in steps(document) if s["grad_inputs"] != s["grad_inputs"][::-1])["grad_inputs"].reverse()


WRONG = [
    drop_a_repeated_edge, drop_a_repeated_contribution, ignore_the_slot, forget_seeds, write_zeros_for_none,
    order_by_id, leave_the_product_unreduced, be_off_by_a_millionth, swap_operands,
]  # fmt: skip


@pytest.mark.parametrize("be_wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_a_wrong_tracer_is_caught(be_wrong: Callable[[Document], None]) -> None:
    document, twin = right()
    check_pass(document["events"], twin)
    wrong = copy.deepcopy(document)
    be_wrong(wrong)
    assert wrong != document
    with pytest.raises(Nonconformity):
        check_pass(wrong["events"], twin)
