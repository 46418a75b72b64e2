"""What a rule returned, what each hook made of it and what the engine made of it are separate parts of a step."""

from itertools import pairwise
from typing import Any

import pytest
import torch

from tests.tracer.facts import spoken
from tests.tracer.programs import custom_function
from tests.twin import Traced, run_plain, run_traced, tensor_of

START = "x = torch.tensor([1., 2.], requires_grad=True)\n"
FORWARD = START + "y = x.exp()\n"


def grad_of(source: str) -> Any:
    """x.grad under plain torch."""
    return run_plain(source).namespace["x"].grad


def step_of(traced: Traced, name: str) -> Any:
    nodes = traced.nodes()
    return next(step for step in traced.of("step") if nodes[step["node"]]["name"] == name)


DOUBLED = FORWARD + "def double(p):\n    p.grad.mul_(2)\nx.register_post_accumulate_grad_hook(double)\n"
E = torch.tensor([1.0, 2.0]).exp()
ONES = torch.ones(2)
# The program; what the first hook is given; kind, line and doing of each hook that changes something.
HOOKED = {
    "after a node": (FORWARD + "y.grad_fn.register_hook(lambda gi, go: (gi[0] * 5,))\n"
        "y.grad_fn.register_hook(lambda gi, go: None)\n"
        "y.grad_fn.register_hook(lambda gi, go: (gi[0].clamp(max=20.),))\ny.backward(torch.tensor([2., 2.]))\n",
        2 * E, [("node_hook", 3, lambda g: g * 5), ("node_hook", 5, lambda g: g.clamp(max=20.0))]),
    "after a node, registered during the pass": (START + "y = x.exp()\nz = y * 2\ndef triple(grads, _):\n"
        "    return tuple(3 * g for g in grads)\ndef late(g):\n    y.grad_fn.register_hook(triple)\n"
        "z.register_hook(late)\nz.sum().backward()\n", 2 * E, [("node_hook", 7, lambda g: g * 3)]),
    "of a module": ("m = nn.Linear(2, 1)\nm.register_full_backward_hook(lambda m, gi, go: (gi[0] * 3,))\n"
        "m.register_full_backward_pre_hook(lambda m, go: (go[0] * 7,))\n" + START + "m(x).sum().backward()\n",
        ONES[:1], [("module_hook", 3, lambda g: g * 7), ("module_hook", 2, lambda g: g * 3)]),
    "before a node": (FORWARD + "y.register_hook(lambda g: g * 5)\ny.register_hook(lambda g: g + 1)\n"
        "y.grad_fn.register_prehook(lambda g: (g[0] * 2,))\nx.register_hook(lambda g: g * 5)\ny.sum().backward()\n",
        ONES, [("tensor_hook", 3, lambda g: g * 5), ("tensor_hook", 4, lambda g: g + 1),
            ("node_prehook", 5, lambda g: g * 2), ("tensor_hook", 6, lambda g: g * 5)]),
    "into .grad": (DOUBLED + "y.sum().backward()\n", E, [("post_accumulate_hook", 5, lambda g: g * 2)]),
    "into .grad twice": (DOUBLED + "y.sum().backward(retain_graph=True)\n" * 2, E,
        [("post_accumulate_hook", 5, lambda g: g * 2)] * 2),
}  # fmt: skip


@pytest.mark.parametrize("name", HOOKED)
def test_what_a_hook_made_is_told_apart_with_its_line(name: str) -> None:
    source, given, expected = HOOKED[name]
    traced = run_traced(source)
    assert not traced.of("problem")
    found = []
    for step in traced.of("step"):
        kept = step["accumulate"] or {}
        rewritten = (
            (step.get("hooks", []), step["grad_outputs"]),
            (step.get("changes", []), step["grad_inputs"]),
            (kept.get("changes", []), [kept.get("after")]),
        )
        for changes, ends in rewritten:
            assert all(one["before"] == last["after"] for last, one in pairwise(changes))
            assert not changes or changes[-1]["after"] in ends
            found += [one for one in changes if one["kind"].endswith("hook")]
        if kept:
            first = kept["changes"][0]["before"] if "changes" in kept else kept["after"]
            sent = tensor_of(step["grad_outputs"][0])
            assert torch.equal(
                sent if "missing" in kept["before"] else tensor_of(kept["before"]) + sent, tensor_of(first)
            )
        assert all(one["checked"] for one in step["local_jacobians"])
        assert step.get("formula_checked", True)
    assert [(one["kind"], one["span"]["line"]) for one in found] == [(kind, line) for kind, line, _ in expected]
    assert torch.equal(tensor_of(found[0]["before"]), given)
    for one, (_, _, doing) in zip(found, expected, strict=True):
        assert torch.equal(tensor_of(one["after"]), doing(tensor_of(one["before"])))
    [grad] = [one["grad"] for one in traced.of("pass_finished")[-1]["leaf_grads"] if one["leaf"] == "x"]
    assert torch.equal(tensor_of(grad), grad_of(source))


NONE_RETURNED = custom_function("Forget", "a", "return a * 2", "return None") + (
    "x = torch.ones(2, requires_grad=True)\nForget.apply(x * 3).sum().backward()\n"
)


def test_no_hook_is_blamed_where_there_is_none() -> None:
    assert grad_of(NONE_RETURNED) is None
    traced = run_traced(NONE_RETURNED)
    returned = step_of(traced, "MulBackward0")["grad_inputs"][0]
    [leaf] = traced.of("pass_finished")[0]["leaf_grads"]
    missing = [returned, step_of(traced, "AccumulateGrad")["accumulate"]["after"], leaf["grad"]]
    assert [(one["missing"], spoken(one["because"])) for one in missing] == [
        ("undefined", "missing-op-undefined MulBackward0 x"),
        ("undefined", "missing-nothing-arrived x"),
        ("undefined", "missing-none-before Forget 9 x"),
    ]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
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
    summed, cast = step["changes"]
    assert (summed["kind"], cast["kind"]) == ("sum_to_size", "cast")
    assert tensor_of(summed["before"]).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert tensor_of(summed["after"]).tolist() == [9, 12]
    assert cast["before"] == summed["after"]
    assert (cast["before"]["dtype"], cast["after"]["dtype"]) == ("float64", "float32")
    assert torch.equal(tensor_of(cast["after"]), grad_of(WIDE))
    assert step["grad_inputs"] == [cast["after"]]


def test_a_write_into_a_gradient_that_another_step_shares_is_told_with_its_line() -> None:
    """By a hook; by a backward: `test_findings.py`."""
    source = START + "z = x * 3\nz.register_hook(lambda g: g.mul_(10))\ny = z + x\n(y * y).sum().backward()\n"
    step = run_traced(source).of("step")[-1]
    assert [(one["kind"], one["span"]["line"]) for one in step["hooks"]] == [("shared_write", 3)]
    assert torch.equal(tensor_of(step["grad_outputs"][0]), grad_of(source))
    assert not torch.equal(tensor_of(step["hooks"][0]["before"]), grad_of(source))
