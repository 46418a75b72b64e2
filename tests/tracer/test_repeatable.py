"""A backward that may be noticed is never run twice; the usual ones that only compute are recognised."""

import math
import random

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


def function_with(backward):
    return type("F", (torch.autograd.Function,), {"backward": staticmethod(backward)})


def chain(ctx, g):
    x, y = ctx.saved_tensors
    print(g.shape)  # noqa: T201
    return g * 2 * x.sum(0) + torch.einsum("i,j->ij", x, y) * math.pi, None


def relu(ctx, g):
    (x,) = ctx.saved_tensors
    grad_input = g.clone()
    grad_input[x < 0] = 0
    return grad_input


def linear(ctx, g):
    x, weight, bias = ctx.saved_tensors
    grad_x = grad_weight = grad_bias = None
    if ctx.needs_input_grad[0]:
        grad_x = g.mm(weight)
    if ctx.needs_input_grad[1]:
        grad_weight = g.t().mm(x)
    if bias is not None and ctx.needs_input_grad[2]:
        grad_bias = g.sum(0)
    return grad_x, grad_weight, grad_bias


def with_numpy(ctx, g):
    result = np.exp(ctx.factor) * g.detach().numpy()
    return torch.as_tensor(result)


def loop(ctx, g):
    total = torch.zeros_like(g)
    for one in ctx.saved_tensors:
        total += one * g
    total.mul_(2)
    return double(total)


def wrong(ctx, g):
    return g + 1


@pytest.mark.parametrize("backward", [chain, relu, linear, with_numpy, loop, wrong], ids=lambda one: one.__name__)
def test_what_only_computes_is_repeatable(backward):
    assert is_repeatable(function_with(backward))


def test_once_differentiable_is_looked_through():
    assert is_repeatable(function_with(torch.autograd.function.once_differentiable(relu)))


def writes_a_list(ctx, g):
    COUNTS[0] += 1
    return g


def appends(ctx, g):
    LOG.append(g)
    return g


def writes_ctx(ctx, g):
    ctx.calls = 1
    return g


def extends_ctx(ctx, g):
    ctx.calls += [1]
    return g


def writes_a_global(ctx, g):
    global counted  # noqa: PLW0603
    counted = 1
    return g


def writes_saved(ctx, g):
    (x,) = ctx.saved_tensors
    x[0] = 1
    return g


def writes_saved_in_place(ctx, g):
    ctx.saved_tensors[0].mul_(2)
    return g


def writes_an_alias(ctx, g):
    x = g.clone()
    (x,) = ctx.saved_tensors
    x[0] = 1
    return g


def augments_saved(ctx, g):
    (x,) = ctx.saved_tensors
    x *= 2
    return g * x


def draws(ctx, g):
    return g * random.random()


def runs_the_engine(ctx, g):
    with torch.enable_grad():
        x = ctx.x.detach().requires_grad_()
        return torch.autograd.grad(x.sin(), x, g)[0]


def calls_unknown(ctx, g):
    return ctx.function(g)


def calls_a_counter(ctx, g):
    return count(g)


def writes_out(ctx, g):
    return torch.mul(g, 2, out=ctx.buffer)


@pytest.mark.parametrize(
    "backward",
    [
        writes_a_list, appends, writes_ctx, extends_ctx, writes_a_global, writes_saved, writes_saved_in_place,
        writes_an_alias, augments_saved, draws, runs_the_engine, calls_unknown, calls_a_counter, writes_out,
    ],
    ids=lambda one: one.__name__,
)  # fmt: skip
def test_what_may_be_noticed_is_not(backward):
    assert not is_repeatable(function_with(backward))
