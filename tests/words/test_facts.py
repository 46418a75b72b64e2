"""What happened at a step beside its rule is said, with the numbers that plain torch has.

Each program keeps what its own hooks and backwards saw; the expected sentence is made of that.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.twin import run_plain, run_traced
from tests.words.page import told_by_page

SEVERAL_HOOKS = """\
seen = []
def scaled(factor):
    def hook(g):
        seen.append(g * factor)
        return g * factor
    return hook
x = torch.tensor(2., requires_grad=True)
y = x * 3
y.register_hook(scaled(2))
y.register_hook(scaled(5))
z = y * 5
z.backward()
"""
POST_HOOKS = """\
seen = []
def double(p):
    p.grad = p.grad * 2
    seen.append(p.grad.clone())
def clear(p):
    p.grad = None
x = torch.tensor(2., requires_grad=True)
x.register_post_accumulate_grad_hook(double)
x.register_post_accumulate_grad_hook(clear)
y = x * 3
y.backward()
"""
OTHER_DTYPE = """\
seen = []
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        seen.append((g * 2).double())
        return seen[0]
x = torch.tensor(3., requires_grad=True)
y = Double.apply(x)
y.backward()
"""
SEED_DTYPE = """\
v = torch.tensor(2., dtype=torch.float64)
x = torch.tensor(3., requires_grad=True)
seen = []
x.register_hook(lambda g: seen.append(g.dtype))
y = x * 4
y.backward(v)
"""
NAN = """\
x = torch.tensor([[4., 0.], [0., 1.]], requires_grad=True)
y = x.sqrt()
y.backward(torch.tensor([[1., 0.], [1., 1.]]))
"""
NAN_OF_ONE_NUMBER = """\
x = torch.tensor(0., requires_grad=True)
y = x.sqrt() * 0
y.backward()
"""
TWO_OUTPUTS = """\
seen = []
class Two(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3
    @staticmethod
    def backward(ctx, a, b):
        seen.append(b)
        return a * 2 + b * 3
x = torch.tensor(2., requires_grad=True)
p, q = Two.apply(x)
p.backward()
"""
DROPPED = """\
seen = []
class Mul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        seen.append(g * x)
        return g * y, seen[0]
x = torch.tensor(5., requires_grad=True)
y = torch.tensor(3.)
z = Mul.apply(x, y)
z.backward()
"""
BEHIND = """\
x = torch.tensor(3., requires_grad=True)
w = torch.tensor(2., requires_grad=True)
was = w.item()
y = w * x
w.data.fill_(10.)
y.backward()
"""


def spelled(value: Any) -> str:
    return f"{torch.as_tensor(value).detach().item():g}"


def dtype(one: torch.dtype) -> str:
    return str(one).removeprefix("torch.")


EXPECTED: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "several hooks": (
        SEVERAL_HOOKS,
        lambda ns: (
            f"Then the hook in line 9 made it {spelled(ns['seen'][0])} "
            f"and the hook in line 10 made it {spelled(ns['seen'][1])}."
        ),
    ),
    "hooks after accumulation": (
        POST_HOOKS,
        lambda ns: (
            f"Then the hook in line 8 made it {spelled(ns['seen'][0])}; the hook in line 9 set it to {ns['x'].grad}."
        ),
    ),
    "a cast": (
        OTHER_DTYPE,
        lambda ns: (
            f"`Double.backward` returned {spelled(ns['seen'][0])} for `x`; "
            f"the engine cast it to `{dtype(ns['x'].grad.dtype)}`, {spelled(ns['x'].grad)}."
        ),
    ),
    "a cast seed": (
        SEED_DTYPE,
        lambda ns: f"The seed is `{dtype(ns['v'].dtype)}`; the engine cast it to `{dtype(ns['seen'][0])}`.",
    ),
    "zero times infinity": (
        NAN,
        lambda ns: f"`v` is 0 and `J` infinite for `x` at {ns['x'].grad.isnan().nonzero().tolist()[0]}: 0 · ∞ = NaN.",
    ),
    "zero times infinity, of one number": (
        NAN_OF_ONE_NUMBER,
        lambda ns: f"`v` is 0 and `J` infinite for `x`: 0 · ∞ = {'NaN' if ns['x'].grad.isnan() else '?'}.",
    ),
    "zeros for an output": (
        TWO_OUTPUTS,
        lambda ns: f"Nothing arrived at `q`; `Two.backward` gets {'zeros' if (ns['seen'][0] == 0).all() else '?'}.",
    ),
    "a dropped gradient": (
        DROPPED,
        lambda ns: f"`Mul.backward` computed {spelled(ns['seen'][0])} for",
    ),
    "values written behind autograd": (
        BEHIND,
        lambda ns: (
            f"`w` held {spelled(ns['was'])} when it was saved and holds {spelled(ns['w'])} now, "
            f"written behind autograd's back: backward computes with {spelled(ns['x'].grad)}."
        ),
    ),
}


@pytest.mark.parametrize(("source", "expected"), EXPECTED.values(), ids=EXPECTED.keys())
def test_a_fact_is_said_once(source: str, expected: Callable[[dict[str, Any]], str]) -> None:
    twin = run_plain(source)
    assert twin.error is None
    told = told_by_page(run_traced(source).document)
    # A phase that a step leaves out says what the next stop says.
    sentences = [step["phases"][stop - 1] for step in told["backward"] for stop in step["stops"]]
    assert [sentence.count(expected(twin.namespace)) for sentence in sentences].count(1) == 1, sentences
