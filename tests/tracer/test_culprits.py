"""Errors inside a backward name the node, the saved tensor, and the lines that saved, changed or freed it."""

import pytest

from tests.tracer.facts import spoken
from tests.twin import run_plain, run_traced

BOTH = "x = torch.tensor([1., 2.], requires_grad=True)\nw = torch.tensor([3., 4.], requires_grad=True)\n"
PRODUCT = """class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a
"""
FREED = {
    "product": (BOTH + "y = (x * w).sum()\ny.backward()\ny.backward()", "problem-freed-in-line MulBackward0 3 w x 4"),
    "custom": (
        PRODUCT + BOTH + "y = Product.apply(x, w).sum()\ny.backward()\ny.backward()",
        "problem-freed-in-line ProductBackward 12 x w 13",
    ),
    "shared part": (
        BOTH + "h = x.exp()\na = h.sum()\nb = (h * w).sum()\na.backward()\nb.backward()",
        "problem-freed-in-line ExpBackward0 3 h 6",
    ),
    "network": (
        "m = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))\no = m(torch.ones(1, 2)).sum()\n"
        "for _ in range(2):\n    o.backward()",
        "problem-freed-in-line AddmmBackward0 2 mat1 m.2.weight.T 4",
    ),
    "hidden state": (
        "h = torch.zeros(2, requires_grad=True)\nw = torch.ones(2, requires_grad=True)\n"
        "for t in range(2):\n    h = torch.tanh(h * w)\n    loss = h.sum()\n    loss.backward()",
        "problem-freed-in-line TanhBackward0 4 h 6",
    ),
    "grad before": (
        BOTH + "y = (x * w).sum()\ng, = torch.autograd.grad(y, x)\ny.backward()",
        "problem-freed-in-line MulBackward0 3 w x 4",
    ),
}


@pytest.mark.parametrize("name", FREED)
def test_a_second_backward_names_the_freed_buffers(name):
    source, fact = FREED[name]
    assert "a second time" in str(run_plain(source).error)
    [problem] = run_traced(source).of("problem")
    assert spoken(problem["fact"]) == fact


CHANGED = {
    "result": (
        BOTH + "h = x.exp()\ny = h.sum()\nh += 1\ny.backward()",
        "problem-changed-in-place ExpBackward0 3 h 0 1 add_ 5",
    ),
    "entry": (
        BOTH + "h = x * 2\ny = (h * w).sum()\nh[0] = 5\ny.backward()",
        "problem-changed-in-place MulBackward0 4 h 0 1 __setitem__ 5",
    ),
    "weight": (
        "m = nn.Linear(2, 1)\nx = torch.ones(1, 2, requires_grad=True)\ny = m(x * 2).sum()\n"
        "with torch.no_grad():\n    m.weight.mul_(2)\ny.backward()",
        "problem-changed-in-place AddmmBackward0 3 m.weight 1 2 mul_ 5",
    ),
    "optimizer": (
        "m = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))\no = torch.optim.SGD(m.parameters(), lr=0.1)\n"
        "a = m(torch.ones(1, 2)).sum()\nb = a * a\na.backward(retain_graph=True)\no.step()\nb.backward()",
        "problem-changed-in-place AddmmBackward0 3 m.1.weight 1 2 add_ 6",
    ),
    "view": (
        BOTH + "h = x.exp()\ny = h.sum()\nh.view(-1).mul_(3)\ny.backward()",
        "problem-changed-in-place ExpBackward0 3 h 0 1 mul_ 5",
    ),
    "custom": (
        PRODUCT + BOTH + "h = x * 1\ny = Product.apply(h, w).sum()\nh.add_(1)\ny.backward()",
        "problem-changed-in-place ProductBackward 13 h 0 1 add_ 14",
    ),
    "inside a function": (
        BOTH + "def clobber(t):\n    t.clamp_(0, 1)\nh = x * 3\ny = (h ** 2).sum()\nclobber(h)\ny.backward()",
        "problem-changed-in-place PowBackward0 6 h 0 1 clamp_ 4",
    ),
    "out": (
        BOTH + "h = x.detach().clone()\ny = (w * h).sum()\ntorch.add(h, 1, out=h)\ny.backward()",
        "problem-changed-in-place MulBackward0 4 h 0 1 add 5",
    ),
    "several": (
        BOTH + "h = x.exp()\ny = h.sum()\nh.add_(1)\nh.mul_(2)\ny.backward()",
        "problem-changed-in-place ExpBackward0 3 h 0 2 add_ 5 mul_ 6",
    ),
    "only what came after": (
        BOTH + "h = x * 1\nh.add_(1)\ny = (h * w).sum()\nh.mul_(2)\ny.backward()",
        "problem-changed-in-place MulBackward0 5 h 1 2 mul_ 6",
    ),
    "the other one": (
        BOTH + "h = x * 1\nh.add_(1)\nk = w * 1\ny = (h * k).sum()\nk.mul_(2)\ny.backward()",
        "problem-changed-in-place MulBackward0 6 k 0 1 mul_ 7",
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_an_in_place_error_names_tensor_and_both_lines(name):
    source, fact = CHANGED[name]
    assert "modified by an inplace operation" in str(run_plain(source).error)
    [problem] = run_traced(source).of("problem")
    assert spoken(problem["fact"]) == fact


def test_writing_into_an_inference_tensor_is_left_alone():
    source = "with torch.inference_mode():\n    z = torch.ones(2)\n    z.add_(1)\n    torch.add(z, 1, out=z)\nprint(z)"
    assert run_plain(source).error is None
    assert run_traced(source).run.error is None
