"""Loops: a sample of their passes is recorded, the others are listed, any of them can be asked for."""

from functools import cache

import pytest
import torch

from tests.tracer.facts import spoken
from tests.tracer.programs import custom_function
from tests.tracer.test_truth import assert_equal_values
from tests.twin import assert_same, run_plain, run_traced

LEGENDRE = custom_function(
    "LegendrePolynomial3", "input", "ctx.save_for_backward(input)\nreturn 0.5 * (5 * input ** 3 - 3 * input)",
    "input, = ctx.saved_tensors\nreturn g * 1.5 * (5 * input ** 2 - 1)",
) + """
x = torch.linspace(-math.pi, math.pi, 120)
y = torch.sin(x)
a, b, c, d = (torch.full((), start, requires_grad=True) for start in (0.0, -1.0, 0.0, 0.3))
for t in range(400):
    P3 = LegendrePolynomial3.apply
    y_pred = a + b * P3(c + d * x)
    loss = (y_pred - y).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        for w in (a, b, c, d):
            w -= 5e-5 * w.grad
            w.grad = None
"""  # fmt: skip
KEPT = "kept = []\n" + LEGENDRE.replace(
    "    with torch",
    "    kept.append((loss.item(), *(w.grad.clone() for w in (a, b, c, d)), y_pred.detach().clone()))\n    with torch",
)
W = "w = torch.ones(3, requires_grad=True)\n"
PROGRAMS = {
    "legendre": LEGENDRE,
    "dropout and adam, epochs of batches": "net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1))\n"
    "opt = torch.optim.Adam(net.parameters())\nhistory = []\nfor epoch in range(10):\n    for batch in range(8):\n"
    "        opt.zero_grad()\n        loss = net(torch.randn(5, 3)).pow(2).mean()\n        loss.backward()\n"
    "        opt.step()\n        history.append(loss.item())\n",
    "a while": W + "t = 0\nwhile t < 400:\n    (w * torch.randn(3)).sum().backward()\n    t += 1\n",
    "a loader": "data = torch.utils.data.TensorDataset(torch.randn(40, 3))\n" + W + "for epoch in range(10):\n"
    "    for i, (x,) in enumerate(torch.utils.data.DataLoader(data, 4, shuffle=True)):\n"
    "        (x * w).sum().backward()\n",
    "a new leaf each time": W + "for t in range(100):\n    (w * w).sum().backward()\n"
    "    w = (w - 0.01 * w.grad).detach().requires_grad_()\n",
    "raises": W + "for t in range(1000):\n    (w * t).sum().backward()\n    if t == 321:\n"
    "        raise ValueError('enough')\n",
}  # fmt: skip


@cache
def trace(name):
    return run_traced(PROGRAMS[name])


def numbers_of(traced):
    """Of the recorded passes, among all that ran."""
    return [event.get("number", event["pass"]) for event in traced.of("pass_started")]


def curve_of(traced):
    """By number, what an unrecorded pass started from, its norms and its call."""
    found = {}
    for event in traced.of("unrecorded"):
        for at, (of, value, norms) in enumerate(zip(event["of"], event["outputs"], event["norms"], strict=True)):
            found[event["first"] + at] = value, norms, event["calls"][of]
    return found


def marks_of(traced, kind):
    """The passes before which something was done to the leaves."""
    recorded = traced.of("pass_started")
    found = {event.get("number", event["pass"]) for event in recorded if kind in event.get("between", ())}
    return found.union(*(event["between"][kind] for event in traced.of("unrecorded")))


@cache
def kept():
    """Of every pass of plain torch: loss, gradients, predictions."""
    return run_plain(KEPT).namespace["kept"]


def test_a_pass_that_is_asked_for_is_what_plain_torch_computes():
    loss, *grads, y_pred = kept()[367]
    traced = run_traced(LEGENDRE, passes=[367])
    (started,), (finished,) = traced.of("pass_started"), traced.of("pass_finished")
    assert started["number"] == 367
    found = {one["leaf"]: one["grad"] for one in finished["leaf_grads"]}
    for name, grad in zip("abcd", grads, strict=True):
        assert_same(found[name], grad, name)
    values = [output["value"] for node in started["graph"]["nodes"] for output in node["outputs"]]
    assert any(value["data"] == [pytest.approx(loss, rel=1e-7)] for value in values if value["shape"] == [])
    assert any(value["data"] == pytest.approx(y_pred.tolist(), rel=1e-7) for value in values if value["shape"] == [120])


def test_the_first_the_last_and_an_even_sample_are_recorded_and_the_others_listed_with_torchs_numbers():
    traced = trace("legendre")
    numbers, curve = numbers_of(traced), curve_of(traced)
    assert (len(numbers), numbers[:8], numbers[-1]) == (64, list(range(8)), 399)
    gaps = [after - before for before, after in zip(numbers[8:-1], numbers[9:], strict=True)]
    assert max(gaps) - min(gaps) <= 1
    assert (traced.events[-1]["passes"], traced.events[-1]["unrecorded"], traced.of("problem")) == (64, 336, [])
    assert sorted({*curve, *numbers}) == list(range(400))
    for number, (value, norms, call) in curve.items():
        assert value == pytest.approx(kept()[number][0], rel=1e-6)
        expected = dict(zip("abcd", kept()[number][1:5], strict=True))
        assert call["output"] == "loss"
        assert call["span"]["line"] == 1 + LEGENDRE.splitlines().index("    loss.backward()")
        assert norms == [pytest.approx(abs(expected[name].item()), rel=1e-5) for name in call["leaves"]]


STEPPED = (
    "w = torch.tensor(1.0, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.001)\n"
    "for i in range(300):\n    (w * w).backward()\n"
)


def test_step_and_zero_grad_are_told_where_they_ran():
    traced = run_traced(
        STEPPED + "    if i % 3 == 2:\n        opt.step()\n    if i % 5 == 4:\n        opt.zero_grad()\n"
    )
    assert marks_of(traced, "step") == set(range(3, 300, 3))
    assert marks_of(traced, "zero_grad") == set(range(5, 300, 5))


def test_a_pass_that_was_asked_for_knows_what_came_before_it():
    traced = run_traced(STEPPED + "    opt.step()\n", passes=[200])
    (started,), (finished,) = traced.of("pass_started"), traced.of("pass_finished")
    assert started["between"] == ["step"]
    assert [spoken(one["fact"]) for one in finished["findings"]] == ["finding-no-zero-grad w 200 201"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_loop_runs_as_it_does_without_us(name):
    plain, traced = run_plain(PROGRAMS[name]), trace(name)
    assert traced.random_states == plain.random_states
    assert type(traced.run.error) is type(plain.error)
    for variable, value in plain.namespace.items():
        assert_equal_values(traced.run.namespace.get(variable), value, variable)
    assert not [problem for problem in traced.of("problem") if problem["kind"] == "internal"]
    for started in traced.of("pass_started"):
        assert all(node["span"] for node in started["graph"]["nodes"] if node["kind"] == "op")
    assert torch._C._len_torch_function_stack() == 0


def test_turns_of_a_while_are_recorded_at_growing_distances_and_nothing_listens_between_them():
    growing = [64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]
    assert numbers_of(trace("a while")) == [*range(64), *growing]
    source = W + "heard = []\nfor t in range(500):\n    heard.append(torch._C._len_torch_function_stack())\n"
    traced = run_traced(source + "    (w * w).sum().backward()\n")
    assert traced.run.namespace["heard"].count(0) == 500 - len(numbers_of(traced))


def test_norms_do_not_overflow_where_the_gradient_does_not():
    source = "w = torch.full((4,), 1e30, requires_grad=True)\nfor t in range(200):\n    w.grad = None\n"
    traced = run_traced(source + "    (w * 2e25).sum().backward()\n")
    assert {tuple(norms) for _, norms, _ in curve_of(traced).values()} == {(4e25,)}


@pytest.mark.soak
def test_of_passes_over_large_tensors_fewer_are_recorded():
    source = "w = torch.randn(1000, 1000, requires_grad=True)\nfor i in range(60):\n    (w * w).sum().backward()\n"
    traced = run_traced(source + "    with torch.no_grad():\n        w -= 0.1 * w.grad\n")
    numbers = numbers_of(traced)
    assert (numbers[:2], numbers[-1]) == ([0, 1], 59)
    # Summarised in each: w, its gradients and what is saved of it; together 2 to 10 million entries.
    assert 2**26 / 10e6 <= len(numbers) <= 2**26 / 2e6
    assert sorted({*curve_of(traced), *numbers}) == list(range(60))
