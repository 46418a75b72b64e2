"""`options.inputs` reaches leaves made in any of the usual ways, and parameters; a name is offered where that is so."""

import pytest
import torch

from tests.tracer.facts import spoken
from tests.twin import Traced, run_plain, run_traced, tensor_of

LEAF = "torch.tensor(2., requires_grad=True)"
MADE = {
    f"x = {LEAF}": True,
    f"a, x = ({LEAF} for _ in range(2))": True,
    f"def make():\n    return {LEAF}, 1\nx, a = make()": True,
    f"x: object = {LEAF}": True,
    "x = torch.tensor(2.)\nx.requires_grad_()": True,
    f"for _ in range(2):\n    x = {LEAF}": False,
    f"if True:\n    x = {LEAF}": False,
    f"x = torch.tensor(1.)\nx = {LEAF}": False,
}


def grads(traced: Traced) -> dict[str, torch.Tensor]:
    return {one["leaf"]: tensor_of(one["grad"]) for one in traced.of("pass_finished")[-1]["leaf_grads"]}


@pytest.mark.parametrize("made", MADE)
def test_a_name_is_offered_where_its_value_can_be_set(made: str) -> None:
    source = made + "\n(x * x).backward()"
    (leaf,) = [node for node in run_traced(source).nodes().values() if node.get("leaf", "").startswith("x")]
    other = run_traced(source, inputs={"x": 5.0})
    (moved,) = [node for node in other.nodes().values() if "leaf" in node]
    is_set = moved["outputs"][0]["value"]["data"] == [5]
    assert ("input" in leaf, is_set) == (MADE[made], MADE[made])
    [grad] = [grad for name, grad in grads(other).items() if name.startswith("x")]
    assert grad == (10 if is_set else 4)


def test_a_wrong_count_is_pythons_own_error() -> None:
    (problem,) = run_traced("a, x = [1, 2, 3]", inputs={"x": 5}).of("problem")
    error = run_plain("a, x = [1, 2, 3]").error
    assert isinstance(error, ValueError)
    assert str(error) in str(problem)


def test_what_is_drawn_after_a_name_that_is_set_is_as_it_was() -> None:
    source = "a, (p, *b) = 1, (torch.randn(2, requires_grad=True), 7)\nq = torch.randn(2, requires_grad=True)\n"
    found = grads(run_traced(source + "(p * q).sum().backward()", inputs={"p": [0.25, -4.0]}))
    assert torch.equal(found["p"], run_plain(source).namespace["q"].detach())
    assert found["q"].tolist() == [0.25, -4.0]


MODEL = """torch.manual_seed(1)
model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
start = model[0].weight._version
{}
model(torch.tensor([1.0, -2.0])).sum().backward()
print(start, model[0].weight._version)
"""
WEIGHT = [[0.5, 0.25], [-1.0, 0.125]]


def test_a_parameter_is_set_and_its_version_stays() -> None:
    twin = run_plain(MODEL.format(f"model[0].weight.data = torch.tensor({WEIGHT})"))
    traced = run_traced(MODEL.format(""), inputs={"model.0.weight": WEIGHT})
    found = grads(traced)
    for name, parameter in twin.namespace["model"].named_parameters():
        torch.testing.assert_close(found[f"model.{name}"], parameter.grad, msg=name)
    assert "".join(event["text"] for event in traced.of("stdout")) == twin.printed


def test_a_parameter_of_another_shape_is_refused() -> None:
    [problem] = run_traced(MODEL.format(""), inputs={"model.0.weight": [1.0]}).of("problem")
    assert spoken(problem["fact"]).startswith("problem-input")
    assert "[1], [2, 2]" in spoken(problem["fact"])
