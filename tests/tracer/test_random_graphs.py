"""Random graphs are recorded as the engine ran them; random programs with views, writes in place, no_grad and hooks run
as under plain torch, and are never our fault.
"""

import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tracer.programs import custom_function
from tests.twin import check_pass, run_plain, run_traced, run_watched

HEAD = custom_function(
    "Both", "a, b", "ctx.save_for_backward(a, b)\nreturn a * b, a + b",
    "a, b = ctx.saved_tensors\nreturn g * b + h, g * a + h", arrived="g, h",
) + "t = [torch.randn(2, 2, requires_grad=True) for _ in range(3)]\n"  # fmt: skip
STATEMENTS = (
    "t.append({a} * {b})",
    "t.append({a} * {a})",
    "t.append({a} + {b})",
    "t.append({a}.sin())",
    "t.append({a} @ {b})",
    "t.append({a}.t())",
    "t.append({a}[0].expand(2, 2))",
    "t.extend(one.expand(2, 2) for one in {a}.unbind())",
    "t.extend({a}.split(1, 1)[:1] + ({b},)); t[-2] = t[-2].expand(2, 2)",
    "t.extend(Both.apply({a}, {b}))",
    "t.append({a}.detach() * {b})",
    "t.append(torch.cat([{a}, {b}, {a}])[1:3])",
    "t.append(torch.where({a} > 0, {b}, {a}))",
    "t.append({a}.clone().mul_({b}))",
    "y = {a}.clone(); y[0] = {b}[1]; t.append(y)",
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A program whose last line runs one backward from one to three outputs, some maybe twice."""
    lines = []
    for _ in range(draw(st.integers(1, 10))):
        a, b = (f"t[{draw(st.integers(-6, -1))} % len(t)]" for _ in range(2))
        lines.append(draw(st.sampled_from(STATEMENTS)).format(a=a, b=b))
    roots = draw(st.lists(st.integers(-4, -1), min_size=1, max_size=3))
    listed = ", ".join(f"t[{root}]" for root in roots)
    lines.append(f"roots = [one for one in ({listed},) if one.requires_grad] or [t[0]]")
    lines.append("torch.autograd.backward(roots, [torch.randn(2, 2) for _ in roots])")
    return HEAD + "\n".join(lines) + "\n"


@settings(max_examples=40)
@given(programs())
def test_a_random_graph_is_recorded_as_the_engine_ran_it(source: str) -> None:
    twin, traced = run_watched(source), run_traced(source)
    assert twin.error is None, twin.error
    check_pass(traced.events, twin.passes[0])
    assert all(one.get("checked", True) for step in traced.of("step") for one in step["local_jacobians"])
    for found, expected in zip(traced.run.namespace["t"], twin.namespace["t"], strict=True):
        assert torch.equal(found.detach(), expected.detach())
        if expected.is_leaf and expected.grad is not None:
            assert torch.equal(found.grad, expected.grad)


WILD_HEAD = ["a, b, w = (torch.randn(*shape, requires_grad=True) for shape in ((4,), (2, 2), (4, 4)))"]
MAKING = (
    "{x} * 2", "{x}.sin()", "{x}.view(-1)", "{x}.reshape(-1)[:2]", "{x}.reshape(-1)[:4] * {y}.reshape(-1)[:4]",
    "torch.cat([{x}.reshape(-1), {y}.reshape(-1)])[:4]", "torch.stack([{x}.sum(), {y}.mean()])", "{x}.unsqueeze(0)",
    "torch.where({x} > 0, {x}, 0.0)", "{x}.reshape(-1).unbind()[0]", "{x}.reshape(-1)[:4].chunk(2)[1]",
    "{x}.reshape(-1)[:4].split(2)[0]", "{x}.expand(2, *{x}.shape)", "torch.as_strided({x}, (2,), (1,))",
    "{x}.detach().requires_grad_()", "{x}.clone()",
)  # fmt: skip
DOING = (
    "{x}.mul_(2)", "{x}.tanh_()", "{x}.reshape(-1)[:1].fill_(3.)", "{x}[0] = {y}.sum()", "{x}.data.add_(1)",
    "{x}.retain_grad()", "{x}.register_hook(lambda g: g * 2)", "{x}.register_hook(lambda g: None)",
    "{x}.grad_fn.register_hook(lambda gi, go: tuple(g if g is None else g * 2 for g in gi))",
    "{x}.grad_fn.register_prehook(lambda go: tuple(g if g is None else g * 2 for g in go))", "{x}.sum().item()",
    "{x}.sum().backward(retain_graph=True)",
)  # fmt: skip


def wild_program(seed: int) -> str:
    """Every statement of it runs under plain torch; what comes last may fail."""
    chance = random.Random(seed)
    lines, names = [f"torch.manual_seed({seed})", *WILD_HEAD], ["a", "b", "w"]
    for number in range(chance.randrange(4, 16)):
        operands = {"x": chance.choice(names), "y": chance.choice(names)}
        made = [f"t{number}"] if chance.random() < 0.6 else []
        statement = chance.choice(MAKING if made else DOING).format(**operands)
        statement = f"{made[0]} = {statement}" if made else statement
        new = ["with torch.no_grad():", f"    {statement}"] if chance.random() < 0.2 else [statement]
        if run_plain("\n".join(lines + new)).error is None:
            lines, names = lines + new, names + made
    output = " + ".join(f"{name}.sum()" for name in chance.sample(names, min(3, len(names))))
    return "\n".join([*lines, f"loss = {output}", "if loss.requires_grad: loss.backward()"])


REFUSING = [
    "c = a * 1\nu, v = c.split(2)\nc.mul_(2)\nloss = c.sum()\nloss.backward()",
    "c = a * 1\nwith torch.no_grad():\n    u = c.view(2, 2)\nc.mul_(2)\nc.sum().backward()",
    "e = nn.Embedding(4, 2, padding_idx=0)\n(e(torch.tensor([0, 1])) * b).sum().backward()",
]


@pytest.mark.parametrize("source", REFUSING)
def test_a_view_that_refuses_its_history_does_no_harm(source):
    whole = "\n".join(["torch.manual_seed(0)", *WILD_HEAD, source])
    plain, traced = run_plain(whole), run_traced(whole)
    assert plain.error is None
    assert traced.of("problem") == []
    for name in ("a", "b"):
        ours, theirs = traced.run.namespace[name].grad, plain.namespace[name].grad
        assert ours is theirs is None or torch.equal(ours, theirs)


TWENTY = [pytest.param(chunk, marks=pytest.mark.sweep if chunk else ()) for chunk in range(20)]


@pytest.mark.parametrize("chunk", TWENTY)
def test_a_wild_program_runs_as_under_plain_torch(chunk):
    for seed in range(25 * chunk, 25 * chunk + 25):
        source = wild_program(seed)
        plain, traced = run_plain(source), run_traced(source)
        assert repr(plain.error) == repr(traced.run.error), source
        for name in ("a", "b", "w"):
            ours, theirs = traced.run.namespace[name].grad, plain.namespace[name].grad
            assert (ours is None) == (theirs is None), source
            assert ours is None or torch.equal(torch.nan_to_num(ours), torch.nan_to_num(theirs)), source
