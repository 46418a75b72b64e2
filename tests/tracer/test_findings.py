"""What stands out in a pass and what PyTorch runs without a word is told; what a teacher would write is not.

Truth by plain torch: where the first NaN is, how large gradients are, which gradients are not those of the program.
"""

import pytest
import torch

from gradwalk.protocol.requests import ResolvedLimits
from tests.tracer.facts import spoken
from tests.tracer.programs import custom_function
from tests.twin import run_traced, run_watched

SEED = "torch.manual_seed(0)\n"
LEAF = "x = torch.tensor([1., 2.], requires_grad=True)\n"
VECTOR = "x = torch.tensor([2., 3.], requires_grad=True)\n"
WEIGHT = "w = torch.tensor([1., 2.], requires_grad=True)\n"
ATTENTION = SEED + "q, k = torch.randn(4, 3, requires_grad=True), torch.randn(4, 3, requires_grad=True)\n"
KEY_BIAS = (
    SEED + "x = torch.randn(6, 8)\nq, k, v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)\n"
    "((q(x) @ k(x).t() / 8 ** 0.5).softmax(-1) @ v(x)).pow(2).sum().backward()"
)
NET = SEED + "net = nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
LOOP = (
    NET + "x, t = torch.randn(8, 3), torch.randn(8, 1)\nfor i in range(3):\n{first}"
    "    (net(x) - t).pow(2).mean().backward()\n    opt.step()\n"
)
BY_HAND = WEIGHT + "for i in range(3):\n    (w * w).sum().backward()\n    {update}\n"
NORMALIZED = (
    "x = torch.tensor([[1e6], [2e6], [6e6]], requires_grad=True)\nm = nn.BatchNorm1d(1).{}\n"
    "m.running_var.fill_(1e12)\n(m(x) ** 3).sum().backward()"
)
CUT = custom_function(
    "Cosh", "x", "up = torch.exp(x)\ndown = torch.exp(-x)\n{save}\nreturn (up + down) / 2",
    "up, down = {load}\nreturn g * (up - down) / 2",
) + (
    "x = torch.tensor(0.7, requires_grad=True)\ny = Cosh.apply(x)\n"
    "g, = torch.autograd.grad(y, x, create_graph=True)\n"
)  # fmt: skip
"""The second derivative is cosh again, of which this double backward has nothing."""
OF_ONE_VALUE = (
    "nn.BatchNorm1d(1, eps={eps})(x.T)", "nn.LayerNorm(2, eps={eps})(x)", "F.group_norm(x, 1, eps={eps})",
)  # fmt: skip
NORM = "x = torch.tensor([[1., 3.]], requires_grad=True)\n({}**2).sum().backward()"


def findings(source, kind=None, **options):
    traced = run_traced(source, **options)
    found = [one for event in traced.of("pass_finished") for one in event.get("findings", [])]
    return traced, [one for one in found if kind is None or one["kind"] == kind]


def lines(found):
    return [one["span"]["line"] for one in found]


# By kind of finding: the program, the line, the fact.
TOLD = {
    "first_non_finite": {
        "root of a negative": (LEAF + "y = x - 3\nz = y.sqrt()\nz.sum().backward()", 3,
            "finding-value-why sqrt 3 y -2, -1 2 finding-sqrt"),
        "log of zero": (LEAF + "y = (x - 1).log() * 2\ny.sum().backward()", 2,
            "finding-value-why log 2 x - 1 0, 1 1 finding-log"),
        "a pole of a power": (LEAF + "y = (x - 1) ** -1.0\ny.sum().backward()", 2,
            "finding-value-why pow 2 x - 1 0, 1 1 finding-pow"),
        "division": (LEAF + "y = x - x\nz = y / y\nz.sum().backward()", 3,
            "finding-value-why div 3 y 0, 0 2 finding-div-nan"),
        "division behind a mask": (LEAF + "y = x - 1\nz = torch.where(y > 0, y / y, y)\nz.sum().backward()", 3,
            "finding-value-masked div 3 y 0, 1 1 finding-div-nan where 3"),
        "the leaf itself": ("x = torch.tensor([1., float('nan')], requires_grad=True)\n(x * 2).sum().backward()", 1,
            "finding-leaf x 1"),
        "a row that a mask takes whole": (ATTENTION +
            "s = (q @ k.t()).masked_fill(torch.ones(4, 4) > 0, -torch.inf)\ns.softmax(-1).sum().backward()", 4,
            "finding-value-why softmax 4 16 finding-softmax"),
        "a seed": (LEAF + "y = x * 2\ny.backward(torch.tensor([1., float('inf')]))", 2, "finding-seed MulBackward0 2"),
        "a mask that nothing takes away": (ATTENTION +
            "s = (q @ k.t()).masked_fill(torch.eye(4).bool(), float('-inf'))\ns.sum().backward()", 3,
            "finding-value masked_fill 3 4"),
    },
    "vanishing": {
        "one class": (LEAF + "F.cross_entropy(x[:, None], torch.tensor([0, 0])).backward()", 2,
            "finding-one-class LogSoftmaxBackward0 2"),
        "a staircase": (LEAF + "(x.round() * 2).sum().backward()", 2, "finding-staircase RoundBackward0 2"),
        "one step that takes nearly all, each time": ("x = torch.tensor(12.0, requires_grad=True)\nfor i in range(3):\n"
            "    (torch.sigmoid(x * 1.0) * 2).backward()", 3,
            "finding-vanishing-at x 1.24e-05 1.613e+05 SigmoidBackward0 3 6.199e-06"),
        "saturated, beside another way": (LEAF + "y = (x * 200).softmax(0)\n(y * x).sum().backward()", 2,
            "finding-saturated SoftmaxBackward0 2 2.236"),
        "too small for float16": (LEAF.replace("]", "], dtype=torch.float16") + "y = x * 1e-4\nz = y * 1e-4\n"
            "z.sum().backward()", 2, "finding-underflow MulBackward0 2 0.0001414"),
        "divided by its own deviation": (NORMALIZED.format("train()"), 4,
            "finding-vanishing-at x 9.184e-07 6.93e+06 NativeBatchNormBackward0 4 1.443e-07"),
        "divided by a running deviation": (NORMALIZED.format("eval()"), 4,
            "finding-vanishing-at x 0.0001087 1e+06 NativeBatchNormBackward0 4 1e-06"),
    },
    "exploding": {
        "8 times 5 to the 7th": ("x = torch.tensor(5.0, requires_grad=True)\nh = torch.tensor(1.0)\n"
            "for _ in range(8):\n    h = h * x\nh.backward()", 4,
            "finding-exploding-alone x 6.25e+05 6.25e+05 MulBackward0 4"),
    },
    "overflow": {
        "over the largest float16": ("x = torch.tensor([512.], dtype=torch.float16, requires_grad=True)\n"
            "y = x * x + x * x\ny.sum().backward()", 2, "finding-overflow MulBackward0 2 x 512 float16 6.55e+04"),
    },
    "cut_derivative": {
        "of an intermediate that is saved": (CUT.format(save="ctx.save_for_backward(up, down)",
            load="ctx.saved_tensors"), 6, "finding-cut-derivative Cosh up up 6 backward 11"),
        "of an intermediate in an attribute": (CUT.format(save="ctx.up, ctx.down = up, down",
            load="ctx.up, ctx.down"), 13, "finding-cut-derivative Cosh ctx.up ctx.up backward 11"),
    },
    "written_gradient": {
        "a backward that writes into what it is given": (
            custom_function("F1", "a", "return a * 3", "g *= 10\nreturn g * 3") + LEAF +
            "y = F1.apply(x) + x\n(y * y).sum().backward()", 7, "finding-written-gradient F1.backward 8, 16 80, 160 7"),
        "one that writes an entry of it": (custom_function("F1", "a", "return a * 3", "g[0] = 0\nreturn g * 3") + LEAF +
            "y = F1.apply(x) + x\n(y * y).sum().backward()", 7, "finding-written-gradient F1.backward 8, 16 0, 16 7"),
    },
    "no_zero_grad": {
        "gradients not cleared beside leaves made anew": (WEIGHT + "for i in range(3):\n"
            "    x = torch.ones(2, requires_grad=True)\n    (w * x).sum().backward()\n    w.data -= 0.1 * w.grad", 4,
            "finding-no-zero-grad w 1 2"),
        "gradients not cleared": (LOOP.format(first=""), 6, "finding-no-zero-grad-more net.bias 1 2 1"),
    },
    "broadcast": {
        "a column against a row": (NET + "(net(torch.randn(4, 3)) - torch.randn(4)).pow(2).mean().backward()", 4,
            "finding-broadcast SubBackward0 4 4, 1 4 4, 4"),
    },
    "rebuilt": {
        "numbers made a tensor": (VECTOR + "t = torch.tensor(x.sum().item())\n(x * t).sum().backward()", 2,
            "finding-rebuilt tensor 2 .item()"),
        "numbers under a name": (VECTOR + "n = (x * 2).tolist()\nt = torch.tensor(n)\n(x * t).sum().backward()", 3,
            "finding-rebuilt tensor 3 .tolist()"),
    },
    "behind_autograd": {
        "data written after forward": (VECTOR + "y = x * x\nx.data.fill_(10)\ny.sum().backward()", 3,
            "finding-behind-autograd MulBackward0 x 2, 3 10, 10 3"),
        "a result written after forward": (VECTOR + "y = x.exp()\ny.data.mul_(3)\ny.sum().backward()", 3,
            "finding-behind-autograd ExpBackward0 y 7.389, 20.09 22.17, 60.26 3"),
        "numpy": (VECTOR + "y = x.sin()\nx.detach().numpy()[0] = 7\ny.sum().backward()", 2,
            "finding-behind-autograd SinBackward0 x 2, 3 7, 3"),
        "an attribute of ctx": (VECTOR + custom_function("F1", "x", "ctx.x = x\nreturn x * x", "return 2 * g * ctx.x") +
            "y = F1.apply(x)\nx.data.sub_(1)\ny.sum().backward()", 11,
            "finding-behind-autograd F1Backward ctx.x 2, 3 1, 2 11"),
    },
}  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, rows in TOLD.items() for name in rows])
def test_it_is_told_once_with_its_line(kind, name):
    source, line, fact = TOLD[kind][name]
    traced, found = findings(source)
    [finding] = [one for one in found if one["kind"] == kind]
    # A pole is none.
    assert kind == "overflow" or "overflow" not in [one["kind"] for one in found]
    assert lines([finding]) == [line]
    assert spoken(finding["fact"]) == fact
    if kind == "first_non_finite" and not fact.startswith("finding-leaf"):
        assert fact.split()[1] in (traced.nodes()[finding["node"]][name].strip("_") for name in ("name", "op"))
        assert [finding["step"]] == [one["index"] for one in traced.of("step") if one["node"] == finding["node"]]


SAVED_TWICE = custom_function("F1", "a, b", "ctx.save_for_backward(a)\nctx.save_for_backward(b)\nreturn a * b",
    "return g * ctx.saved_tensors[0], None") + "F1.apply(w, w.detach() + 1).sum().backward()\n"  # fmt: skip
AGAIN = "w.grad = None\ny.sum().backward(retain_graph=True)\n" * 2


@pytest.mark.parametrize("rest", ["y.sum().backward()\n", AGAIN, SAVED_TWICE])  # fmt: skip
def test_what_did_not_change_behind_autograd_is_not_told(rest):
    source = f"w = torch.tensor([2., float('nan')], requires_grad=True)\ny = (w * w).exp().sqrt()\n{rest}"
    assert not [one for node in run_traced(source).nodes().values() for one in node["saved"] if "was" in one]


QUIET = {
    "a causal mask": ATTENTION + "m = torch.ones(4, 4).triu(1).bool()\n"
        "(q @ k.t()).masked_fill(m, float('-inf')).softmax(-1).pow(2).sum().backward()",
    "a mask that is added": ATTENTION + "m = torch.full((4, 4), float('-inf')).triu(1)\n"
        "(q @ k.t() + m).log_softmax(-1)[:, 0].sum().backward()",
    "a mask that is written": ATTENTION + "s = q @ k.t()\ns.fill_diagonal_(-torch.inf)\ns[0, 2:] = -torch.inf\n"
        "s.softmax(-1).pow(2).sum().backward()",
    "the bias of keys": KEY_BIAS,
    "shares that add up to 1": LEAF + "y = (x * 0).softmax(0)\ny.sum().backward()",
    "before a normalisation": SEED + "bn = nn.BatchNorm1d(3)\nx = torch.randn(4, 3, requires_grad=True)\n"
        "(bn(x) * torch.tensor([1.0, 2.0, 3.0])).pow(2).sum().backward()",
    "an odd function": "x = torch.linspace(-3, 3, 201)\na = torch.zeros((), requires_grad=True)\n"
        "(a - torch.sin(x)).pow(2).sum().backward()",
    "gradients cleared by hand": BY_HAND.format(update="w.data -= 0.1 * w.grad\n    w.grad = None"),
    "gradients accumulated": BY_HAND.format(update="pass") + "w.data -= 0.1 * w.grad",
    "two nets in turn": SEED + "G, D = nn.Linear(2, 2), nn.Linear(2, 1)\nog = torch.optim.SGD(G.parameters(), 0.1)\n"
        "od = torch.optim.SGD(D.parameters(), 0.1)\nfor i in range(3):\n    od.zero_grad()\n"
        "    D(G(torch.randn(4, 2)).detach()).mean().backward()\n    od.step()\n    og.zero_grad()\n"
        "    (-D(G(torch.randn(4, 2))).mean()).backward()\n    og.step()",
    "all pairs": "x = torch.randn(4, requires_grad=True)\n(x[:, None] - torch.randn(4)).abs().sum().backward()",
    "all pairs, under a name": "t = torch.arange(4.)[:, None]\nw = torch.randn(4, requires_grad=True)\n"
        "u = torch.unsqueeze(input=torch.arange(4.), dim=1)\n(t - w).abs().sum().backward()",
    "numbers for a diary": VECTOR + "y = (x * 2).sum()\nseen = torch.tensor([y.item()])\ny.backward()",
    "layers that write in place": SEED +
        "net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(inplace=True), "
        "nn.Dropout(0.5), nn.Linear(4, 2))\nF.cross_entropy(net(torch.randn(8, 3)), torch.ones(8).long()).backward()",
    **{normalize: NORM.format(normalize.format(eps=1e-5)) for normalize in OF_ONE_VALUE},
}  # fmt: skip


@pytest.mark.parametrize("name", QUIET)
def test_what_is_meant_is_no_finding(name):
    assert findings(QUIET[name])[1] == []


BACKWARD = {
    "root at zero": LEAF + "y = x - 1\nz = y.sqrt()\nz.sum().backward()",
    "where": LEAF + "y = torch.where(x > 1.5, x, (x - 1).sqrt())\ny.sum().backward()",
    "one of two": "x = torch.tensor([0., 2.], requires_grad=True)\n((x * 0).sqrt() + 1 / x).sum().backward()",
}


@pytest.mark.parametrize("name", BACKWARD)
def test_the_first_gradient_that_is_no_number_is_where_a_hook_sees_it(name):
    """The oracle: the earliest executed node in plain torch that returns something that is not finite."""
    watched = run_watched(BACKWARD[name]).steps
    first = next(at for at, one in enumerate(watched) if not all(map(is_finite, one.grad_inputs)))
    traced, found = findings(BACKWARD[name], "first_non_finite")
    kinds = {one["step"]: one["fact"]["kind"] for one in found if one["fact"]["kind"].startswith("finding-gradient")}
    assert traced.nodes()[traced.of("step")[first]["node"]]["name"] == watched[first].name
    if name == "one of two":
        assert first not in kinds
        assert [*kinds.values()] == ["finding-gradient-too"]
    else:
        assert kinds == {first: "finding-gradient-sqrt"}


def is_finite(gradient):
    return gradient is None or bool(torch.isfinite(gradient).all())


@pytest.mark.parametrize("elements", [1024, 1])
def test_a_dead_relu_is_found_in_place_or_not_written_out_or_summarised(elements):
    source = "x = torch.randn(6, requires_grad=True)\ny = F.relu(x.abs() - 100)\nz = F.relu_(x.abs() - 100)\n"
    source += "u = F.relu(x)\n(y + z + u).sum().backward()"
    limits = ResolvedLimits(elements=elements)
    assert lines(findings(source, "dead_relu", limits=limits)[1])[:1] == [2]
    assert set(lines(findings(source, "dead_relu", limits=limits)[1])) <= {2, 3}


TIED = {
    "an input": ("ctx.save_for_backward(x)\nreturn x ** 3", "x, = ctx.saved_tensors\nreturn g * 3 * x ** 2"),
    "an output": ("y = x.exp()\nctx.save_for_backward(y)\nreturn y", "y, = ctx.saved_tensors\nreturn g * y"),
    "a mask": ("m = (x > 0).double()\nctx.save_for_backward(m)\nreturn x * m", "m, = ctx.saved_tensors\nreturn g * m"),
    "an extra output": ("e = x.exp()\nctx.save_for_backward(e)\nreturn e * 2, e",
        "e, = ctx.saved_tensors\nreturn (g * 2 + h) * e"),
}  # fmt: skip


@pytest.mark.parametrize("name", TIED)
def test_what_is_tied_to_the_graph_is_no_cut(name):
    source = custom_function("F1", "x", *TIED[name], arrived="g, h" if name == "an extra output" else "g")
    source += "x = torch.tensor([0.7, -1.], dtype=torch.float64, requires_grad=True)\ny = F1.apply(x)\n"
    source += "y = y[0] if isinstance(y, tuple) else y\ng, = torch.autograd.grad(y.sum(), x, create_graph=True)\n"
    assert findings(source)[1] == []
