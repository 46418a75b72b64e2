"""What a rule returned, what each hook made of it and what the engine made of it are separate parts of a step."""

import json
import re
from typing import Any

import pytest
import torch

from gradwalk.exports.exporter import Selection
from gradwalk.exports.picture import write_dot
from gradwalk.exports.spelling import spell_value
from gradwalk.protocol.upgrades import load_document
from tests.tracer.programs import custom_function
from tests.twin import Traced, run_plain, run_traced, tensor_of

START = "x = torch.tensor([1., 2.], requires_grad=True)\n"
FORWARD = START + "y = x.exp()\n"


def grad_of(source: str) -> Any:
    """x.grad under plain torch."""
    return run_plain(source).namespace["x"].grad


def is_hooked(change: Any, after: Any) -> bool:
    """Whether a hook made this of what it got."""
    return torch.equal(tensor_of(change["after"]), after(tensor_of(change["before"])))


def places(changes: Any) -> list[tuple[str, int]]:
    return [(one["kind"], one["span"]["line"]) for one in changes]


def step_of(traced: Traced, name: str) -> Any:
    nodes = traced.nodes()
    return next(step for step in traced.of("step") if nodes[step["node"]]["name"] == name)


def test_what_a_posthook_made_is_not_the_rules() -> None:
    source = FORWARD + (
        "y.grad_fn.register_hook(lambda gi, go: (gi[0] * 5,))\n"
        "y.grad_fn.register_hook(lambda gi, go: None)\n"
        "y.grad_fn.register_hook(lambda gi, go: (gi[0].clamp(max=20.),))\n"
        "y.backward(torch.tensor([2., 2.]))\n"
    )
    step = step_of(run_traced(source), "ExpBackward0")
    ruled = 2 * torch.tensor([1.0, 2.0]).exp()
    first, second = step["changes"]
    assert places(step["changes"]) == [("node_hook", 3), ("node_hook", 5)]
    assert torch.equal(tensor_of(first["before"]), ruled)
    assert torch.equal(tensor_of(first["after"]), ruled * 5)
    assert second["before"] == first["after"]
    assert torch.equal(tensor_of(second["after"]), (ruled * 5).clamp(max=20.0))
    assert step["grad_inputs"] == [second["after"]]
    assert torch.equal(tensor_of(step["grad_inputs"][0]), grad_of(source))
    assert step["local_jacobians"][0]["checked"] is True
    assert step["formula_checked"] is True


def test_what_a_hook_of_a_module_made_names_its_line() -> None:
    source = (
        "m = nn.Linear(2, 1)\nm.register_full_backward_hook(lambda m, gi, go: (gi[0] * 3,))\n"
        "m.register_full_backward_pre_hook(lambda m, go: (go[0] * 7,))\n" + START + "m(x).sum().backward()\n"
    )
    traced = run_traced(source)
    changes = [one for step in traced.of("step") for one in step.get("changes", ()) if one["kind"].endswith("hook")]
    assert places(changes) == [("module_hook", 3), ("module_hook", 2)]
    assert is_hooked(changes[0], lambda before: before * 7)
    assert is_hooked(changes[1], lambda before: before * 3)
    assert torch.equal(tensor_of(changes[-1]["after"]), grad_of(source))


def test_each_hook_before_a_node_is_told_apart() -> None:
    source = FORWARD + (
        "y.register_hook(lambda g: g * 5)\ny.register_hook(lambda g: g + 1)\n"
        "y.grad_fn.register_prehook(lambda g: (g[0] * 2,))\nx.register_hook(lambda g: g * 5)\ny.sum().backward()\n"
    )
    traced = run_traced(source)
    assert places(step_of(traced, "AccumulateGrad")["hooks"]) == [("tensor_hook", 6)]
    step = step_of(traced, "ExpBackward0")
    assert places(step["hooks"]) == [("tensor_hook", 3), ("tensor_hook", 4), ("node_prehook", 5)]
    assert [one["after"]["data"] for one in step["hooks"]] == [[5, 5], [6, 6], [12, 12]]
    assert step["grad_outputs"] == [step["hooks"][-1]["after"]]
    assert torch.equal(tensor_of(step["grad_inputs"][0]) * 5, grad_of(source))


@pytest.mark.parametrize("passes", [1, 2])
def test_a_hook_that_writes_into_grad_is_a_part_of_the_step(passes: int) -> None:
    source = FORWARD + (
        "def double(p):\n    p.grad.mul_(2)\nx.register_post_accumulate_grad_hook(double)\n"
        + "y.sum().backward(retain_graph=True)\n" * passes
    )
    traced = run_traced(source)
    assert not traced.of("problem")
    step = [one for one in traced.of("step") if one["accumulate"] is not None][-1]
    [change] = step["accumulate"]["changes"]
    assert places([change]) == [("post_accumulate_hook", 5)]
    assert is_hooked(change, lambda before: before * 2)
    assert step["accumulate"]["after"] == change["after"]
    assert torch.equal(tensor_of(change["after"]), grad_of(source))
    plain = grad_of(FORWARD + "y.sum().backward()\n")
    assert torch.equal(tensor_of(step["grad_outputs"][0]), plain)
    before = step["accumulate"]["before"]
    assert torch.equal(plain if "missing" in before else tensor_of(before) + plain, tensor_of(change["before"]))


def test_a_posthook_that_is_registered_during_the_pass_is_told_with_its_line() -> None:
    source = START + (
        "y = x.exp()\nz = y * 2\ndef triple(grads, _):\n    return tuple(3 * g for g in grads)\n"
        "def late(g):\n    y.grad_fn.register_hook(triple)\nz.register_hook(late)\nz.sum().backward()\n"
    )
    traced = run_traced(source)
    assert not traced.of("problem")
    step = step_of(traced, "ExpBackward0")
    [change] = step["changes"]
    assert places([change]) == [("node_hook", 7)]
    assert torch.equal(tensor_of(step["grad_inputs"][0]), grad_of(source))
    assert is_hooked(change, lambda before: before * 3)
    assert step["local_jacobians"][0]["checked"]


NONE_RETURNED = custom_function("Forget", "a", "return a * 2", "return None") + (
    "x = torch.ones(2, requires_grad=True)\nForget.apply(x * 3).sum().backward()\n"
)


def test_no_hook_is_blamed_where_there_is_none() -> None:
    assert grad_of(NONE_RETURNED) is None
    traced = run_traced(NONE_RETURNED)
    accumulate = step_of(traced, "AccumulateGrad")["accumulate"]
    assert accumulate["after"]["missing"] == "undefined"
    [finished] = traced.of("pass_finished")
    assert accumulate["after"]["because"]["kind"] == "missing-nothing-arrived"
    told = finished["leaf_grads"][0]["grad"]["because"]
    assert told["kind"] == "missing-none-before"
    assert told["operands"]["op"] == {"kind": "call-in-line", "operands": {"call": "Forget", "line": "9"}}
    told = step_of(traced, "MulBackward0")["grad_inputs"][0]["because"]
    assert told == {"kind": "missing-op-undefined", "operands": {"op": "MulBackward0", "name": "x"}}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_a_product_that_overflows_is_no_refuted_rule(dtype: str) -> None:
    big = torch.finfo(getattr(torch, dtype)).max
    source = (
        f"x = torch.tensor([{big}], dtype=torch.{dtype}, requires_grad=True)\n"
        f"y = x * torch.tensor([1000.], dtype=torch.{dtype})\n"
        f"y.backward(torch.tensor([{big / 4}], dtype=torch.{dtype}))\n"
    )
    assert grad_of(source).isinf().all()
    step = step_of(run_traced(source), "MulBackward0")
    assert step["grad_inputs"][0]["data"] == ["Infinity"]
    assert step["local_jacobians"][0]["checked"] is True


WIDE = custom_function(
    "Wide", "a", "return a + torch.zeros(3, 2)",
    "return g.double() * torch.tensor([[1., 2.], [3., 4.], [5., 6.]], dtype=torch.float64)",
) + "x = torch.ones(2, requires_grad=True)\nWide.apply(x).sum().backward()\n"  # fmt: skip


def test_what_the_engine_made_of_a_gradient_is_a_part_of_the_step() -> None:
    step = step_of(run_traced(WIDE), "WideBackward")
    assert [one["kind"] for one in step["changes"]] == ["sum_to_size", "cast"]
    summed, cast = step["changes"]
    assert tensor_of(summed["before"]).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert summed["before"]["dtype"] == "float64"
    assert tensor_of(summed["after"]).tolist() == [9, 12]
    assert cast["before"] == summed["after"]
    assert cast["after"]["dtype"] == "float32"
    assert torch.equal(tensor_of(cast["after"]), grad_of(WIDE))
    assert step["grad_inputs"] == [cast["after"]]


def test_grad_that_other_code_takes_away_is_not_a_hooks_doing() -> None:
    source = START + (
        "w = torch.ones(2, requires_grad=True)\nz = w * 1\n"
        "z.register_hook(lambda g: setattr(x, 'grad', None))\n(torch.cat([z]) + x).sum().backward()\n"
    )
    assert grad_of(source) is None
    [finished] = run_traced(source).of("pass_finished")
    [absent] = [one["grad"] for one in finished["leaf_grads"] if one["leaf"] == "x"]
    assert absent["because"] == {"kind": "missing-cleared", "operands": {"name": "x"}}


SHARED = {
    "a custom backward": (custom_function("F1", "a", "return a * 3", "g *= 10\nreturn g * 3"), "z = F1.apply(x)\n", 6),
    "a hook": ("", "z = x * 3\nz.register_hook(lambda g: g.mul_(10))\n", 3),
}


@pytest.mark.parametrize("name", SHARED)
def test_a_write_into_a_gradient_that_another_step_shares_is_told_with_its_line(name: str) -> None:
    before, made, line = SHARED[name]
    source = before + START + made + "y = z + x\n(y * y).sum().backward()\n"
    traced = run_traced(source)
    step = traced.of("step")[-1]
    assert places(step["hooks"]) == [("shared_write", line)]
    assert torch.equal(tensor_of(step["grad_outputs"][0]), grad_of(source))
    assert not torch.equal(tensor_of(step["hooks"][0]["before"]), grad_of(source))


@pytest.mark.parametrize("layout", ["strided", "jagged"])
def test_nested_tensors_are_traced(layout: str) -> None:
    source = f"""x = torch.nested.nested_tensor(
    [torch.ones(2), torch.full((3,), 2.0)], layout=torch.{layout}, requires_grad=True
)
(x * x).to_padded_tensor(0.0).sum().backward()
"""
    traced = run_traced(source)
    grad = tensor_of(traced.of("pass_finished")[0]["leaf_grads"][0]["grad"])
    padded = grad_of(source).to_padded_tensor(float("nan"))
    assert torch.equal(grad.nan_to_num(-1.0), padded.nan_to_num(-1.0))


@pytest.mark.usefixtures("run")
def test_the_equation_of_a_picture_ends_with_what_the_rule_returned() -> None:
    source = FORWARD + "y.grad_fn.register_hook(lambda gi, go: (gi[0] * 5,))\ny.backward(torch.ones(2))\n"
    drawn = write_dot(load_document(json.loads(run_traced(source).document)), Selection(step=1)).decode()
    rule, hooked = (spell_value(run_traced(source).of("step")[0]["changes"][0][side]) for side in ("before", "after"))
    assert re.search(rf"= (?:<[^>]+>|\s)*{re.escape(rule)}", drawn)
    assert f"the hook in line 3 made it {hooked}" in drawn
