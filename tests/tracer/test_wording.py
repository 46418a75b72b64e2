"""What the program is said to call a value; and which derivative, of what, in whose names, a formula states in these
texts. `tests/words/test_claims.py` evaluates the texts that sentences name.
"""

from typing import Any

import pytest

from gradwalk.protocol.merging import merge
from tests.tracer.programs import custom_function
from tests.twin import run_plain, run_traced

HEAD = custom_function(
    "Both", "a, scale, b", "ctx.save_for_backward(a, b)\nreturn a * b * scale",
    "a, b = ctx.saved_tensors\nreturn g * b, None, g * a",
) + """import functools
x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
k = torch.tensor([[5., 6.], [7., 9.]])
n = 3
net = nn.Linear(2, 1)
"""  # fmt: skip


# The expression, the node in it, and what the node's operands are called.
CALLED = [
    ("x * (k + 1)", "MulBackward0", ["x", "k + 1"]),
    ("k - x", "SubBackward0", ["k", "x"]),
    ("torch.mul(input=k, other=x)", "MulBackward0", ["k", "x"]),
    ("functools.reduce(torch.mul, [x, k])", "MulBackward0", ["x", "k"]),
    ("next(map(Both.apply, [x], [k], [k]))", "BothBackward", ["x", None, None]),
    ("Both.apply(x, 2, torch.tensor(3.))", "BothBackward", ["x", "torch.tensor(3.)"]),
    ("Both.apply(*(x, 2, k))", "BothBackward", ["x", None]),
    ("(x  # a comment\n   + 1).exp()", "ExpBackward0", ["x + 1"]),
    ("F.linear(k, x + 1)", "MmBackward0", ["k", "(x + 1).T"]),
    ("F.cross_entropy(x * 2, k)", "LogSoftmaxBackward0", ["x * 2"]),
    ("F.linear(k, k, x[0])", "AddmmBackward0", ["x[0]", None, None]),
    ("net(k)", "AddmmBackward0", ["net.bias", "k", "net.weight.T"]),
    ("net(k[:, [0, 1]])", "AddmmBackward0", ["net.bias", None, "net.weight.T"]),
    ("5 / x", "MulBackward0", [None, "5"]),
    ("torch.stack([x, k])", "StackBackward0", ["x", "k"]),
    ("torch.where(x > 0, x, torch.zeros(2, 2))", "WhereBackward0", ["x", "torch.zeros(2, 2)"]),
    ("x * 1; y *= (k + 1)", "MulBackward0", ["y", "k + 1"]),
    ("k; c = x * 3; c.mul_(2); y = c / x", "DivBackward0", ["c", "x"]),
    ("sum([x, x, x]).exp()", "ExpBackward0", [None]),
    ("nn.Sequential(nn.Tanh(), nn.ReLU())(x).exp()", "ExpBackward0", ["nn.Sequential(nn.Tanh(), nn.ReLU())(x)"]),
    ("(x * 1 + x * 22222222 + x * 33333333 + x * 4444444).exp()", "ExpBackward0", [None]),
]


def node_of(source: str, name: str) -> Any:
    return next(one for one in run_traced(source).nodes().values() if one["name"] == name)


@pytest.mark.parametrize(("expression", "name", "expected"), CALLED)
def test_an_operand_is_called_by_the_text_of_just_its_value(expression: str, name: str, expected: list[Any]) -> None:
    node = node_of(f"{HEAD}y = {expression}\ny.sum().backward()\n", name)
    assert [operand.get("source") for operand in node["inputs"]] == expected


def test_a_formula_is_no_tautology_and_a_name_in_it_means_one_value() -> None:
    source = "x = torch.tensor(2., requires_grad=True)\nx = x * 3 + 0.1\nx = x.sin()\nx.backward()"
    formulas = [node["formula"]["forward"] for node in run_traced(source).nodes().values() if node["formula"]]
    assert formulas
    for left, right in (formula.split(" = ") for formula in formulas):
        assert left not in right
        assert left != "x"


LEAF = "x = torch.tensor([0.5, 2.0], requires_grad=True)\n"


def test_a_parameter_and_a_variable_of_the_same_name_are_apart() -> None:
    source = "x = torch.tensor(5.0)\ns = torch.tensor(10.0, requires_grad=True)\n"
    source += "def act(x):\n    return torch.sin(x)\nact(s).backward()\n"
    for text in (source, source.replace("act(x)", "act(s)").replace("sin(x)", "sin(s)")):
        [line] = node_of(text, "SinBackward0")["formula"]["vjp"]
        assert ("equation" in line) is ("sin(s)" in text)
    source = (
        "t = torch.tensor(2.0, requires_grad=True)\ndef act(t):\n    return torch.tanh(t)\n(act(t * 3) * t).backward()"
    )
    assert [operand.get("source") for operand in node_of(source, "MulBackward0")["inputs"]] == [None, "t"]


AB = "a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)\n"
SHADOWED = [
    (AB + "def f(a, b): return a / b\nf(b, a).backward()", "DivBackward0", ["v / a", "-v * b / a ** 2"]),
    (
        "a, b = torch.ones(2, 2, requires_grad=True), torch.ones(2, requires_grad=True)\n"
        "torch.einsum('ij,j->i', a, b).sum().backward()",
        "BmmBackward0",
        ["v @ operand2.mT", "operand1.mT @ v"],
    ),
    (AB + "def f(x):\n    a = x * 3\n    return a * x\nf(a).backward()", "MulBackward0", ["v * a", "v * (x * 3)"]),
]


@pytest.mark.parametrize(("source", "name", "said"), SHADOWED)
def test_operands_of_one_name_or_of_none_are_told_apart(source, name, said) -> None:
    node = node_of(source, name)
    assert [(line["said"], line.get("equation")) for line in node["formula"]["vjp"]] == [(one, None) for one in said]
    assert len({operand.get("source", operand["name"]) for operand in node["inputs"]}) == len(said)


@pytest.mark.parametrize(
    ("made", "leaves"),
    [
        ("y = nn.Sequential(nn.Linear(2, 1), nn.Tanh())(x)", ["Sequential.0.weight", "Sequential.0.bias"]),
        ("def f():\n    net = nn.Linear(2, 1)\n    return net(x)\ny = f()", ["net.weight", "net.bias"]),
        (
            "y = nn.Linear(2, 2, bias=False)(x)\ny = nn.Linear(2, 2)(y)",
            ["Linear.weight", "Linear₂.weight", "Linear₂.bias"],
        ),
    ],
)
def test_parameters_of_a_module_that_no_variable_holds_have_their_names_in_it(made: str, leaves: list[str]) -> None:
    source = f"import torch.nn as nn\nx = torch.ones(3, 2)\n{made}\ny.sum().backward()"
    [finished] = run_traced(source).of("pass_finished")
    assert {one["leaf"] for one in finished["leaf_grads"]} - {"y"} == set(leaves)


@pytest.mark.parametrize("asked", ["named_parameters", "named_modules"])
def test_a_module_that_does_not_tell_its_parameters_runs_as_it_does_untraced(asked: str) -> None:
    refusal = f"def {asked}(self, *_, **__): raise ValueError"
    source = f"class Net(nn.Module):\n    def forward(self, x): return x * 2\n    {refusal}\n"
    traced = run_traced(f"{source}x = torch.ones(2, requires_grad=True)\nNet()(x).sum().backward()")
    assert traced.run.error is None
    assert traced.run.namespace["x"].grad.tolist() == [2, 2]


def test_a_mask_is_printed_as_a_mask_and_as_numbers_where_it_is_a_factor() -> None:
    source = LEAF + "m = x > 1\ny = x.clone()\ny[m] = 7.0\ny.sum().backward()\n"
    steps = [event for event in merge(run_traced(source).events) if event["type"] == "step"]
    printed = "".join(one["with_numbers"] for step in steps for one in step.get("substitutions", []))
    assert r"\text{False}" in printed
    relu = LEAF.replace("0.5", "-0.5") + "torch.relu(x).sum().backward()\n"
    steps = [event for event in merge(run_traced(relu).events) if event["type"] == "step"]
    assert not any(r"\text{True}" in one["with_numbers"] for step in steps for one in step.get("substitutions", []))


def test_the_bound_of_a_loss_is_part_of_its_formula() -> None:
    source = "p = torch.tensor([0.0, 1.0], requires_grad=True)\nloss = F.binary_cross_entropy(p, torch.ones(2))\n"
    assert run_plain(source).namespace["loss"] == 50  # noqa: PLR2004 (half of 100)
    assert "-100" in node_of(source + "loss.backward()", "BinaryCrossEntropyBackward0")["formula"]["forward"]


@pytest.mark.parametrize(("mode", "name"), [("reflect", "Reflection"), ("replicate", "Replication")])
def test_a_border_is_said_to_be_copied_only_where_it_gets_the_gradients_of_copies(mode: str, name: str) -> None:
    source = f"x = torch.ones(1, 4, requires_grad=True)\nF.pad(x, (1, 1), mode='{mode}').sum().backward()\n"
    is_copied = bool(run_plain(source).namespace["x"].grad[0, 0] > 1)
    [vjp] = node_of(source, f"{name}Pad1DBackward0")["formula"]["vjp"]
    assert vjp["because"]["kind"] == ("why-replication-pad" if is_copied else "why-reflection-pad")
