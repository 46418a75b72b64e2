"""Random graphs with reuse, repeats, several roots, views, multi-output nodes and custom Functions."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.twin import check_pass, run_traced, run_watched

HEAD = """
class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b, a + b
    @staticmethod
    def backward(ctx, g, h):
        a, b = ctx.saved_tensors
        return g * b + h, g * a + h
t = [torch.randn(2, 2, requires_grad=True) for _ in range(3)]
"""
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
