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
    seen = set()
    kept = []
    for edge in graph(document)["edges"]:
        ends = (edge["from"]["node"], edge["from"]["output_nr"], edge["to"]["node"])
        if ends not in seen:
            kept.append(edge)
        seen.add(ends)
    assert len(kept) < len(graph(document)["edges"])
    graph(document)["edges"] = kept


def drop_a_repeated_contribution(document: Document) -> None:
    step = next(s for s in steps(document) if len(s["contributions"]) > 1)
    step["contributions"].pop()


def ignore_the_slot(document: Document) -> None:
    for edge in graph(document)["edges"]:
        edge["from"]["output_nr"] = 0


def forget_seeds(document: Document) -> None:
    for step in steps(document):
        step["contributions"] = [c for c in step["contributions"] if c["edge"] != "seed"]


def write_zeros_for_none(document: Document) -> None:
    for step in steps(document):
        values = [v for v in step["grad_outputs"] if "missing" not in v]
        for position, value in enumerate(step["grad_outputs"]):
            if "missing" in value:
                shape = values[0]["shape"]
                step["grad_outputs"][position] = {**values[0], "shape": shape, "data": [0.0] * len(values[0]["data"])}


def order_by_id(document: Document) -> None:
    ordered = iter(sorted(steps(document), key=lambda step: int(step["node"][1:])))
    document["events"] = [next(ordered) if e["type"] == "step" else e for e in document["events"]]


def leave_the_product_unreduced(document: Document) -> None:
    step = next(s for s in steps(document) if any(j["structure"] == "sum_over_copies" for j in s["local_jacobians"]))
    jacobian = next(j for j in step["local_jacobians"] if j["structure"] == "sum_over_copies")
    jacobian["value"]["data"] = [2 * entry for entry in jacobian["value"]["data"]]


def be_off_by_a_millionth(document: Document) -> None:
    step = steps(document)[-1]
    value = step["grad_outputs"][0]
    value["data"] = [entry + 1e-6 for entry in value["data"]]


def swap_operands(document: Document) -> None:
    step = next(s for s in steps(document) if len(s["grad_inputs"]) == 2 and s["grad_inputs"][0] != s["grad_inputs"][1])
    step["grad_inputs"].reverse()


WRONG: list[Callable[[Document], None]] = [
    drop_a_repeated_edge,
    drop_a_repeated_contribution,
    ignore_the_slot,
    forget_seeds,
    write_zeros_for_none,
    order_by_id,
    leave_the_product_unreduced,
    be_off_by_a_millionth,
    swap_operands,
]


def test_the_right_tracer_passes() -> None:
    document, twin = right()
    check_pass(document["events"], twin)


@pytest.mark.parametrize("be_wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_a_wrong_tracer_is_caught(be_wrong: Callable[[Document], None]) -> None:
    document, twin = right()
    wrong = copy.deepcopy(document)
    be_wrong(wrong)
    assert wrong != document
    with pytest.raises(Nonconformity):
        check_pass(wrong["events"], twin)
