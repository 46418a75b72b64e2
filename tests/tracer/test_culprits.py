"""Errors inside a backward name the node, the saved tensor, and the lines that saved, changed or freed it."""

import pytest

from gradwalk.words.problems import tell_problem
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
    "product": (BOTH + "y = (x * w).sum()\ny.backward()\ny.backward()", "MulBackward0 (line 3)",
                "`w` and `x`", 4),
    "custom": (PRODUCT + BOTH + "y = Product.apply(x, w).sum()\ny.backward()\ny.backward()",
               "ProductBackward (line 12)", "`x` and `w`", 13),
    "shared part": (BOTH + "h = x.exp()\na = h.sum()\nb = (h * w).sum()\na.backward()\nb.backward()",
                    "ExpBackward0 (line 3)", "`h`", 6),
    "network": ("m = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))\no = m(torch.ones(1, 2)).sum()\n"
                "for _ in range(2):\n    o.backward()", "AddmmBackward0 (line 2)", "`mat1` and `m.2.weight.T`", 4),
    "hidden state": ("h = torch.zeros(2, requires_grad=True)\nw = torch.ones(2, requires_grad=True)\n"
                     "for t in range(2):\n    h = torch.tanh(h * w)\n    loss = h.sum()\n    loss.backward()",
                     "TanhBackward0 (line 4)", "`h`", 6),
    "grad before": (BOTH + "y = (x * w).sum()\ng, = torch.autograd.grad(y, x)\ny.backward()", "MulBackward0 (line 3)",
                    "`w` and `x`", 4),
}  # fmt: skip


@pytest.mark.parametrize("name", FREED)
def test_a_second_backward_names_the_freed_buffers(name):
    source, node, saved, line = FREED[name]
    assert "a second time" in str(run_plain(source).error)
    [problem] = run_traced(source).of("problem")
    assert problem["fact"]["kind"] == "problem-freed-in-line"
    assert problem["fact"]["operands"]["line"] == str(line)
    assert f"{node} needs {saved} again" in tell_problem(problem).message


CHANGED = {
    "result": (BOTH + "h = x.exp()\ny = h.sum()\nh += 1\ny.backward()", "ExpBackward0 (line 3) saved `h` at version 0",
               "Then `add_` in line 5 wrote"),
    "entry": (BOTH + "h = x * 2\ny = (h * w).sum()\nh[0] = 5\ny.backward()", "MulBackward0 (line 4) saved `h`",
              "Then `__setitem__` in line 5 wrote"),
    "weight": ("m = nn.Linear(2, 1)\nx = torch.ones(1, 2, requires_grad=True)\ny = m(x * 2).sum()\n"
               "with torch.no_grad():\n    m.weight.mul_(2)\ny.backward()", "AddmmBackward0 (line 3) saved `m.weight`",
               "Then `mul_` in line 5 wrote"),
    "optimizer": ("m = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))\no = torch.optim.SGD(m.parameters(), lr=0.1)\n"
                  "a = m(torch.ones(1, 2)).sum()\nb = a * a\na.backward(retain_graph=True)\no.step()\nb.backward()",
                  "AddmmBackward0 (line 3) saved `m.1.weight`", "Then `add_` in line 6 wrote"),
    "view": (BOTH + "h = x.exp()\ny = h.sum()\nh.view(-1).mul_(3)\ny.backward()", "ExpBackward0 (line 3) saved `h`",
             "Then `mul_` in line 5 wrote"),
    "custom": (PRODUCT + BOTH + "h = x * 1\ny = Product.apply(h, w).sum()\nh.add_(1)\ny.backward()",
               "ProductBackward (line 13) saved `h`", "Then `add_` in line 14 wrote"),
    "inside a function": (BOTH + "def clobber(t):\n    t.clamp_(0, 1)\nh = x * 3\ny = (h ** 2).sum()\nclobber(h)\n"
                          "y.backward()", "PowBackward0 (line 6) saved `h`", "Then `clamp_` in line 4 wrote"),
    "out": (BOTH + "h = x.detach().clone()\ny = (w * h).sum()\ntorch.add(h, 1, out=h)\ny.backward()",
            "MulBackward0 (line 4) saved `h`", "Then `add` in line 5 wrote"),
    "several": (BOTH + "h = x.exp()\ny = h.sum()\nh.add_(1)\nh.mul_(2)\ny.backward()", "saved `h` at version 0",
                "Then `add_` in line 5 and `mul_` in line 6 wrote"),
    "only what came after": (BOTH + "h = x * 1\nh.add_(1)\ny = (h * w).sum()\nh.mul_(2)\ny.backward()",
                             "saved `h` at version 1", "Then `mul_` in line 6 wrote"),
    "the other one": (BOTH + "h = x * 1\nh.add_(1)\nk = w * 1\ny = (h * k).sum()\nk.mul_(2)\ny.backward()",
                      "saved `k` at version 0", "Then `mul_` in line 7 wrote"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGED)
def test_an_in_place_error_names_tensor_and_both_lines(name):
    source, saved, written = CHANGED[name]
    assert "modified by an inplace operation" in str(run_plain(source).error)
    [problem] = run_traced(source).of("problem")
    assert problem["fact"]["kind"] == "problem-changed-in-place"
    for words in (saved, written):
        assert words in tell_problem(problem).message


def test_writing_into_an_inference_tensor_is_left_alone():
    source = "with torch.inference_mode():\n    z = torch.ones(2)\n    z.add_(1)\n    torch.add(z, 1, out=z)\nprint(z)"
    assert run_plain(source).error is None
    assert run_traced(source).run.error is None
