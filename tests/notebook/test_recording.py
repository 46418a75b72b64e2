"""Tracing in the caller's own process."""

import random
from pathlib import Path

import numpy as np
import pytest
import torch

import gradwalk
from gradwalk.exports.catalogue import find_exporter
from gradwalk.exports.exporter import NothingToExport, Selection
from gradwalk.protocol.events import EVENT
from gradwalk.protocol.merging import merge
from tests.twin import tensor_of

LONG_CHAIN = r"""
import gc, resource, torch
import gradwalk
# A recursion over so many nodes takes more stack than this.
resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
chain = "y = x = torch.ones(1, requires_grad=True)\nfor _ in range(8_000):\n    y = y + 1\n"
trace = gradwalk.trace(chain + "y.sum().backward()")
del trace
gc.collect()
exec(chain)
trace = gradwalk.trace_tensors(y.sum())
del trace, y
gc.collect()
print("alive")
"""


@pytest.mark.soak
def test_the_trace_of_a_long_chain_does_not_end_its_caller(run):
    assert run(["-c", LONG_CHAIN]).stdout.strip() == "alive"


@pytest.mark.parametrize(("text", "why"), [("{}", "not a gradwalk trace"), ("x * y", "not JSON")])
def test_a_file_that_is_no_trace_is_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ValueError, match=why):
        gradwalk.Trace.load(tmp_path / "a.json")


MISTAKEN = {
    "the text of a program": (lambda: gradwalk.show("sin(x * y)"), "`str`"),
    "a function": (lambda: gradwalk.show(lambda x: x * 2), "`function`"),
    "a module": (lambda: gradwalk.trace_tensors(torch.nn.Tanh()), "`Tanh`"),
    "a function to run": (lambda: gradwalk.trace(lambda x: x * 2), "`function`"),
}


@pytest.mark.parametrize("name", MISTAKEN)
def test_what_is_no_tensor_and_no_text_is_named(name: str) -> None:
    call, given = MISTAKEN[name]
    with pytest.raises(TypeError, match=given):
        call()


def test_a_step_that_there_is_not_is_said_with_how_many_there_are(tmp_path: Path) -> None:
    trace = gradwalk.trace("x * y", inputs={"x": 1.0, "y": 2.0})
    for call in (lambda: trace.show("9.3"), lambda: gradwalk.show(trace, step="9")):
        with pytest.raises(ValueError, match="no step 9.* 3 steps"):
            call()
    with pytest.raises(NothingToExport, match="no step 9.* 3 steps"):
        trace.save(tmp_path / "still.dot", step=9)
    with pytest.raises(ValueError, match="step 7, phase 3"):
        trace.show("first")


def test_the_callers_random_states_stay() -> None:
    before = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()
    gradwalk.trace("x = torch.randn(2, requires_grad=True)\nx.sum().backward()")
    assert torch.equal(torch.get_rng_state(), before[0])
    assert random.getstate() == before[1]
    assert np.random.get_state()[1].tolist() == before[2]


@pytest.mark.usefixtures("run")
def test_what_pytorch_keeps_of_an_expression_is_shown_and_the_rest_is_said_not_to_be_kept() -> None:
    w, b = torch.tensor([0.25, -0.5], requires_grad=True), torch.tensor([0.5, 0.75], requires_grad=True)
    trace = gradwalk.trace_tensors((torch.sigmoid((w * w + b) ** 2) * w).sum())
    for event in trace.events:
        EVENT.validate_python(event)
    (started,) = [event for event in merge(trace.events) if event["type"] == "pass_started"]
    outputs = [(node["op"], node["outputs"][0]["value"]) for node in started["graph"]["nodes"] if "leaf" not in node]
    with torch.no_grad():
        base = w * w + b
        kept = [(torch.sigmoid(base**2) * w).sum(), torch.sigmoid(base**2), base**2, base]
    shown = [value for _, value in outputs if value is not None and "data" in value]
    assert [op for op, value in outputs if value in shown] == ["sum", "sigmoid", "pow", "add"]
    assert all(torch.equal(tensor_of(value), tensor) for value, tensor in zip(shown, kept, strict=True))
    told = [value for op, value in outputs if op == "mul"]
    assert [value and (value["shape"], value["dtype"]) for value in told] == [([2], "float32")] * 2
    assert all(value is not None and value["unavailable"] == {"kind": "note-not-kept"} for value in told)
    drawn = find_exporter("svg").write(trace.document, Selection(1)).decode()  # type: ignore[union-attr]
    assert "not kept" in drawn


def test_live_tensors_have_the_callers_names_or_given_ones_and_may_be_weighted_and_kept() -> None:
    net = torch.nn.Linear(2, 1)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    first = gradwalk.trace_tensors(y, torch.tensor([1.0, 0.5]), retain_graph=True, params={"theta": x})
    second = gradwalk.trace_tensors(y, torch.tensor([1.0, 0.5]), params={"theta": x})
    assert {*first.leaf_grads} == {"theta"}
    assert x.grad.tolist() == [4.0, 4.0]
    assert first.id != second.id
    assert {*gradwalk.trace_tensors(net(x).sum()).leaf_grads} == {"x", "net.weight", "net.bias"}


def test_a_freed_graph_is_a_problem_and_the_callers_engine_is_back() -> None:
    engine = torch.autograd.Variable._execution_engine
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    y.backward()
    (problem,) = gradwalk.trace_tensors(y).problems
    assert problem["fact"]["kind"] == "problem-freed"
    assert torch.autograd.Variable._execution_engine is engine
