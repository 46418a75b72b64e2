"""A trace as an object: its tensors are those that plain PyTorch computes."""

import doctest
import re
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import gradwalk
from gradwalk.notebook.tensors import NotRecordedError
from tests.world.processes import run_program

README = Path(__file__).parents[2] / "README.md"
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_gradients_are_tensors_of_their_dtype(dtype: torch.dtype) -> None:
    w = torch.arange(1, 21).reshape(4, 5).to(dtype).requires_grad_()
    loss = (w * w).sum().abs()
    (expected,) = torch.autograd.grad(loss, w, retain_graph=True)
    trace = gradwalk.trace_tensors(loss)
    found = trace.leaf_grads["w"]
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    assert w.grad is not None
    assert torch.equal(found, w.grad)


def test_every_step_returned_what_autograd_returns() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    x = torch.randn(5, 3)
    middle: list[torch.Tensor] = []
    net[1].register_forward_hook(lambda _module, _inputs, output: middle.append(output))
    loss = net(x).square().sum()
    (expected,) = torch.autograd.grad(loss, middle[0], retain_graph=True)
    trace = gradwalk.trace_tensors(loss, params=dict(net.named_parameters()))
    (only,) = trace.passes
    tanh = only.nodes["TanhBackward0"]
    (step,) = [step for step in only.steps if step.node is tanh]
    (v,) = step.grad_outputs
    assert torch.equal(v, expected)
    (contribution,) = step.contributions
    assert torch.equal(contribution.value, expected)
    assert contribution.sender.node.name == "AddmmBackward0"
    result = tanh.saved["result"]
    assert torch.equal(result, middle[0])
    (edge,) = [edge for edge in only.edges if edge.producer is tanh]
    assert torch.equal(edge.contribution, expected)
    assert {*only.leaves} == {"0.weight", "0.bias", "2.weight", "2.bias"} == {*trace.leaf_grads}
    for name, parameter in net.named_parameters():
        assert torch.equal(trace.leaf_grads[name], parameter.grad)  # type: ignore[arg-type]


def test_a_local_jacobian_is_that_of_autograd_functional() -> None:
    trace = gradwalk.trace("x = torch.tensor([0.1, 0.2, 0.3], requires_grad=True)\ntorch.softmax(x, 0)[1].backward()")
    (step,) = [step for step in trace.steps if step.node.name == "SoftmaxBackward0"]
    found = step.local_jacobian()
    assert found is not None
    expected = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, 0), torch.tensor([0.1, 0.2, 0.3]))
    torch.testing.assert_close(found, expected)
    assert step.local_jacobian(argnum=1) is None


def test_no_gradient_is_none_with_its_reason() -> None:
    trace = gradwalk.trace("x = torch.ones(2, requires_grad=True)\ny = torch.ones(2)\n(x * y).sum().backward()")
    (step,) = [step for step in trace.steps if step.node.name == "MulBackward0"]
    assert step.grad_inputs[1] is None
    assert "does not require grad" in (step.grad_inputs.because(1) or "")
    assert step.grad_inputs.because(0) is None
    assert "not_required" in repr(step.grad_inputs)


def test_what_was_only_summarised_is_no_wrong_tensor() -> None:
    source = "x = torch.ones(2000, requires_grad=True)\n(x * 2).sum().backward()"
    with pytest.raises(NotRecordedError, match="2000 entries"):
        gradwalk.trace(source).leaf_grads["x"]
    found = gradwalk.trace(source, limits={"elements": 2000}).leaf_grads["x"]
    assert found.tolist() == [2.0] * 2000


def test_values_that_json_has_no_number_for_come_back() -> None:
    trace = gradwalk.trace("x = torch.tensor([0.0, -1.0, 4.0], requires_grad=True)\ntorch.log(x).sum().backward()")
    found = trace.passes[0].nodes["LogBackward0"].outputs[0]
    assert found[1].isnan()
    assert found[0] == float("-inf")
    grad = trace.leaf_grads["x"]
    assert grad[0] == float("inf")


def test_several_passes_stand_in_order_with_what_a_grad_call_returned() -> None:
    source = """
x = torch.tensor(2.0, requires_grad=True)
(dx,) = torch.autograd.grad(x ** 3, x, create_graph=True)
dx.backward()
"""
    first, second = gradwalk.trace(source).passes
    assert [one.call for one in (first, second)] == ["grad", "backward"]
    assert first.results[0] == 12.0
    assert [step.index for step in (*first.steps, *second.steps)] == list(range(len(first.steps) + len(second.steps)))
    assert second.leaf_grads["x"] == 12.0


def test_a_name_that_is_not_there_is_answered_with_those_that_are() -> None:
    trace = gradwalk.trace("w = torch.ones(1, requires_grad=True)\n(w * 2).backward()")
    with pytest.raises(KeyError, match="there are w"):
        trace.leaf_grads["weight"]
    with pytest.raises(KeyError, match="MulBackward0"):
        trace.passes[0].nodes["AddBackward0"]


@pytest.mark.usefixtures("run")
def test_a_loaded_trace_is_the_same_object(tmp_path: Path) -> None:
    trace, again = (gradwalk.trace("y = sin(x*y) + x", inputs={"x": 3.0}) for _ in range(2))
    trace.save(tmp_path / "trace.json")
    again.save(tmp_path / "again.json")
    assert (tmp_path / "trace.json").read_bytes() == (tmp_path / "again.json").read_bytes()
    loaded = gradwalk.Trace.load(tmp_path / "trace.json")
    assert loaded.to_dict() == trace.to_dict()
    assert repr(loaded.passes) == repr(trace.passes)
    assert "<iframe" in loaded._repr_html_()


@pytest.mark.usefixtures("run")
def test_the_readme_shows_what_works(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (first,) = re.findall(r"(?s)```python\n(.*?)```", README.read_text())
    exec(first, {})  # noqa: S102 (what the reader would type)
    (block,) = re.findall(r"(?m)^    import gradwalk, torch\n(?:    .*\n|\n)+", README.read_text())
    loss = (torch.ones(2, requires_grad=True) ** 2).sum()
    names = {"loss": loss}
    exec(re.sub(r"(?m)^    ", "", block), names)  # noqa: S102
    assert len(names["trace"].passes) == 1, "reading it ends what `watch` began"
    assert "tensor(" in capsys.readouterr().out


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize("name", [one for one in gradwalk.__all__ if one != "load_ipython_extension"])
def test_the_example_of_a_docstring_is_true(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"gradwalk": gradwalk, "torch": torch}
    (found, *_) = doctest.DocTestFinder(recurse=False).find(getattr(gradwalk, name), name, globs=names)
    assert found.examples
    said = []
    assert doctest.DocTestRunner().run(found, out=said.append).failed == 0, "".join(said)


USER = """
import gradwalk, torch
with gradwalk.record(passes=[0]) as trace:
    torch.ones(2, requires_grad=True).sum().backward()  # type: ignore[no-untyped-call]
torch.relu(trace.leaf_grads["w"]) + torch.relu(trace.passes[-1].steps[0].grad_inputs[0])
gradwalk.show(trace, step=3)
gradwalk.watch(torch.ones(2))
"""


@pytest.mark.soak
@pytest.mark.usefixtures("run")
def test_types_are_there_for_a_user_who_checks_strictly(tmp_path):
    """Each of three mistakes is found: a gradient returned may be None, a step is a text, a tensor is no module."""
    (tmp_path / "mine.py").write_text(USER)
    done = run_program([sys.executable, "-m", "mypy", "--strict", "mine.py"], cwd=tmp_path, status=1)
    assert re.findall(r"mine\.py:(\d+): error: .*\[([\w-]+)\]", done.stdout) == [
        ("5", "arg-type"),
        ("6", "arg-type"),
        ("7", "arg-type"),
    ]
