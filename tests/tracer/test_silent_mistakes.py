"""What PyTorch runs without a word is told; what a teacher would write is not. Truth by plain torch."""

from pathlib import Path

import pytest
import torch

import gradwalk.examples
from tests.tracer.facts import spoken
from tests.twin import run_plain, run_traced

SEED = "torch.manual_seed(0)\n"
VECTOR = "x = torch.tensor([2., 3.], requires_grad=True)\n"
WEIGHT = "w = torch.tensor([1., 2.], requires_grad=True)\n"
ATTENTION = SEED + "q, k = torch.randn(4, 3, requires_grad=True), torch.randn(4, 3, requires_grad=True)\n"
KEY_BIAS = (
    SEED + "x = torch.randn({n}, {d})\nq, k, v = nn.Linear({d}, {d}), nn.Linear({d}, {d}), nn.Linear({d}, {d})\n"
    "((q(x) @ k(x).t() / {d} ** 0.5).softmax(-1) @ v(x)).pow(2).sum().backward()"
)
NET = SEED + "net = nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
LOOP = (
    NET + "x, t = torch.randn(8, 3), torch.randn(8, 1)\nfor i in range(3):\n{first}"
    "    (net(x) - t).pow(2).mean().backward()\n    opt.step()\n"
)
BY_HAND = WEIGHT + "for i in range(3):\n    (w * w).sum().backward()\n    {update}\n"

TOLD = {
    "a row that a mask takes whole": (
        ATTENTION + "s = (q @ k.t()).masked_fill(torch.ones(4, 4) > 0, -torch.inf)\ns.softmax(-1).sum().backward()",
        "first_non_finite",
        4,
        "finding-value-why SoftmaxBackward0 4 16 finding-softmax",
    ),
    "a mask that nothing takes away": (
        ATTENTION + "s = (q @ k.t()).masked_fill(torch.eye(4).bool(), float('-inf'))\ns.sum().backward()",
        "first_non_finite",
        3,
        "finding-value MaskedFillBackward0 3 4",
    ),
    "gradients not cleared": (LOOP.format(first=""), "no_zero_grad", 6, "finding-no-zero-grad-more net.bias 1 2 1"),
    "gradients not cleared, by hand": (
        BY_HAND.format(update="w.data -= 0.1 * w.grad"),
        "no_zero_grad",
        3,
        "finding-no-zero-grad w 1 2",
    ),
    "a column against a row": (
        NET + "(net(torch.randn(4, 3)) - torch.randn(4)).pow(2).mean().backward()",
        "broadcast",
        4,
        "finding-broadcast SubBackward0 4 4, 1 4 4, 4",
    ),
    "numbers made a tensor": (
        VECTOR + "t = torch.tensor(x.sum().item())\n(x * t).sum().backward()",
        "rebuilt",
        2,
        "finding-rebuilt tensor 2 .item()",
    ),
    "numbers under a name": (
        VECTOR + "n = (x * 2).tolist()\nt = torch.tensor(n)\n(x * t).sum().backward()",
        "rebuilt",
        3,
        "finding-rebuilt tensor 3 .tolist()",
    ),
    "data written after forward": (
        VECTOR + "y = x * x\nx.data.fill_(10)\ny.sum().backward()",
        "behind_autograd",
        3,
        "finding-behind-autograd MulBackward0 x 2, 3 10, 10 3",
    ),
    "a result written after forward": (
        VECTOR + "y = x.exp()\ny.data.mul_(3)\ny.sum().backward()",
        "behind_autograd",
        3,
        "finding-behind-autograd ExpBackward0 y 7.389, 20.09 22.17, 60.26 3",
    ),
    "numpy": (
        VECTOR + "y = x.sin()\nx.detach().numpy()[0] = 7\ny.sum().backward()",
        "behind_autograd",
        2,
        "finding-behind-autograd SinBackward0 x 2, 3 7, 3",
    ),
}


def found_in(source):
    return [one for event in run_traced(source).of("pass_finished") for one in event.get("findings", [])]


@pytest.mark.parametrize("name", TOLD)
def test_it_is_told_once_with_its_line(name):
    source, kind, line, fact = TOLD[name]
    [finding] = [one for one in found_in(source) if one["kind"] == kind]
    assert finding["span"]["line"] == line
    assert spoken(finding["fact"]) == fact


@pytest.mark.parametrize("name", ["data written after forward", "a result written after forward", "numpy"])
def test_such_a_gradient_is_wrong_indeed(name):
    source = TOLD[name][0]
    told = run_plain(source).namespace["x"].grad
    without = [line for line in source.splitlines() if ".data" not in line and "numpy" not in line]
    assert not torch.allclose(told, run_plain("\n".join(without)).namespace["x"].grad)


QUIET = {
    "a causal mask": ATTENTION + "m = torch.ones(4, 4).triu(1).bool()\n"
    "(q @ k.t()).masked_fill(m, float('-inf')).softmax(-1).pow(2).sum().backward()",
    "a mask that is added": ATTENTION + "m = torch.full((4, 4), float('-inf')).triu(1)\n"
    "(q @ k.t() + m).log_softmax(-1)[:, 0].sum().backward()",
    "a mask by where": ATTENTION + "s = torch.where(torch.ones(4, 4).tril() > 0, q @ k.t(), torch.tensor(-torch.inf))\n"
    "(s / 2).softmax(-1).pow(2).sum().backward()",
    "the bias of keys": KEY_BIAS.format(n=6, d=8),
    "the bias of keys, large": KEY_BIAS.format(n=64, d=128),
    "before a normalisation": SEED + "bn = nn.BatchNorm1d(3)\nx = torch.randn(4, 3, requires_grad=True)\n"
    "(bn(x) * torch.tensor([1.0, 2.0, 3.0])).pow(2).sum().backward()",
    "an odd function": "x = torch.linspace(-3, 3, 201)\na = torch.zeros((), requires_grad=True)\n"
    "(a - torch.sin(x)).pow(2).sum().backward()",
    "one relu": "a = torch.tensor(-1.0, requires_grad=True)\n(torch.relu(a * 2) + a).backward()",
    "gradients cleared": LOOP.format(first="    opt.zero_grad()\n"),
    "gradients set to zeros": LOOP.format(first="    opt.zero_grad(set_to_none=False)\n"),
    "gradients cleared by hand": BY_HAND.format(update="w.data -= 0.1 * w.grad\n    w.grad = None"),
    "gradients accumulated": BY_HAND.format(update="pass") + "w.data -= 0.1 * w.grad",
    "two nets in turn": SEED + "G, D = nn.Linear(2, 2), nn.Linear(2, 1)\nog = torch.optim.SGD(G.parameters(), 0.1)\n"
    "od = torch.optim.SGD(D.parameters(), 0.1)\nfor i in range(3):\n    od.zero_grad()\n"
    "    D(G(torch.randn(4, 2)).detach()).mean().backward()\n    od.step()\n    og.zero_grad()\n"
    "    (-D(G(torch.randn(4, 2))).mean()).backward()\n    og.step()",
    "all pairs": "x = torch.randn(4, requires_grad=True)\n(x[:, None] - torch.randn(4)).abs().sum().backward()",
    "equal shapes": NET + "(net(torch.randn(4, 3)).squeeze(1) - torch.randn(4)).pow(2).mean().backward()",
    "numbers for a diary": VECTOR + "y = (x * 2).sum()\nseen = torch.tensor([y.item()])\ny.backward()",
    "writes that autograd knows of": VECTOR + "y = x.sin()\ny.mul_(2)\nz = torch.relu_(y)\nz.sum().backward()",
    "layers that write in place": SEED
    + "net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(inplace=True),"
    " nn.Dropout(0.5), nn.Linear(4, 2))\nF.cross_entropy(net(torch.randn(8, 3)), torch.ones(8).long()).backward()",
    "a recurrent layer": SEED + "y, _ = nn.LSTM(3, 4, 2)(torch.randn(5, 2, 3))\ny.pow(2).sum().backward()",
}


@pytest.mark.parametrize("name", QUIET)
def test_what_is_meant_is_no_finding(name):
    assert found_in(QUIET[name]) == []


def test_the_bias_of_keys_is_zero_in_theory():
    bias = run_plain(KEY_BIAS.format(n=6, d=8)).namespace["k"].bias.grad
    assert bias.abs().max() < 1e-5


def test_a_gradient_that_vanishes_behind_a_cancelling_sum_is_still_told():
    source = "x = torch.zeros(2, requires_grad=True)\nh = x * 1\nfor _ in range(10):\n    h = torch.sigmoid(h)\n"
    source += "(h.sum() * 1.001 - h.sum()).backward()"
    assert [one["kind"] for one in found_in(source)] == ["vanishing"]


SIGNED = {"gradcheck": ["wrong_backward"], "returned_jacobian": ["wrong_backward"], "vanishing": ["vanishing"]}
"""What a teacher would sign: those three are about it."""
EXAMPLES = sorted((Path(gradwalk.examples.__file__).parent / "programs").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_have_the_findings_that_they_are_about(example):
    traced = run_traced(example.read_text())
    found = [one["kind"] for event in traced.of("pass_finished") for one in event.get("findings", [])]
    assert found == SIGNED.get(example.stem, [])
    assert traced.of("warning") == []
