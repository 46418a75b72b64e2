"""Random programs with views, writes in place, no_grad and hooks run as under plain torch; each pass is recorded."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tracer.programs import custom_function
from tests.twin import check_pass, run_traced, run_watched

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
    "y = {a} * 1; y.view(-1)[:2].tanh_(); t.append(y)",
    "t.append(torch.as_strided({a}, (2, 2), (1, 1)))",
    # Some of these make a backward fail, ours as torch's.
    "{a}.mul_(2)",
    "with torch.no_grad(): {a}.add_({b})",
    "{a}.data.add_(1)",
    "{a}.retain_grad()",
    "{a}.register_hook(lambda g: g * 2)",
    "{a}.grad_fn.register_prehook(lambda go: tuple(g if g is None else g * 2 for g in go))",
    "{a}.sum().backward(retain_graph=True)",
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


@settings(max_examples=60)
@given(programs())
def test_a_random_program_is_recorded_as_the_engine_ran_it(source: str) -> None:
    twin, traced = run_watched(source), run_traced(source)
    assert repr(traced.run.error) == repr(twin.error)
    assert not [one for one in traced.of("problem") if one["kind"] == "internal"]
    for index, expected in enumerate(twin.passes if twin.error is None else twin.passes[:-1]):
        check_pass(traced.events, expected, index)
    assert all(one.get("checked", True) for step in traced.of("step") for one in step["local_jacobians"])
    for found, expected in zip(traced.run.namespace["t"], twin.namespace["t"], strict=True):
        assert torch.equal(found.detach(), expected.detach())
        assert found.is_leaf == expected.is_leaf
        if expected.is_leaf and expected.grad is not None:
            assert torch.equal(found.grad, expected.grad)
