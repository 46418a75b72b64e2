"""A custom backward that is not the derivative of its forward is told, unasked; torch's gradcheck agrees.

A backward that may be noticed is never run twice; the usual ones that only compute are recognised.
"""

import re
from pathlib import Path
from textwrap import indent

import pytest
import torch

from gradwalk.tracer.backward_checks import CHECKS_PER_FUNCTION
from gradwalk.tracer.reevaluation import in_double
from tests.tracer.programs import custom_function
from tests.twin import run_plain, run_traced

AT = [0.5, -1.5, 3.0]


def function(forward, backward, at=AT):
    """A program with a Function of these bodies; x is saved for its backward."""
    defined = custom_function("F1", "x", f"ctx.save_for_backward(x)\n{forward}", f"x, = ctx.saved_tensors\n{backward}")
    return f"{defined}x = torch.tensor({at}, requires_grad=True)\ny = F1.apply(x)\ny.sum().backward()\n"


def differences(source):
    """The trace, the Jacobians in it that were compared, and its findings of wrong backwards; nobody notices."""
    source += "print(x.grad, torch.rand(2))\n"
    traced = run_traced(source)
    assert "".join(event["text"] for event in traced.of("stdout")) == run_plain(source).printed
    found = [one for event in traced.of("step") for one in event["local_jacobians"] if "differences" in one]
    findings = [one for event in traced.of("pass_finished") for one in event.get("findings", [])]
    return traced, found, [one for one in findings if one["kind"] == "wrong_backward"]


FUNCTIONS = {
    "square": ("return x * x", "return 2 * x * g"),
    "softmax": ("return torch.softmax(x, 0)", "y = torch.softmax(x, 0)\nreturn y * (g - (g * y).sum())"),
    "a forgotten sum": ("return torch.softmax(x, 0)", "y = torch.softmax(x, 0)\nreturn y * (1 - y) * g"),
    "an attribute": ("ctx.n = 3\nreturn x ** ctx.n", "return ctx.n * x ** 2 * g"),
    "a print": ("print('forward')\nreturn x * 2", "print('backward')\nreturn g * 2"),
    "nothing": ("return x * x", "return None"),
    "a straight-through estimator": ("return x.sign()", "return g"),
    "a reversal": ("return x.view_as(x)", "return -g"),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_verdict_is_that_of_torchs_gradcheck(name):
    source = function(*FUNCTIONS[name])
    apply = run_plain(source).namespace["F1"].apply
    point = torch.tensor(AT, dtype=torch.float64, requires_grad=True)
    is_right = torch.autograd.gradcheck(apply, (point,), raise_exception=False)
    traced, [found], findings = differences(source)
    assert found["differences"]["verdict"] == ("agrees" if is_right else "differs")
    assert (findings == []) is is_right
    for finding in findings:
        assert finding["span"]["line"] == 1 + source.partition("    def backward")[0].count("\n")
        assert traced.of("step")[finding["step"]]["node"] == finding["node"]
    if name in ON_PURPOSE:
        assert findings[0]["fact"]["operands"]["why"] == ON_PURPOSE[name]
    if not is_right:
        space = {"torch": torch}
        exec("def f(x):\n    class ctx: pass\n" + indent(FUNCTIONS[name][0], "    "), space)
        truth = torch.autograd.functional.jacobian(space["f"], point.detach())
        numbers = torch.tensor(found["differences"]["value"]["data"], dtype=torch.float64).reshape(truth.shape)
        assert torch.allclose(numbers, truth, atol=1e-5)


ON_PURPOSE = {
    "a straight-through estimator": {"kind": "check-flat", "operands": {"name": "x"}},
    "a reversal": {"kind": "check-identity-times", "operands": {"name": "x", "factor": {"numbers": [-1.0]}}},
}

QUIET = {
    "a corner": function("return x.clamp(min=0)", "return g * (x > 0)", [0.0, 1.0]),
    "a change that is lost beside a large value": function("return x * 0.01 + 1e9", "return g * 0.01", [0.5]).replace(
        "requires_grad", "dtype=torch.float64, requires_grad"
    ),
    "a corner among many": function("return x.clamp(min=0)", "return g * (x > 0)", [0.1 * n for n in range(200)]),
    "small beside large in float32": function("return x * x", "return 2 * x * g", [1e6, 1.5e-4, 3.0]),
    "stored in half precision": function("return x * x", "return 2 * x * g").replace(
        "requires_grad", "dtype=torch.float16, requires_grad"
    ),
}

UNASKED = {
    "random numbers": function("ctx.m = torch.rand_like(x)\nreturn x * ctx.m", "return g * ctx.m"),
    "a list that grows": "seen = []\n" + function("seen.append(1)\nreturn x * 2", "return g * 3"),
    "what is no float64": function("return x.float() * 2", "return g * 3"),
    "a factor that changed since": "k = torch.tensor(2.0)\n" + function("return x * k", "return g * 3")
    .replace("y.sum()", "k.fill_(5)\ny.sum()"),
}  # fmt: skip


@pytest.mark.parametrize("name", [*QUIET, *UNASKED])
def test_rounding_and_corners_are_no_finding_and_a_forward_that_would_be_noticed_is_not_run_again(name):
    _, found, findings = differences({**QUIET, **UNASKED}[name])
    assert findings == []
    assert found == [] or name in QUIET


def test_a_training_loop_pays_for_the_first_steps_only():
    source = function("return x * x", "return 2 * x * g").replace("y = F1", "for _ in range(50):\n    y = F1")
    _, found, _ = differences(source.replace("\ny.sum()", "\n    y.sum()"))
    assert len(found) == CHECKS_PER_FUNCTION


RAISING = {
    "a matrix": ("torch.stack([x.prod(), x[0] ** 2])", "return x.outer(g)"),
    "an error": ("x ** 3", "raise ValueError"),
    "too few entries": ("torch.softmax(x, 0)", "return g[:2]"),
    "a complex result": ("x * (2 + 1j)", "return g[:2]"),
}


@pytest.mark.parametrize("name", RAISING)
def test_where_backward_raised_the_jacobian_is_that_of_forward(name):
    forward, backward = RAISING[name]
    source = function(f"return {forward}", backward).replace("y.sum()", "(y.abs() ** 2).sum()")
    traced = run_traced(source)
    [found] = traced.of("step")[-1]["local_jacobians"]
    of_forward = eval(f"lambda x: torch.view_as_real({forward})" if "j" in forward else f"lambda x: {forward}")
    wanted = torch.autograd.functional.jacobian(of_forward, torch.tensor(AT, dtype=torch.float64))
    assert found["differences"] == {"verdict": "raised"}
    assert found["value"]["shape"] == [*wanted.shape]
    assert found["value"]["data"] == pytest.approx(wanted.reshape(-1).tolist(), rel=1e-6, abs=1e-6)
    assert len(traced.of("problem")) == 1


def test_a_forward_that_may_be_noticed_does_not_run_again_for_a_backward_that_raised():
    source = function("global runs\nruns += 1\nreturn x * 2", "raise ValueError").replace(
        "x = torch", "runs = 0\nx = torch"
    )
    traced = run_traced(
        source.replace("y.sum().backward()", "try:\n    y.sum().backward()\nexcept ValueError:\n    print(runs)")
    )
    assert [event["text"] for event in traced.of("stdout")] == ["1\n"]
    assert traced.of("step")[-1]["local_jacobians"] == []


WRITTEN = re.findall(r"### (.*): (.*)\n((?:.*\n)+?)(?=###|$)", Path(__file__).with_name("functions.txt").read_text())


@pytest.mark.parametrize(("why", "source"), [pytest.param(*rest, id=name) for name, *rest in WRITTEN])
def test_a_wrong_backward_is_found_and_a_right_one_left_alone_as_torchs_gradcheck_does(why, source):
    *_, findings = differences(source)
    kinds = [finding["fact"]["operands"]["why"]["kind"] for finding in findings]
    assert kinds == ([] if why == "right" else why.split())
    with in_double():
        space = run_plain(source).namespace
        call, through = space["F1"].apply, space.get("through", lambda one: one)
        is_right = torch.autograd.gradcheck(lambda x, *y: call(through(x), *y), space["given"], raise_exception=False)
    # gradcheck asks for single entries of v only, so it takes a backward for right that is not linear.
    assert is_right is (kinds == []) or why in ("check-identity", "check-not-linear", "check-not-scaled")


HELPERS = """import random
import numpy as np
counts = [0]
def double(value):
    return value * 2
def count(value):
    counts[0] += 1
    return value
"""
KEPT = "ctx.save_for_backward(x)\nctx.factor, ctx.function, ctx.buffer = 2, abs, torch.empty(2)\nreturn x * 1"
SAVED = "x, = ctx.saved_tensors\n"
REPEATABLE = {
    "a chain": SAVED + "print(g.shape)\nreturn g * 2 * x.sum(0) + torch.einsum('i,i->i', x, g) * math.pi",
    "relu": SAVED + "grad_input = g.clone()\ngrad_input[x < 0] = 0\nreturn grad_input",
    "needs of inputs": SAVED + "grad_x = bias = None\nif ctx.needs_input_grad[0]:\n    grad_x = g.mul(x)\n"
        "if bias is not None and ctx.needs_input_grad[1]:\n    grad_x = g.sum(0)\nreturn grad_x",
    "numpy": "result = np.exp(ctx.factor) * g.detach().numpy()\nreturn torch.as_tensor(result)",
    "a loop": "total = torch.zeros_like(g)\nfor one in ctx.saved_tensors:\n    total += one * g\ntotal.mul_(2)\n"
        "return double(total)",
}  # fmt: skip

NOTICED = {
    "writes ctx": "ctx.calls = 1\nreturn g",
    "writes a saved tensor": SAVED + "x[0] = 1\nreturn g",
    "writes an alias": "x = g.clone()\n" + SAVED + "x[0] = 1\nreturn g",
    "draws": "return g * random.random()",
    "runs the engine": SAVED + "with torch.enable_grad():\n    x = x.detach().requires_grad_()\n"
        "    return torch.autograd.grad(x.sin(), x, g)[0]",
    "calls the unknown": "return ctx.function(g)",
    "calls a counter": "return count(g)",
    "writes out": "return torch.mul(g, 2, out=ctx.buffer)",
}  # fmt: skip


@pytest.mark.parametrize("name", [*REPEATABLE, *NOTICED])
def test_what_only_computes_runs_again_and_what_may_be_noticed_is_left_for_a_run_of_its_own(name):
    source = HELPERS + custom_function("F1", "x", KEPT, {**REPEATABLE, **NOTICED}[name])
    source += "x = torch.tensor([1., -2.], requires_grad=True)\nF1.apply(x).sum().backward()\n"
    once = "    @torch.autograd.function.once_differentiable\n    def backward"
    for text in (source, source.replace("    def backward", once)):
        traced = run_traced(text)
        values = [one["value"] for step in traced.of("step") for one in step["local_jacobians"]]
        assert traced.of("problem") == []
        assert any(value.get("missing") == "on_demand" for value in values) is (name in NOTICED)
