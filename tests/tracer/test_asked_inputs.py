"""What `torch.autograd.grad` gives for inputs that its outputs do not depend on."""

import pytest
import torch

from gradwalk.words.problems import tell_problem
from tests.twin import run_plain, run_traced, tensor_of

START = "x = torch.tensor([1., 2.], requires_grad=True)\ny = torch.tensor([3., 4., 5.], requires_grad=True)\n"


@pytest.mark.parametrize("create_graph", [False, True])
def test_zeros_that_the_program_got_are_results(create_graph: bool) -> None:
    source = START + (
        "r = torch.autograd.grad((x * x).sum(), (x, y), allow_unused=True, materialize_grads=True,\n"
        f"                        create_graph={create_graph})\n"
    )
    [finished] = run_traced(source).of("pass_finished")
    for value, expected in zip(finished["results"], run_plain(source).namespace["r"], strict=True):
        assert torch.equal(tensor_of(value), expected)
    assert finished["materialized"] == [1]


def test_zeros_that_were_computed_are_not_said_to_be_made() -> None:
    source = START + "r = torch.autograd.grad((x * 0).sum(), x, materialize_grads=True)\n"
    [finished] = run_traced(source).of("pass_finished")
    assert finished["results"][0]["data"] == [0, 0]
    assert "materialized" not in finished


def test_none_stays_none() -> None:
    source = START + "r = torch.autograd.grad((x * x).sum(), (x, y), allow_unused=True)\n"
    [finished] = run_traced(source).of("pass_finished")
    assert run_plain(source).namespace["r"][1] is None
    assert finished["results"][1]["missing"] == "no_path"


def test_a_call_of_grad_is_no_use_of_its_inputs() -> None:
    source = START + (
        "g, _ = torch.autograd.grad((x ** 3).sum(), (x, y), allow_unused=True, create_graph=True)\ng.sum().backward()\n"
    )
    finished = run_traced(source).of("pass_finished")[-1]
    [absent] = [one["grad"] for one in finished["leaf_grads"] if one["leaf"] == "y"]
    assert run_plain(source).namespace["y"].grad is None
    assert absent["because"] == {"kind": "missing-unused", "operands": {"name": "y"}}


UNUSED = {
    "leaf": ("torch.autograd.grad((x * x).sum(), (x, y))", "`y`", 2, "No differentiable operation"),
    "used elsewhere": ("h = y * 2\ntorch.autograd.grad((x * x).sum(), (x, y))", "`y`", 2, "in line 3"),
    "cut": ("z = (x * y.detach()[:2]).sum()\ntorch.autograd.grad(z, (x, y))", "`y`", 2, "`.detach()` in line 3"),
    "result": ("h = x * 3\ntorch.autograd.grad((x * x).sum(), (x, h))", "`h`", 3, "any path"),
    "first": ("torch.autograd.grad((x * x).sum(), (y, x))", "`y`", 2, "number 0"),
}


@pytest.mark.parametrize(("rest", "name", "line", "words"), UNUSED.values(), ids=UNUSED.keys())
def test_an_unused_input_is_the_one_that_is_blamed(rest: str, name: str, line: int, words: str) -> None:
    traced = run_traced(START + rest)
    assert "appears to not have been used" in str(run_plain(START + rest).error)
    [problem] = traced.of("problem")
    said = tell_problem(problem).message
    assert name in said
    assert words in said
    assert problem["span"]["line"] == line
    assert "node" not in problem
