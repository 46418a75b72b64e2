"""What stands out in the numbers of a pass; torch itself says where the first NaN is and how large gradients are."""

import math

import pytest
import torch

from gradwalk.protocol.requests import ResolvedLimits
from tests.tracer.facts import spoken
from tests.twin import run_plain, run_traced, run_watched

LEAF = "x = torch.tensor([1., 2.], requires_grad=True)\n"


def findings(source, kind=None, **options):
    traced = run_traced(source, **options)
    found = [one for event in traced.of("pass_finished") for one in event.get("findings", [])]
    return traced, [one for one in found if kind is None or one["kind"] == kind]


def lines(found):
    return [one["span"]["line"] for one in found]


QUIET = {
    "map": LEAF + "(x * x).sum().backward()",
    "a good relu": LEAF + "F.relu(x - 1.5).sum().backward()",
    "mean of many": "x = torch.ones(100_000, requires_grad=True)\nx.mean().backward()",
    "linear": "m = nn.Linear(3, 2)\nF.cross_entropy(m(torch.randn(4, 3)), torch.tensor([0, 1, 0, 1])).backward()",
    "zero gradient": LEAF + "(x * 0).sum().backward()",
}


@pytest.mark.parametrize("name", QUIET)
def test_ordinary_numbers_are_no_findings(name):
    assert findings(QUIET[name])[1] == []


FORWARD = {
    "root of a negative": (
        LEAF + "y = x - 3\nz = y.sqrt()\nz.sum().backward()",
        3,
        "SqrtBackward0",
        "finding-value-why SqrtBackward0 3 y -2, -1 2 finding-sqrt",
    ),
    "log of zero": (
        LEAF + "y = (x - 1).log() * 2\ny.sum().backward()",
        2,
        "LogBackward0",
        "finding-value-why LogBackward0 2 x - 1 0, 1 1 finding-log",
    ),
    "division": (
        LEAF + "y = x - x\nz = y / y\nz.sum().backward()",
        3,
        "DivBackward0",
        "finding-value-why DivBackward0 3 y 0, 0 2 finding-div-nan",
    ),
    "difference": (
        LEAF + "y = torch.exp(x * 1000)\nz = y - y\nz.sum().backward()",
        2,
        "ExpBackward0",
        "finding-value ExpBackward0 2 x * 1000 1000, 2000 2",
    ),
    "the leaf itself": (
        "x = torch.tensor([1., float('nan')], requires_grad=True)\n(x * 2).sum().backward()",
        1,
        "AccumulateGrad",
        "finding-leaf x 1",
    ),
}


@pytest.mark.parametrize("name", FORWARD)
def test_the_first_value_that_is_no_number_is_found(name):
    source, line, node, fact = FORWARD[name]
    traced, found = findings(source, "first_non_finite")
    assert lines(found[:1]) == [line]
    assert traced.nodes()[found[0]["node"]]["name"] == node
    assert spoken(found[0]["fact"]) == fact
    if node != "AccumulateGrad":
        steps = [event["index"] for event in traced.of("step") if event["node"] == found[0]["node"]]
        assert [found[0]["step"]] == steps


BACKWARD = {
    "root at zero": LEAF + "y = x - 1\nz = y.sqrt()\nz.sum().backward()",
    "norm at zero": "x = torch.zeros(2, requires_grad=True)\ny = (x * x).sum()\nz = y.sqrt() * 3\nz.backward()",
    "where": LEAF + "y = torch.where(x > 1.5, x, (x - 1).sqrt())\ny.sum().backward()",
}


@pytest.mark.parametrize("name", BACKWARD)
def test_the_first_gradient_that_is_no_number_is_where_anomaly_mode_or_a_hook_sees_it(name):
    source = BACKWARD[name]
    traced, found = findings(source, "first_non_finite")
    (finding,) = found
    step = traced.of("step")[finding["step"]]
    # The oracle: the earliest executed node in plain torch that returns something that is not finite.
    for at, watched in enumerate(run_watched(source).steps):
        if any(one is not None and not torch.isfinite(one).all() for one in watched.grad_inputs):
            assert traced.nodes()[step["node"]]["name"] == watched.name
            assert finding["step"] == at
            break
    else:
        pytest.fail("plain torch finds nothing")


def test_a_seed_that_is_no_number_is_to_blame_itself():
    _, [finding] = findings(LEAF + "y = x * 2\ny.backward(torch.tensor([1., float('inf')]))", "first_non_finite")
    assert finding["fact"]["kind"] == "finding-seed"


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_an_overflow_names_the_dtype_and_its_end(dtype):
    largest = torch.finfo(getattr(torch, dtype)).max
    source = f"x = torch.tensor([{math.sqrt(largest) * 2}], dtype=torch.{dtype}, requires_grad=True)\ny = x * x\n"
    assert run_plain(source).namespace["y"].isinf().all()
    _, [finding] = findings(source + "y.sum().backward()", "overflow")
    assert lines([finding]) == [2]
    assert finding["fact"]["operands"]["dtype"] == dtype
    assert finding["fact"]["operands"]["limit"]["numbers"] == [pytest.approx(largest, rel=1e-5)]


def test_a_pole_is_no_overflow():
    source = LEAF + "y = 1 / (x - 1) + (x - 1) ** -1.0\ny.sum().backward()"
    assert findings(source, "overflow")[1] == []
    assert findings(source, "first_non_finite")[1]


def test_one_step_that_takes_nearly_all_is_not_blamed_on_the_chain():
    source = "x = torch.tensor(12.0, requires_grad=True)\n(torch.sigmoid(x * 1.0) * 2).backward()"
    _, [finding] = findings(source, "vanishing")
    assert finding["fact"]["kind"] == "finding-vanishing-at"
    assert finding["fact"]["operands"]["node"]["operands"]["op"] == "SigmoidBackward0"


def test_a_vanishing_gradient_is_told_by_its_norms():
    source = "x = torch.tensor(0.0, requires_grad=True)\nh = x\nfor _ in range(10):\n    h = torch.sigmoid(h)\n"
    _, [finding] = findings(source + "h.backward()", "vanishing")
    gradient = run_plain(source + "h.backward()").namespace["x"].grad.item()
    assert finding["fact"]["kind"] == "finding-vanishing"
    assert finding["fact"]["operands"]["count"] in (10, 11)
    assert reaches(finding) == pytest.approx([gradient, 1 / gradient], rel=1e-5)
    assert lines([finding]) == [4]


def reaches(finding):
    """The norm of a leaf's gradient, and how many times that is less or more."""
    operands = finding["fact"]["operands"]["reaches"]["operands"]
    return [*operands["norm"]["numbers"], *operands["times"]["numbers"]]


NORMALIZED = {
    "batch": "nn.BatchNorm1d(1, eps={eps})(x.T)",
    "layer": "nn.LayerNorm(2, eps={eps})(x)",
    "group": "F.group_norm(x, 1, eps={eps})",
}


@pytest.mark.parametrize("name", NORMALIZED)
def test_a_gradient_that_a_normalization_takes_away_does_not_vanish(name):
    source = f"x = torch.tensor([[1., 3.]], requires_grad=True)\n({NORMALIZED[name]}**2).sum().backward()"
    assert findings(source.format(eps=1e-5), "vanishing")[1] == []
    assert run_plain(source.format(eps=1e-12)).namespace["x"].grad.abs().max() < 1e-6


@pytest.mark.parametrize("mode", ["train()", "eval()"])
def test_a_normalization_that_divides_by_much_lets_a_gradient_vanish(mode):
    source = (
        f"x = torch.tensor([[1e6], [2e6], [6e6]], requires_grad=True)\nm = nn.BatchNorm1d(1).{mode}\n"
        "m.running_var.fill_(1e12)\n(m(x) ** 3).sum().backward()"
    )
    [finding] = findings(source, "vanishing")[1]
    twin = run_plain(source).namespace["x"].grad.norm().item()
    assert reaches(finding)[0] == pytest.approx(twin)


def test_a_saturated_activation_is_told():
    _, [finding] = findings("x = torch.tensor([200.], requires_grad=True)\ny = torch.sigmoid(x)\ny.sum().backward()")
    assert (finding["kind"], lines([finding])) == ("vanishing", [2])
    assert finding["fact"]["kind"] == "finding-saturated"


def test_an_exploding_gradient_is_told_by_its_norms():
    source = "w = torch.tensor(5.0, requires_grad=True)\nh = torch.tensor(1.0)\nfor _ in range(8):\n    h = h * w\n"
    _, [finding] = findings(source + "h.backward()", "exploding")
    gradient = run_plain(source + "h.backward()").namespace["w"].grad.item()
    assert reaches(finding) == pytest.approx([gradient, gradient], rel=1e-5)
    assert lines([finding]) == [4]


@pytest.mark.parametrize("elements", [1024, 1])
def test_a_dead_relu_is_found_in_place_or_not_written_out_or_summarised(elements):
    source = "x = torch.randn(6, requires_grad=True)\ny = F.relu(x.abs() - 100)\nz = F.relu_(x.abs() - 100)\n"
    source += "u = F.relu(x)\n(y + z + u).sum().backward()"
    limits = ResolvedLimits(elements=elements)
    assert lines(findings(source, "dead_relu", limits=limits)[1])[:1] == [2]
    assert set(lines(findings(source, "dead_relu", limits=limits)[1])) <= {2, 3}


def test_a_finding_names_its_group():
    source = "class Net(nn.Module):\n    def forward(self, x):\n        return (x * 2 - 9).sqrt()\n"
    traced, [finding] = findings(source + LEAF + "Net()(x).sum().backward()", "first_non_finite")
    groups = {group["id"]: group for group in traced.of("pass_started")[0]["graph"]["groups"]}
    assert groups[finding["group"]]["label"].endswith("Net")


def test_findings_of_a_graph_that_two_passes_walk_are_said_once_and_the_same_every_time():
    source = LEAF + "y = (x - 3).sqrt().sum()\ny.backward(retain_graph=True)\ny.backward()"
    traced, found = findings(source, "first_non_finite")
    assert len(found) == 1
    assert found == findings(source, "first_non_finite")[1]


CUT = """class Cosh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        up = torch.exp(x)
        down = torch.exp(-x)
        {save}
        return (up + down) / 2
    @staticmethod
    def backward(ctx, g):
        up, down = {load}
        return g * (up - down) / 2
x = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
y = Cosh.apply(x)
g, = torch.autograd.grad(y, x, create_graph=True)
"""


@pytest.mark.parametrize(
    ("save", "load"),
    [("ctx.save_for_backward(up, down)", "ctx.saved_tensors"), ("ctx.up, ctx.down = up, down", "ctx.up, ctx.down")],
    ids=["save_for_backward", "attributes"],
)
def test_a_second_derivative_that_an_intermediate_cuts_is_told(save, load):
    source = CUT.format(save=save, load=load)
    _, [finding] = findings(source, "cut_derivative")
    assert finding["span"]["line"] == (6 if "save_for" in save else finding["span"]["line"])
    assert finding["used_at"]["line"] == 11
    assert finding["fact"]["operands"]["name"] in ("up", "ctx.up")
    # The truth by finite differences of the first derivative: the second is cosh, and the engine has nothing of it.
    first = [float(run_plain(source.replace("0.7,", f"{at!r},")).namespace["g"]) for at in (0.7 + 1e-5, 0.7 - 1e-5)]
    assert (first[0] - first[1]) / 2e-5 == pytest.approx(math.cosh(0.7), rel=1e-6)
    assert run_plain(source).namespace["g"].requires_grad is False or torch.autograd.grad(
        run_plain(source).namespace["g"], run_plain(source).namespace["x"], allow_unused=True
    ) == (None,)


TIED = {
    "an input": "class F1(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    "        ctx.save_for_backward(x)\n        return x ** 3\n    @staticmethod\n    def backward(ctx, g):\n"
    "        x, = ctx.saved_tensors\n        return g * 3 * x ** 2\n",
    "an output": "class F1(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    "        y = x.exp()\n        ctx.save_for_backward(y)\n        return y\n    @staticmethod\n"
    "    def backward(ctx, g):\n        y, = ctx.saved_tensors\n        return g * y\n",
    "a mask": "class F1(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    "        m = (x > 0).double()\n        ctx.save_for_backward(m)\n        return x * m\n    @staticmethod\n"
    "    def backward(ctx, g):\n        m, = ctx.saved_tensors\n        return g * m\n",
    "an extra output": "class F1(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    "        e = x.exp()\n        ctx.save_for_backward(e)\n        return e * 2, e\n    @staticmethod\n"
    "    def backward(ctx, g, h):\n        e, = ctx.saved_tensors\n        return (g * 2 + h) * e\n",
}


@pytest.mark.parametrize("name", TIED)
def test_what_is_tied_to_the_graph_is_no_cut(name):
    source = TIED[name] + "x = torch.tensor([0.7, -1.], dtype=torch.float64, requires_grad=True)\ny = F1.apply(x)\n"
    source += "y = y[0] if isinstance(y, tuple) else y\ng, = torch.autograd.grad(y.sum(), x, create_graph=True)\n"
    assert findings(source, "cut_derivative")[1] == []


def test_a_first_derivative_alone_needs_no_warning():
    source = CUT.format(save="ctx.save_for_backward(up, down)", load="ctx.saved_tensors")
    assert findings(source.replace(", create_graph=True", ""), "cut_derivative")[1] == []
