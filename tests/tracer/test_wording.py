"""What the program is said to call a value, against the program: the text must evaluate to the value."""

import re
import warnings
from typing import Any

import pytest
import torch
from hypothesis import given, settings

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.tracer.text import LONGEST_TEXT
from tests.tracer.oracle import run_plain, run_traced, tensor_of
from tests.tracer.programs import PROGRAMS
from tests.tracer.test_random_graphs import programs

HEAD = """
x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
k = torch.tensor([[5., 6.], [7., 9.]])
n = 3
class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, scale, b):
        ctx.save_for_backward(a, b)
        return a * b * scale
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, None, g * a
"""


def sources_of(expression: str, name: str, head: str = HEAD) -> list[str | None]:
    """The sources of the operands of the last node with that torch name."""
    traced = run_traced(f"{head}y = {expression}\ny.sum().backward()\n")
    (node, *_) = [one for one in traced.nodes().values() if one["name"] == name]
    return [operand.get("source") for operand in node["inputs"]]


@pytest.mark.parametrize(
    ("expression", "name", "expected"),
    [
        ("x * (k + 1)", "MulBackward0", ["x", "k + 1"]),
        ("2 * x", "MulBackward0", ["x", "2"]),
        ("x * n", "MulBackward0", ["x", "n"]),
        ("n * x", "MulBackward0", ["x", "n"]),
        ("k - x", "SubBackward0", ["k", "x"]),
        ("torch.mm(k + 1, x)", "MmBackward0", ["k + 1", "x"]),
        ("(k.t()).mm(x)", "MmBackward0", ["k.t()", "x"]),
        ("torch.mul(input=k, other=x)", "MulBackward0", ["k", "x"]),
        ("torch.mul(*[k, x])", "MulBackward0", [None, "x"]),
        ("Both.apply(x, 2, k[:1])", "BothBackward", ["x", "k[:1]"]),
        ("Both.apply(x, 2, torch.tensor(3.))", "BothBackward", ["x", "torch.tensor(3.)"]),
        ("Both.apply(*(x, 2, k))", "BothBackward", ["x", None]),
        ("((x + 1)).exp()", "ExpBackward0", ["x + 1"]),
        ("(x  # a comment\n   + 1).exp()", "ExpBackward0", ["x + 1"]),
        ("F.linear(k, x)", "MmBackward0", [None, "x.T"]),
        ("F.linear(k, x + 1)", "MmBackward0", [None, "(x + 1).T"]),
        ("F.cross_entropy(x * 2, k)", "LogSoftmaxBackward0", ["x * 2"]),
        ("F.linear(k, k, x[0])", "AddmmBackward0", ["x[0]", None, None]),
        ("F.mse_loss(x, k + 1)", "MseLossBackward0", ["x", None]),
        ("5 / x", "MulBackward0", [None, "5"]),
        ("sum([x, x, x]).exp()", "ExpBackward0", [None]),
        ("list(map(torch.sin, [x]))[0].exp()", "ExpBackward0", [None]),
        ("x.max(0)[0].exp()", "ExpBackward0", [None]),
        ("nn.Sequential(nn.Tanh(), nn.ReLU())(x)", "ReluBackward0", [None]),
        ("nn.Sequential(nn.Tanh(), nn.ReLU())(x).exp()", "ExpBackward0", ["nn.Sequential(nn.Tanh(), nn.ReLU())(x)"]),
        ("(x * 1 + x * 22222222 + x * 33333333 + x * 4444444).exp()", "ExpBackward0", [None]),
    ],
)
def test_an_operand_is_called_by_the_text_of_just_its_value(
    expression: str, name: str, expected: list[str | None]
) -> None:
    assert sources_of(expression, name) == expected


def test_the_right_side_of_an_update_is_a_text_and_the_left_one_is_gone() -> None:
    traced = run_traced(f"{HEAD}y = x * 1\ny *= (k + 1)\ny.sum().backward()\n")
    operands = next(one for one in traced.nodes().values() if one["name"] == "MulBackward0")["inputs"]
    assert [operand.get("source") for operand in operands] == ["y", "k + 1"]


def test_the_variable_belongs_to_the_result_of_the_whole_call_alone() -> None:
    traced = run_traced(
        "x = torch.ones(2, 2, requires_grad=True)\nh = nn.Sequential(nn.Tanh(), nn.Sigmoid())(x)\nh.sum()"
    )
    names = {one["name"]: one["outputs"][0]["name"] for one in traced.nodes().values()}
    assert names["SigmoidBackward0"] == "h"
    assert names["TanhBackward0"] is None


def said(source: str) -> list[tuple[str, Any]]:
    """Every source with the value that it is said of."""
    traced = run_traced(source)
    found = []
    for node in traced.nodes().values():
        found += [(one["source"], one["value"]) for one in node["inputs"] if "source" in one]
        found += [(one["source"], one["value"]) for one in node["outputs"] if "source" in one]
    return found


def changed(source: str) -> set[str]:
    """Names that do not mean one value in the whole program, and those that are local somewhere."""
    targets = re.findall(r"^\s*([\w, ]+?)(?:\[.*\])?\s*[-+*/@]?=(?!=)", source, re.MULTILINE)
    names = [name.strip() for target in targets for name in target.split(",")]
    loops = re.findall(r"\bfor ([\w, ]+) in", source)
    written = re.findall(r"(\w+)(?:\[.*?\])?\.\w+_\(", source)
    given = re.findall(r"(?:def \w+|lambda)\s*\(?([^):]*)[):]", source)
    local = re.findall(r"^\s+([\w, ]+?)\s*=", source, re.MULTILINE)
    several = {name for name in names if names.count(name) > 1}
    return several.union(written, *(re.findall(r"\w+", one) for one in [*loops, *given, *local]))


def check(source: str) -> int:
    """How many of the program's sources were evaluated, all to the value they are said of."""
    twin = run_plain(source)
    loose = changed(source)
    count = 0
    for text, value in said(source):
        assert len(text) <= LONGEST_TEXT or text.isidentifier()
        assert "\n" not in text
        if value is None or "data" not in value or re.search(r"rand|dropout|_\(|\bmodel\.\d|_grad", text):
            continue
        if loose.intersection(re.findall(r"\w+", text)):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = torch.as_tensor(eval(text, {**vars(torch), **twin.namespace})).detach()
        except (NameError, SyntaxError, AttributeError):
            continue  # A local name, or a parameter's path, `model.0.weight`.
        found = tensor_of(value)
        assert found.shape == expected.shape, text
        assert torch.allclose(found.to(expected.dtype), expected, rtol=1e-4, equal_nan=True), text
        count += 1
    return count


@pytest.mark.parametrize("source", [pytest.param(one.source, id=one.slug) for one in EXAMPLES])
def test_what_an_example_calls_a_value_evaluates_to_it(source: str) -> None:
    check(source)


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_what_a_program_calls_a_value_evaluates_to_it(source: str) -> None:
    check(source)


@settings(max_examples=25, deadline=None)
@given(programs())
def test_what_a_random_program_calls_a_value_evaluates_to_it(source: str) -> None:
    check(source)


def test_texts_are_evaluated_at_all() -> None:
    assert check(f"{HEAD}y = (2 * x * (k + 1)).exp()\nz = torch.mm(k + 1, y)\nz.sum().backward()\n") >= 8
