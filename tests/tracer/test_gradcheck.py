"""gradcheck in the picture: `torch.autograd.gradcheck`'s verdict and exact second opinions are the oracle."""

import numpy as np
import pytest
import torch
from pydantic import TypeAdapter

from gradwalk.protocol.answers import GradcheckReport
from gradwalk.protocol.requests import ResolvedLimits, TraceRequest
from gradwalk.tracer.program_check import gradcheck_of_program
from gradwalk.tracer.replay import gradcheck_of_step
from tests.tracer.facts import spoken
from tests.tracer.programs import custom_function
from tests.twin import run_plain, run_traced

REPORTS = TypeAdapter(list[GradcheckReport])


def check(source, node, argnum=0, **limits):
    """The reports of the first step of a node with this name."""
    traced = run_traced(source)
    names = {key: one["name"] for key, one in traced.nodes().items()}
    step = next(event["index"] for event in traced.of("step") if names[event["node"]] == node)
    reports = gradcheck_of_step(TraceRequest(source=source), step, argnum, ResolvedLimits(**limits))
    return REPORTS.validate_python(reports)


def check_program(source, pass_index=0):
    reports = gradcheck_of_program(TraceRequest(source=source), pass_index, ResolvedLimits())
    return {one["name"]: one for one in REPORTS.validate_python(reports)}


def cells(report):
    return [(one["row"], one["column"]) for one in report["wrong"]]


MATMUL = custom_function(
    "Product", "a, b", "ctx.save_for_backward(a, b)\nreturn a @ b", "a, b = ctx.saved_tensors\nreturn {}"
) + (
    "a = torch.tensor([[1., 2.], [3., 5.]], requires_grad=True)\n"
    "b = torch.tensor([[2., 7.], [1., 4.]], requires_grad=True)\ny = Product.apply(a, b)\ny.sum().backward()\n"
)
# The backward, and what is said of it, with the shape of the mistake.
BACKWARDS = {
    "right": ("g @ b.T, a.T @ g", "check-agrees 16"),
    "factor": ("2 * g @ b.T, a.T @ g", "then 8 16 0 0 4 2 2"),
    "not transposed": ("g @ b, a.T @ g", "then 4 16 0 1 7 1 check-transposed"),
    "forgotten": ("torch.zeros_like(a), a.T @ g", "then 8 16 0 0 0 2 check-zeros"),
    "one entry": ("(g @ b.T) + torch.tensor([[0., g[0, 0]], [0., 0.]]), a.T @ g", "check-differs 1 16 0 1 2 1"),
}


@pytest.mark.parametrize("name", BACKWARDS)
def test_exactly_the_wrong_entries_of_a_backward_are_marked_and_the_shape_of_the_mistake_is_said(name):
    backward, said_of_it = BACKWARDS[name]
    source = MATMUL.format(backward)
    [report] = check(source, "ProductBackward")
    namespace = run_plain(source).namespace
    (a, b), function = (namespace[one].detach() for one in "ab"), namespace["Product"].apply
    true = torch.autograd.functional.jacobian(lambda one: one @ b, a).reshape(4, 4)
    said = torch.stack([
        torch.autograd.grad(function(one := a.clone().requires_grad_(), b), one, v.reshape(2, 2))[0].reshape(-1)
        for v in torch.eye(4)
    ])  # fmt: skip
    assert cells(report) == [tuple(place) for place in (true != said).nonzero().tolist()]
    doubles = [one.double().requires_grad_() for one in (a, b)]
    passes = torch.autograd.gradcheck(function, (doubles[0], doubles[1].detach()), raise_exception=False)
    assert report["verdict"] == ("agrees" if passes else "differs")
    assert np.allclose(report["numeric"]["data"], true.double().reshape(-1), atol=1e-7)
    assert spoken(report["because"]) == said_of_it


BUILT_IN = {
    "log_softmax inside it": ("y = F.cross_entropy(x, torch.tensor([0, 2]))", "LogSoftmaxBackward0", 0),
    "random": ("y, _ = torch.native_dropout(x, 0.5, True)", "NativeDropoutBackward0", 0),
    "complex": ("y = torch.complex(x, x * 2).exp().abs()", "ExpBackward0", 0),
    "half": ("y = x.half()", "ToCopyBackward0", 0),
    "second output": ("y = torch.stack(x.unbind(1)[:2])", "UnbindBackward0", 0),
}


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_nodes_agree(name):
    line, node, argnum = BUILT_IN[name]
    reports = check(f"x = torch.randn(2, 3, requires_grad=True)\n{line}\ny.sum().abs().backward()", node, argnum)
    assert {one["verdict"] for one in reports} == {"agrees"}, reports


# The call, its node, the entries without a derivative, and what is said: of the first, the slopes on both sides.
KINKS = {
    "relu": ("x.relu()", "ReluBackward0", [(1, 1)], "check-kink 1 1 0 0 1 0"),
    "abs": ("x.abs()", "AbsBackward0", [(1, 1)], "check-kink 1 1 0 -1 1 0"),
    "amax": ("torch.stack([x[1], x[1] * 1]).amax(0)", "AmaxBackward0", [(0, 0), (0, 1)], "then 0 0 0 0 1 0.5 1"),
    "clamp": ("x.clamp(min=0)", "ClampBackward1", [(1, 1)], "check-kink 1 1 0 0 1 1"),
    "a jump": ("x.sign()", "SignBackward0", [(1, 1)], "check-no-slope 1 1 0 Infinity Infinity 0"),
    "a jump to one side": ("(x / 4).floor()", "FloorBackward0", [(1, 1)], "check-no-slope 1 1 0 Infinity 0 0"),
}


@pytest.mark.parametrize("name", KINKS)
def test_points_without_a_derivative_are_named(name):
    line, node, entries, said = KINKS[name]
    [report] = check(f"x = torch.tensor([1., 0., -2.], requires_grad=True)\ny = {line}\ny.sum().backward()", node)
    assert (report["verdict"], report["wrong"]) == ("not_differentiable", [])
    assert [(one["row"], one["column"]) for one in report["kinks"]] == entries
    assert spoken(report["because"]) == said


def test_an_edge_is_no_mistake_curvature_no_corner_and_a_wrong_value_at_a_corner_is_wrong():
    [report] = check("x = torch.tensor([0., 4.], requires_grad=True)\nx.sqrt().sum().backward()", "SqrtBackward0")
    assert (report["verdict"], cells(report), report["kinks"][0]["left"]) == ("not_differentiable", [], "NaN")
    source = "x = torch.tensor([1e-3, 3e-7], requires_grad=True)\n(x.log() + x.abs()).sum().backward()"
    assert check(source, "LogBackward0")[0]["kinks"] == []
    wrong = MATMUL.format("7 * g, None").replace("a @ b", "a.relu()").replace("[[1., 2.]", "[[0., 2.]")
    assert (0, 0) in cells(check(wrong, "ProductBackward")[0])


CUBE = (
    "x = torch.tensor([1., 2.], requires_grad=True)\ng, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)\n"
)
UNAVAILABLE = {
    "a node without a call": (CUBE + "g.sum().backward()", "MulBackward0", "check-no-call MulBackward0"),
    "numbers too coarse": (MATMUL.format("g @ b.T, None").replace("return a @ b", "return (a @ b).float()"),
        "ProductBackward", "check-coarse float32"),
    "too large": ("x = torch.ones(9, requires_grad=True)\nx.exp().sum().backward()", "ExpBackward0",
        "check-large-jacobian 81 80"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNAVAILABLE)
def test_a_check_that_cannot_be_made_says_why(name):
    source, node, said = UNAVAILABLE[name]
    reports = [one for argnum in range(2) for one in check(source, node, argnum, jacobian_cells=80)]
    assert spoken(reports[0]["because"]) == said
    assert name == "numbers too coarse" or {one["verdict"] for one in reports} == {"unavailable"}


def test_a_step_that_is_not_there_has_no_report():
    request = TraceRequest(source="x = torch.ones(2, requires_grad=True)\nx.exp().sum().backward()")
    assert gradcheck_of_step(request, 99, 0, ResolvedLimits()) == []
    assert gradcheck_of_step(request, 0, 7, ResolvedLimits()) == []
    assert gradcheck_of_program(request, 3, ResolvedLimits()) == []


NET = """model = nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Dropout(0.3), nn.Linear(2, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, t = torch.randn(5, 3), torch.tensor([0, 1, 0, 1, 1])
for _ in range(2):
    loss = F.cross_entropy(model(x), t)
    optimizer.zero_grad()
    loss.backward()
"""
STEPS = ["    optimizer.step()", "    for p in model.parameters():\n        p.data = p.data - 0.1 * p.grad"]


@pytest.mark.parametrize("step", STEPS, ids=["optimizer", "data set"])
def test_a_later_pass_is_checked_at_the_weights_that_it_has(step):
    reports = check_program(NET + step, 1)
    assert list(reports) == ["model.0.weight", "model.0.bias", "model.3.weight", "model.3.bias"]
    assert {one["verdict"] for one in reports.values()} == {"agrees"}
    first, second = (
        {one["leaf"]: one["grad"] for one in event["leaf_grads"]}["model.0.weight"]["data"]
        for event in run_traced(NET + step).of("pass_finished")
    )
    assert reports["model.0.weight"]["analytic"]["data"] == pytest.approx(second, rel=1e-5)
    assert first != second


PROGRAMS = {
    "vector output": ("x = torch.tensor([1., 2.], requires_grad=True)\ny = x ** 2\ny.backward(torch.tensor([1., 3.]))",
                      0, {"x": "agrees"}),
    "complex leaf": ("z = torch.tensor([1 + 2j, 2 - 1j], requires_grad=True)\n(z * z.conj() + z ** 2).abs().sum()"
                     ".backward()", 0, {"z": "agrees"}),
    "half": ("x = torch.randn(3, requires_grad=True, dtype=torch.float16)\n(x.float() ** 2).sum().backward()", 0,
             {"x": "agrees"}),
    "detached": ("x = torch.tensor([1., 2.], requires_grad=True)\n(x * x.detach()).sum().backward()", 0,
                 {"x": "differs"}),
    "wrong Function": (MATMUL.format("2 * g @ b.T, a.T @ g"), 0, {"a": "differs", "b": "agrees"}),
    "too many": ("x = torch.ones(200, requires_grad=True)\ny = torch.ones(2, requires_grad=True)\n"
                 "(x.sum() * y).sum().backward()", 0, {"x": "unavailable", "y": "agrees"}),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_whole_programs(name):
    source, pass_index, expected = PROGRAMS[name]
    reports = check_program(source, pass_index)
    assert {one["name"]: one["verdict"] for one in reports.values()} == expected
    if name == "detached":
        last = reports["x"]["because"]["operands"]["rest"]
        assert spoken(last) == "check-unseen-use x .detach() 2"
