"""`options.inputs` reaches leaves made in any of the usual ways, and parameters; a name is offered where that is so."""

import pytest
import torch
from torch import nn

from gradwalk.words.catalogue import tell
from tests.twin import Traced, run_traced, tensor_of

LEAF = "torch.tensor(2., requires_grad=True)"
MADE = {
    "an assignment": (f"x = {LEAF}", True),
    "a generator that is unpacked": ("a, x = (torch.tensor(2., requires_grad=True) for _ in range(2))", True),
    "a function that gives two": (f"def make():\n    return {LEAF}, 1\nx, a = make()", True),
    "an annotated assignment": (f"x: object = {LEAF}", True),
    "required later": ("x = torch.tensor(2.)\nx.requires_grad_()", True),
    "a loop": (f"for _ in range(2):\n    x = {LEAF}", False),
    "an if block": (f"if True:\n    x = {LEAF}", False),
    "bound again": (f"x = torch.tensor(1.)\nx = {LEAF}", False),
}


@pytest.mark.parametrize(("made", "is_offered"), MADE.values(), ids=MADE)
def test_a_name_is_offered_where_its_value_can_be_set(made: str, is_offered: bool) -> None:
    source = made + "\n(x * x).backward()"
    (leaf,) = [node for node in run_traced(source).nodes().values() if node.get("leaf", "").startswith("x")]
    other = run_traced(source, inputs={"x": 5.0})
    (moved,) = [node for node in other.nodes().values() if "leaf" in node]
    is_set = moved["outputs"][0]["value"]["data"] == [5]
    assert ("input" in leaf, is_set) == (is_offered, is_offered)
    [grad] = [grad for name, grad in grads(other).items() if name.startswith("x")]
    assert grad == (10 if is_set else 4)


def test_a_wrong_count_is_pythons_own_error() -> None:
    (problem,) = run_traced("a, x = [1, 2, 3]", inputs={"x": 5}).of("problem")
    with pytest.raises(ValueError, match="too many values") as raised:
        exec("a, x = [1, 2, 3]")
    assert str(raised.value) in str(problem)


MODEL = """torch.manual_seed(1)
model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
start = model[0].weight._version
x = torch.tensor([1.0, -2.0])
y = model(x).sum()
y.backward()
print(start, model[0].weight._version)
"""


def grads(traced: Traced) -> dict[str, torch.Tensor]:
    return {one["leaf"]: tensor_of(one["grad"]) for one in traced.of("pass_finished")[-1]["leaf_grads"]}


def test_what_is_drawn_after_a_name_that_is_set_is_as_it_was() -> None:
    source = "a, (p, *b) = 1, (torch.randn(2, requires_grad=True), 7)\nq = torch.randn(2, requires_grad=True)\n"
    source += "(p * q).sum().backward()"
    found = grads(run_traced(source, inputs={"p": [0.25, -4.0]}))
    torch.manual_seed(0)
    _, q = torch.randn(2), torch.randn(2)
    assert torch.equal(found["p"], q)
    assert found["q"].tolist() == [0.25, -4.0]


def test_a_parameter_is_set_and_its_version_stays() -> None:
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    version = model[0].weight._version
    weight = [[0.5, 0.25], [-1.0, 0.125]]
    model[0].weight.data = torch.tensor(weight)
    model(torch.tensor([1.0, -2.0])).sum().backward()
    traced = run_traced(MODEL, inputs={"model.0.weight": weight})
    found = grads(traced)
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(found[f"model.{name}"], parameter.grad, msg=name)
    assert "".join(event["text"] for event in traced.of("stdout")) == f"{version} {version}\n"


def test_a_parameter_of_another_shape_is_refused() -> None:
    problems = run_traced(MODEL, inputs={"model.0.weight": [1.0]}).of("problem")
    assert [each["fact"]["kind"] for each in problems] == ["problem-input"]
    assert "[1], [2, 2]" in tell(problems[0]["fact"])
