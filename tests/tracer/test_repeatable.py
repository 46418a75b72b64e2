"""A backward that may be noticed is never run twice; the usual ones that only compute are recognised."""

import linecache
import math
import random
from textwrap import indent

import numpy as np
import pytest
import torch

from gradwalk.tracer.repeatable import is_repeatable

COUNTS = [0]
LOG: list[object] = []


def double(value):
    return value * 2


def count(value):
    COUNTS[0] += 1
    return value


SPACE = {**globals(), "np": np, "math": math, "random": random}
SAVED = "x, = ctx.saved_tensors\n"


def backward_of(body):
    """A function of this body whose text Python can find."""
    source = "def backward(ctx, g):\n" + indent(body, "    ")
    name = f"<{body}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    space = dict(SPACE)
    exec(compile(source, name, "exec"), space)
    return space["backward"]


REPEATABLE = {
    "a chain": "x, y = ctx.saved_tensors\nprint(g.shape)\n"
        "return g * 2 * x.sum(0) + torch.einsum('i,j->ij', x, y) * math.pi, None",
    "relu": SAVED + "grad_input = g.clone()\ngrad_input[x < 0] = 0\nreturn grad_input",
    "linear": "x, weight, bias = ctx.saved_tensors\ngrad_x = grad_weight = grad_bias = None\n"
        "if ctx.needs_input_grad[0]:\n    grad_x = g.mm(weight)\n"
        "if ctx.needs_input_grad[1]:\n    grad_weight = g.t().mm(x)\n"
        "if bias is not None and ctx.needs_input_grad[2]:\n    grad_bias = g.sum(0)\n"
        "return grad_x, grad_weight, grad_bias",
    "numpy": "result = np.exp(ctx.factor) * g.detach().numpy()\nreturn torch.as_tensor(result)",
    "a loop": "total = torch.zeros_like(g)\nfor one in ctx.saved_tensors:\n    total += one * g\ntotal.mul_(2)\n"
        "return double(total)",
    "wrong": "return g + 1",
}  # fmt: skip


NOTICED = {
    "writes a list": "COUNTS[0] += 1\nreturn g",
    "writes ctx": "ctx.calls = 1\nreturn g",
    "writes a saved tensor": SAVED + "x[0] = 1\nreturn g",
    "writes a saved tensor in place": "ctx.saved_tensors[0].mul_(2)\nreturn g",
    "writes an alias": "x = g.clone()\n" + SAVED + "x[0] = 1\nreturn g",
    "draws": "return g * random.random()",
    "runs the engine": "with torch.enable_grad():\n    x = ctx.x.detach().requires_grad_()\n"
        "    return torch.autograd.grad(x.sin(), x, g)[0]",
    "calls the unknown": "return ctx.function(g)",
    "calls a counter": "return count(g)",
    "writes out": "return torch.mul(g, 2, out=ctx.buffer)",
}  # fmt: skip


@pytest.mark.parametrize("name", [*REPEATABLE, *NOTICED])
def test_what_only_computes_is_repeatable_and_what_may_be_noticed_is_not(name):
    backward = backward_of({**REPEATABLE, **NOTICED}[name])
    for one in (backward, torch.autograd.function.once_differentiable(backward)):
        function = type("F", (torch.autograd.Function,), {"backward": staticmethod(one)})
        assert is_repeatable(function) is (name in REPEATABLE)
