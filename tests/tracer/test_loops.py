"""Loops: a sample of their passes is recorded, the others are listed, any of them can be asked for."""

from functools import cache
from typing import Any

import pytest
import torch

from tests.tracer.facts import spoken
from tests.tracer.test_truth import assert_equal_values
from tests.twin import Traced, assert_same, run_plain, run_traced

LEGENDRE = """\
class LegendrePolynomial3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input ** 3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        input, = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input ** 2 - 1)

x = torch.linspace(-math.pi, math.pi, 200)
y = torch.sin(x)
a = torch.full((), 0.0, requires_grad=True)
b = torch.full((), -1.0, requires_grad=True)
c = torch.full((), 0.0, requires_grad=True)
d = torch.full((), 0.3, requires_grad=True)
for t in range(800):
    P3 = LegendrePolynomial3.apply
    y_pred = a + b * P3(c + d * x)
    loss = (y_pred - y).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        for w in (a, b, c, d):
            w -= 5e-5 * w.grad
            w.grad = None
"""
KEPT = "kept = []\n" + LEGENDRE.replace(
    "    with torch",
    "    kept.append((loss.item(), *(w.grad.clone() for w in (a, b, c, d)), y_pred.detach().clone()))\n    with torch",
)

DROPOUT = """\
net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1))
opt = torch.optim.Adam(net.parameters())
history = []
for epoch in range(20):
    for batch in range(10):
        opt.zero_grad()
        loss = net(torch.randn(5, 3)).pow(2).mean()
        loss.backward()
        opt.step()
        history.append(loss.item())
"""


@cache
def legendre() -> Traced:
    return run_traced(LEGENDRE)


def numbers_of(traced: Traced) -> list[int]:
    """Of the recorded passes, among all that ran."""
    return [event.get("number", event["pass"]) for event in traced.of("pass_started")]


def curve_of(traced: Traced) -> dict[int, tuple[Any, list[Any], dict[str, Any]]]:
    """By number, what an unrecorded pass started from, its norms and its call."""
    found = {}
    for event in traced.of("unrecorded"):
        for at, (of, value, norms) in enumerate(zip(event["of"], event["outputs"], event["norms"], strict=True)):
            found[event["first"] + at] = value, norms, event["calls"][of]
    return found


def marks_of(traced: Traced, kind: str) -> set[int]:
    """The passes before which something was done to the leaves."""
    recorded = traced.of("pass_started")
    found = {event.get("number", event["pass"]) for event in recorded if kind in event.get("between", ())}
    return found.union(*(event["between"][kind] for event in traced.of("unrecorded")))


def test_pass_734_of_800_is_what_plain_torch_computes() -> None:
    loss, *grads, y_pred = run_plain(KEPT).namespace["kept"][734]
    traced = run_traced(LEGENDRE, passes=[734])
    (started,) = traced.of("pass_started")
    (finished,) = traced.of("pass_finished")
    assert started["number"] == 734
    found = {one["leaf"]: one["grad"] for one in finished["leaf_grads"]}
    for name, grad in zip("abcd", grads, strict=True):
        assert_same(found[name], grad, name)
    values = [output["value"] for node in started["graph"]["nodes"] for output in node["outputs"]]
    assert any(value["data"] == [pytest.approx(loss, rel=1e-7)] for value in values if value["shape"] == [])
    assert any(value["data"] == pytest.approx(y_pred.tolist(), rel=1e-7) for value in values if value["shape"] == [200])


def test_of_800_passes_the_first_the_last_and_an_even_sample_are_recorded() -> None:
    traced = legendre()
    numbers = numbers_of(traced)
    assert len(numbers) == 64
    assert numbers[:8] == list(range(8))
    assert numbers[-1] == 799
    gaps = [after - before for before, after in zip(numbers[8:-1], numbers[9:], strict=True)]
    assert max(gaps) - min(gaps) <= 1
    assert traced.events[-1]["passes"] == 64
    assert traced.events[-1]["unrecorded"] == 736
    assert not traced.of("problem")


def test_what_is_not_recorded_is_listed_with_the_numbers_of_plain_torch() -> None:
    kept = run_plain(KEPT).namespace["kept"]
    traced = legendre()
    curve = curve_of(traced)
    assert sorted({*curve, *numbers_of(traced)}) == list(range(800))
    for number, (value, norms, call) in curve.items():
        assert value == pytest.approx(kept[number][0], rel=1e-6)
        expected = dict(zip("abcd", kept[number][1:5], strict=True))
        assert call["output"] == "loss"
        assert call["span"]["line"] == 1 + LEGENDRE.splitlines().index("    loss.backward()")
        assert norms == [pytest.approx(abs(expected[name].item()), rel=1e-5) for name in call["leaves"]]


STEPPED = (
    "w = torch.tensor(1.0, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.001)\n"
    "for i in range(300):\n    (w * w).backward()\n{}"
)


def test_step_and_zero_grad_are_told_where_they_ran() -> None:
    source = STEPPED.format("    if i % 3 == 2:\n        opt.step()\n    if i % 5 == 4:\n        opt.zero_grad()\n")
    traced = run_traced(source)
    assert marks_of(traced, "step") == set(range(3, 300, 3))
    assert marks_of(traced, "zero_grad") == set(range(5, 300, 5))


def test_a_pass_that_was_asked_for_knows_what_came_before_it() -> None:
    source = STEPPED.format("    opt.step()\n")
    traced = run_traced(source, passes=[200])
    (started,) = traced.of("pass_started")
    (finished,) = traced.of("pass_finished")
    assert started["between"] == ["step"]
    (found,) = finished["findings"]
    assert spoken(found["fact"]) == "finding-no-zero-grad w 200 201"


PROGRAMS = {
    "legendre": LEGENDRE,
    "dropout and adam, epochs of batches": DROPOUT,
    "a while": "w = torch.ones(3, requires_grad=True)\nt = 0\nwhile t < 400:\n"
    "    (w * torch.randn(3)).sum().backward()\n    t += 1\n",
    "left early": "w = torch.ones(3, requires_grad=True)\nfor t in range(1000):\n    loss = (w * t).sum()\n"
    "    loss.backward()\n    if t == 321:\n        break\nlast = (w * 2).sum()\nlast.backward()\n",
    "a state that is carried on": "w = torch.ones(3, requires_grad=True)\nh = torch.zeros(3)\nfor t in range(66):\n"
    "    h = torch.tanh(h * w)\n    h.sum().backward(retain_graph=True)\n",
    "a loader": "data = torch.utils.data.TensorDataset(torch.randn(40, 3))\nw = torch.ones(3, requires_grad=True)\n"
    "for epoch in range(20):\n    for i, (x,) in enumerate(torch.utils.data.DataLoader(data, 4, shuffle=True)):\n"
    "        (x * w).sum().backward()\n",
    "a new leaf each time": "w = torch.ones(3, requires_grad=True)\nfor t in range(300):\n"
    "    (w * w).sum().backward()\n    w = (w - 0.01 * w.grad).detach().requires_grad_()\n",
    "raises": "w = torch.ones(3, requires_grad=True)\nfor t in range(1000):\n    (w * t).sum().backward()\n"
    "    if t == 321:\n        raise ValueError('enough')\n",
}


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_loop_runs_as_it_does_without_us(source: str) -> None:
    plain = run_plain(source)
    traced = legendre() if source == LEGENDRE else run_traced(source)
    assert traced.random_states == plain.random_states
    assert type(traced.run.error) is type(plain.error)
    for name, value in plain.namespace.items():
        assert_equal_values(traced.run.namespace.get(name), value, name)
    assert not [problem for problem in traced.of("problem") if problem["kind"] == "internal"]
    for started in traced.of("pass_started"):
        assert all(node["span"] for node in started["graph"]["nodes"] if node["kind"] == "op")
    assert torch._C._len_torch_function_stack() == 0


def test_turns_of_a_while_are_recorded_at_growing_distances() -> None:
    numbers = numbers_of(run_traced(PROGRAMS["a while"]))
    assert numbers[:64] == list(range(64))
    assert numbers[64:] == [64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]


def test_nothing_listens_between_the_recorded_turns() -> None:
    source = "w = torch.ones(3, requires_grad=True)\nheard = []\nfor t in range(500):\n"
    source += "    heard.append(torch._C._len_torch_function_stack())\n    (w * w).sum().backward()\n"
    traced = run_traced(source)
    assert traced.run.namespace["heard"].count(0) == 500 - len(numbers_of(traced))


def test_norms_do_not_overflow_where_the_gradient_does_not() -> None:
    source = "w = torch.full((4,), 1e30, requires_grad=True)\nfor t in range(200):\n    w.grad = None\n"
    traced = run_traced(source + "    (w * 2e25).sum().backward()\n")
    assert {tuple(norms) for _, norms, _ in curve_of(traced).values()} == {(4e25,)}


@pytest.mark.soak
def test_of_passes_over_large_tensors_fewer_are_recorded() -> None:
    source = """\
w = torch.randn(1000, 1000, requires_grad=True)
for i in range(60):
    (w * w).sum().backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
"""
    traced = run_traced(source)
    numbers = numbers_of(traced)
    assert numbers[:2] == [0, 1]
    assert numbers[-1] == 59
    # Summarised in each: w, its gradients and what is saved of it; together 2 to 10 million entries.
    assert 2**26 / 10e6 <= len(numbers) <= 2**26 / 2e6
    assert sorted({*curve_of(traced), *numbers}) == list(range(60))
