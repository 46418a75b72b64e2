"""Functions that torch.func and torch.autograd.functional differentiate: arguments, vmaps, constants."""

import pytest
import torch

from tests.twin import run_plain, run_traced, tensor_of

IMPORTS = (
    "from torch.func import grad, vjp, vmap, jacrev, hessian, grad_and_value\n"
    "from torch.autograd import functional\n"
    "p = torch.tensor([1., 2.])\n"
)
NAMES = {
    "grad": ("g = grad(lambda q: (q * q).sum())(p)", ["q"]),
    "second argument": ("g = grad(lambda a, b: (a * b).sum(), argnums=1)(p, 2 * p)", ["b"]),
    "vjp": ("y, pull = vjp(lambda q: q.exp(), p)\nr = pull(torch.ones(2))", ["q"]),
    "hessian": ("H = hessian(lambda q: (q ** 3).sum())(p)", ["q"]),
    "vmap": ("B = vmap(grad(lambda w, x: (w * x).sum()), in_dims=(None, 0))(p, torch.ones(3, 2))", ["w"]),
    "dictionary": ("g = grad(lambda params: (params['w'] * p).sum())({'w': p})", ["params['w']"]),
    "several": ("y, pull = vjp(lambda *xs: xs[0] * xs[1], p, 3 * p)\nr = pull(torch.ones(2))", ["xs[0]", "xs[1]"]),
    "built in": ("y, pull = vjp(torch.sin, p)\nr = pull(torch.ones(2))", ["argument 0", "input"]),
    "functional.hessian": ("H = functional.hessian(lambda q: (q ** 3).sum(), p)", ["q"]),
}


@pytest.mark.parametrize(("line", "names"), NAMES.values(), ids=NAMES.keys())
def test_leaves_are_called_by_the_argument(line: str, names: list[str]) -> None:
    traced = run_traced(IMPORTS + line)
    leaves = [node for node in traced.nodes().values() if node.get("leaf")]
    assert leaves
    assert {leaf["leaf"].split(" (")[0] for leaf in leaves} <= set(names)
    assert all("input" not in leaf for leaf in leaves)


@pytest.mark.parametrize(
    ("call", "is_input"),
    [
        ("grad(lambda p: (p * p).sum())(p)", True),
        ("grad(lambda p: (p * p).sum())(torch.ones(2))", False),
    ],
)
def test_an_argument_may_be_set_if_it_is_the_variable_of_that_name(call: str, is_input: bool) -> None:
    traced = run_traced(f"{IMPORTS}H = {call}", inputs={"p": [3.0, 4.0]})
    leaf = next(node for node in traced.nodes().values() if node.get("leaf"))
    assert leaf.get("input") == ("p" if is_input else None)
    assert (leaf["outputs"][0]["value"]["data"] == [3, 4]) is is_input


def test_a_constant_of_the_transform_is_not_said_to_be_cut_off() -> None:
    source = (
        IMPORTS + "w = torch.tensor([1., 2.], requires_grad=True)\n"
        "g = grad(lambda u: (u * w).sum())(torch.ones(2))\n(g * w).sum().backward()\n"
    )
    inner, outer = run_traced(source).of("pass_finished")
    [absent] = [one["grad"] for one in inner["leaf_grads"] if one["leaf"] == "w"]
    assert absent["because"] == {"kind": "missing-functional", "operands": {"name": "w"}}
    [grad] = [one["grad"] for one in outer["leaf_grads"] if one["leaf"] == "w"]
    assert torch.equal(tensor_of(grad), run_plain(source).namespace["w"].grad)


def test_stacked_vs_of_jacrev_are_a_batch() -> None:
    source = IMPORTS + "J = jacrev(lambda q: torch.stack([q[0] * q[1], q[0], q[1] ** 2]))(p)"
    traced = run_traced(source)
    [started] = traced.of("pass_started")
    assert started["batch"] == 3
    assert "examples" not in started
    assert torch.equal(tensor_of(started["outputs"][0]["seed"]), torch.eye(3))
    [finished] = traced.of("pass_finished")
    assert torch.equal(tensor_of(finished["results"][0]), run_plain(source).namespace["J"])
    for step in traced.of("step"):
        assert all(one["shape"][0] == 3 for one in step["grad_outputs"] if "missing" not in one)


@pytest.mark.parametrize("axis", [0, 1])
def test_examples_of_vmap_come_first(axis: int) -> None:
    source = IMPORTS + f"xs = torch.arange(6.).reshape(3, 2){'.T' if axis else ''}\n"
    source += f"B = vmap(grad(lambda x: (x * x).sum()), in_dims={axis})(xs)"
    traced = run_traced(source)
    [started] = traced.of("pass_started")
    assert started["examples"] == [3]
    assert "batch" not in started
    [finished] = traced.of("pass_finished")
    assert torch.equal(tensor_of(finished["results"][0]), run_plain(source).namespace["B"])
    leaf = next(node for node in traced.nodes().values() if node.get("leaf"))
    assert leaf["outputs"][0]["value"]["shape"] == [3, 2]
