"""What a formula says in the program's own texts: which derivative it is, of what, in whose names."""

import ast

import pytest
import torch

from gradwalk.protocol.merging import merge
from tests.twin import run_plain, run_traced
from tests.words.test_claims import Replaced

LEAF = "x = torch.tensor([0.5, 2.0], requires_grad=True)\n"


def equations(source: str, **options) -> dict[tuple[str, str], str | None]:
    """By result and operand, the equation of the derivative; None where there is none."""
    nodes = run_traced(source, **options).nodes().values()
    return {
        (node["outputs"][0].get("source") or node["name"], operand.get("source", operand["name"])): line.get("equation")
        for node in nodes
        if node["formula"]
        for line in node["formula"]["vjp"]
        for operand in node["inputs"]
        if operand["argnum"] == line["argnum"]
    }


@pytest.mark.parametrize(
    "text", ["sin(x*y) + x", "x - x*x", "x.exp()*x", "x.sin()/x", "x + x + x", "x*y", "(x - y) / y", "x ** 2 - y"]
)
def test_an_equation_is_the_partial_derivative_of_the_text_that_it_stands_for(text: str) -> None:
    """Torch, through every place of the operand in the text: `∂(x - x*x)/∂x = 1` would be false."""
    source = LEAF + f"y = torch.tensor([3.0, -1.0], requires_grad=True)\nz = {text.replace('sin(x', 'torch.sin(x')}\n"
    plain = run_plain(source).namespace
    found = equations(source + "z.sum().backward()")
    checked = 0
    for (result, operand), equation in found.items():
        if equation is None:
            continue
        leaf = eval(operand, {**plain, "torch": torch}).detach().clone().requires_grad_()
        replaced = ast.unparse(Replaced(operand).visit(ast.parse(result, mode="eval")))
        value = eval(replaced, {**plain, "torch": torch, "leaf": leaf})
        (slope,) = torch.autograd.grad(value.sum(), leaf)
        said = eval(equation.partition(" = ")[2], {**vars(torch), **plain})
        assert torch.allclose(slope, torch.as_tensor(said, dtype=slope.dtype).expand_as(slope)), equation
        checked += 1
    assert checked or text.count("x") > 1


def test_a_parameter_and_a_variable_of_the_same_name_are_apart() -> None:
    source = "x = torch.tensor(5.0)\ns = torch.tensor(10.0, requires_grad=True)\n"
    source += "def act(x):\n    return torch.sin(x)\nact(s).backward()\n"
    assert equations(source)["torch.sin(x)", "s"] is None
    assert equations(source.replace("act(x)", "act(s)").replace("sin(x)", "sin(s)"))["torch.sin(s)", "s"] is not None


def test_a_mask_is_printed_as_a_mask_and_as_numbers_where_it_is_a_factor() -> None:
    source = LEAF + "m = x > 1\ny = x.clone()\ny[m] = 7.0\ny.sum().backward()\n"
    steps = [event for event in merge(run_traced(source).events) if event["type"] == "step"]
    printed = "".join(one["with_numbers"] for step in steps for one in step.get("substitutions", []))
    assert r"\text{False}" in printed
    relu = LEAF.replace("0.5", "-0.5") + "torch.relu(x).sum().backward()\n"
    steps = [event for event in merge(run_traced(relu).events) if event["type"] == "step"]
    assert not any(r"\text{True}" in one["with_numbers"] for step in steps for one in step.get("substitutions", []))


@pytest.mark.parametrize(("p", "t"), [([0.0, 1.0], [1.0, 1.0]), ([0.3, 0.9], [0.0, 1.0]), ([1.0, 1.0], [0.0, 0.0])])
def test_the_bound_of_a_loss_is_part_of_its_formula(p: list[float], t: list[float]) -> None:
    source = f"p = torch.tensor({p}, requires_grad=True)\nt = torch.tensor({t})\n"
    source += "loss = F.binary_cross_entropy(p, t)\nloss.backward()\n"
    (node,) = [node for node in run_traced(source).nodes().values() if node["op"] == "binary_cross_entropy"]
    assert "-100" in node["formula"]["forward"]
    loss = run_plain(source).namespace["loss"]
    p_, t_ = torch.tensor(p), torch.tensor(t)
    logs = torch.maximum(p_.log(), torch.tensor(-100.0)), torch.maximum((1 - p_).log(), torch.tensor(-100.0))
    assert torch.allclose(loss, -(t_ * logs[0] + (1 - t_) * logs[1]).mean())
