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
from gradwalk.tracer import links, recorder
from gradwalk.tracer.description import GraphWriter
from gradwalk.tracer.gradients import StepGradients
from gradwalk.tracer.recorder import Recorder
from gradwalk.tracer.sides import Side
from gradwalk.tracer.stream import EventStream
from gradwalk.tracer.values import ValueTable
from tests.tracer import conformance

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


def right() -> tuple[Document, conformance.Twin]:
    outputs, seeds = program()
    twin = conformance.watch_backward(outputs, seeds, lambda: torch.autograd.backward(outputs, seeds))
    outputs, seeds = program()
    document = trace_tensors(outputs, seeds, limits=Limits(jacobian_cells=10_000)).document
    return {**document, "events": merge(document["events"])}, twin


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
    judge(*right())


@pytest.mark.parametrize("be_wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_a_wrong_tracer_is_caught(be_wrong: Callable[[Document], None]) -> None:
    document, twin = right()
    wrong = copy.deepcopy(document)
    be_wrong(wrong)
    assert wrong != document
    with pytest.raises(conformance.Nonconformity):
        conformance.check_pass(wrong, twin)


# The same seven, not played but built in: the tracer itself is made wrong, and the suite's judge sees it.


def broken_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drops a repeated edge."""
    write = GraphWriter.write

    def written(*args: Any, **kwargs: Any) -> Any:
        graph = write(*args, **kwargs)
        ends = [(edge["from"]["node"], edge["to"]["node"]) for edge in graph["edges"]]
        graph["edges"] = [edge for at, edge in enumerate(graph["edges"]) if ends[at] not in ends[:at]]
        return graph

    monkeypatch.setattr(GraphWriter, "write", written)


def broken_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ignores the slot that a gradient goes to."""
    link = links.link

    def linked(one: Any, *about: Any) -> None:
        link(one, *about)
        for entry in one.nodes.values():
            entry.targets = [(receiver, 0, edge) for receiver, _, edge in entry.targets]

    monkeypatch.setattr(recorder, "link", linked)


def broken_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forgets the seeds."""
    outputs = Recorder._outputs

    def forgetting(recorder: Recorder, one: Any, begun: Any) -> Any:
        found = outputs(recorder, one, begun)
        for entry in one.nodes.values():
            for arrived in entry.arrived:
                arrived.clear()
        return found

    monkeypatch.setattr(Recorder, "_outputs", forgetting)


def broken_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes zeros for what is undefined."""
    value_of = StepGradients.value_of
    zeros = {"shape": [3], "dtype": "float64", "data": [0.0, 0.0, 0.0]}
    monkeypatch.setattr(StepGradients, "value_of", lambda self, one: zeros if one is None else value_of(self, one))


def broken_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tells the steps in the order of their nodes' ids."""
    send = EventStream.send
    waiting: list[Any] = []

    def sent(stream: EventStream, event: dict[str, Any]) -> None:
        if event["type"] == "step":
            waiting.append(event)
            return
        if event["type"] == "pass_finished":
            for step in sorted(waiting, key=lambda step: int(step["node"][1:])):
                send(stream, step)
        send(stream, event)

    monkeypatch.setattr(EventStream, "send", sent)


def broken_reduction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Does not sum v J over the axes that were broadcast."""

    def fitted(side: Side, gradient: torch.Tensor) -> torch.Tensor:
        return gradient if gradient.shape == side.shape else gradient.reshape(-1)[: side.entries].reshape(side.shape)

    monkeypatch.setattr(Side, "fit", fitted)


def broken_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Is off by a millionth."""
    value_of = ValueTable.value_of

    def off(table: ValueTable, tensor: torch.Tensor) -> Any:
        return value_of(table, tensor + 1e-6 if tensor.is_floating_point() else tensor)

    monkeypatch.setattr(ValueTable, "value_of", off)


BROKEN = [
    broken_edges,
    broken_slots,
    broken_seeds,
    broken_none,
    broken_order,
    broken_reduction,
    broken_values,
]


@pytest.mark.parametrize("break_it", BROKEN, ids=lambda broken: broken.__doc__)
def test_a_tracer_that_is_broken_inside_is_caught(
    break_it: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    break_it(monkeypatch)
    document, twin = right()
    with pytest.raises(conformance.Nonconformity):
        judge(document, twin)


def judge(document: Document, twin: conformance.Twin) -> None:
    """As the databases do it: against the twin; a trace that refutes itself is no better."""
    conformance.check_pass(document, twin)
    if any(one.get("checked") is False for step in steps(document) for one in step["local_jacobians"]):
        raise conformance.Nonconformity("v J is not what was returned, as the trace itself says")
