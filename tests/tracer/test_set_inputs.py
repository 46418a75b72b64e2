"""`options.inputs` reaches what is taken apart while the program runs, and parameters; torch computes the same."""

import pytest
import torch
from torch import nn

from gradwalk.words.catalogue import tell
from tests.twin import Traced, run_traced, tensor_of

APART = """import torch
torch.manual_seed(0)
a, (b, *c) = torch.ones(2, requires_grad=True), (torch.full((2,), 3.0, requires_grad=True), 7)
p, q = (torch.randn(2, requires_grad=True) for _ in range(2))
y = (a * b * p * q).sum()
y.backward()
"""
MODEL = """import torch
from torch import nn
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
start = model[0].weight._version
x = torch.tensor([1.0, -2.0])
y = model(x).sum()
y.backward()
print(start, model[0].weight._version)
"""


def grads(traced: Traced) -> dict[str, torch.Tensor]:
    return {one["leaf"]: tensor_of(one["grad"]) for one in traced.of("pass_finished")[-1]["leaf_grads"]}


@pytest.mark.parametrize("name", ["a", "b", "p", "q"])
def test_a_name_out_of_a_tuple_is_set(name: str) -> None:
    given = [0.25, -4.0]
    torch.manual_seed(0)
    values = {"a": torch.ones(2), "b": torch.full((2,), 3.0), "p": torch.randn(2), "q": torch.randn(2)}
    values[name] = torch.tensor(given)
    leaves = {key: value.requires_grad_() for key, value in values.items()}
    torch.stack([*leaves.values()]).prod(0).sum().backward()
    found = grads(run_traced(APART, inputs={name: given}))
    for key, leaf in leaves.items():
        assert leaf.grad is not None
        torch.testing.assert_close(found[key], leaf.grad, msg=key)


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
        assert parameter.grad is not None
        torch.testing.assert_close(found[f"model.{name}"], parameter.grad, msg=name)
    assert "".join(event["text"] for event in traced.of("stdout")) == f"{version} {version}\n"


def test_a_parameter_of_another_shape_is_refused() -> None:
    problems = run_traced(MODEL, inputs={"model.0.weight": [1.0]}).of("problem")
    assert [each["fact"]["kind"] for each in problems] == ["problem-input"]
    assert "[1], [2, 2]" in tell(problems[0]["fact"])
