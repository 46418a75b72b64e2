"""What is recorded is what the engine did, and recording it changes nothing."""

from functools import reduce
from typing import Any

import pytest
import torch

from tests.tracer.oracle import PRELUDE, assert_same, run_hooked, run_plain, run_traced, tensor_of
from tests.tracer.programs import PROGRAMS

each_program = pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS.keys())


@each_program
def test_every_step_is_what_plain_hooks_see(source: str) -> None:
    twin = run_hooked(source)
    traced = run_traced(source)
    assert twin.error is None
    nodes = traced.nodes()
    steps = traced.of("step")
    names = [nodes[step["node"]]["name"] for step in steps]
    assert names == [name.removeprefix("torch::autograd::") for name, _, _ in twin.steps]
    for step, (name, grad_outputs, grad_inputs) in zip(steps, twin.steps, strict=True):
        for value, expected in zip(step["grad_outputs"], grad_outputs, strict=True):
            assert_same(value, expected, f"grad_outputs of {name}")
        operands = nodes[step["node"]]["inputs"]
        for operand, value, expected in zip(operands, step["grad_inputs"], grad_inputs, strict=True):
            if "edge" in operand:
                assert_same(value, expected, f"grad_inputs of {name}")
            else:
                assert value["missing"] == "not_required"


@each_program
def test_tracing_changes_nothing(source: str) -> None:
    plain = run_plain(source)
    traced = run_traced(source)
    assert traced.random_states == plain.random_states
    assert type(traced.run.error) is type(plain.error)
    for name, value in plain.namespace.items():
        assert_equal_values(traced.run.namespace.get(name), value, name)


def assert_equal_values(found: Any, expected: Any, name: str) -> None:
    if isinstance(expected, torch.Tensor):
        assert torch.equal(found.detach().resolve_conj(), expected.detach().resolve_conj()), name
        assert found.requires_grad == expected.requires_grad
        if expected.is_leaf:
            assert (found.grad is None) == (expected.grad is None), name
            if expected.grad is not None:
                assert_equal_values(found.grad.to_dense(), expected.grad.to_dense(), f"{name}.grad")
    elif isinstance(expected, torch.nn.Module):
        for (path, one), (_, other) in zip(found.named_parameters(), expected.named_parameters(), strict=True):
            assert_equal_values(one, other, f"{name}.{path}")
    elif isinstance(expected, (int, float, str)):
        assert found == expected, name


@each_program
def test_contributions_add_up_to_the_grad_output(source: str) -> None:
    traced = run_traced(source)
    for step in traced.of("step"):
        hooked = {change["output_nr"]: change["before"] for change in step.get("hooks", ())}
        for slot, value in enumerate(step["grad_outputs"]):
            arrived = [one["value"] for one in step["contributions"] if one["output_nr"] == slot]
            summands = [tensor_of(one) for one in arrived if "missing" not in one]
            expected = hooked.get(slot, value)
            if not summands:
                assert "missing" in expected
                continue
            total = summands[0]
            for summand in summands[1:]:
                total = total + summand
            assert_same(expected, total, f"the sum at step {step['index']}")


@each_program
def test_contributions_come_from_the_steps_that_returned_them(source: str) -> None:
    traced = run_traced(source)
    steps = {step["index"]: step for step in traced.of("step")}
    for started in traced.of("pass_started"):
        edges = {edge["id"]: edge for edge in started["graph"]["edges"]}
        for step in (one for one in steps.values() if one["pass"] == started["pass"]):
            for contribution in step["contributions"]:
                if contribution["edge"] == "seed":
                    continue
                edge = edges[contribution["edge"]]
                assert edge["from"] == {"node": step["node"], "output_nr": contribution["output_nr"]}
                sender = steps[contribution["from_step"]]
                assert sender["node"] == edge["to"]["node"]
                assert sender["grad_inputs"][edge["to"]["argnum"]] == contribution["value"]


@each_program
def test_leaf_gradients_are_those_of_the_untraced_run(source: str) -> None:
    plain = run_plain(source)
    finished = run_traced(source).of("pass_finished")
    for leaf in finished[-1]["leaf_grads"]:
        if not all(part.isidentifier() or part.isdigit() for part in leaf["leaf"].split(".")):
            continue
        base, *path = leaf["leaf"].split(".")
        tensor = reduce(getattr, path, plain.namespace.get(base))
        if isinstance(tensor, torch.Tensor) and "grad = None" not in source:
            assert_same(leaf["grad"], tensor.grad, leaf["leaf"])


def test_an_error_is_the_same_error() -> None:
    source = "x = torch.ones(2, requires_grad=True)\ny = (x * x).sum()\ny.backward()\ny.backward()\n"
    plain, traced = run_plain(source), run_traced(source)
    assert type(traced.run.error) is type(plain.error)
    assert str(traced.run.error) == str(plain.error)


def test_the_same_program_gives_the_same_bytes_twenty_times() -> None:
    source = PROGRAMS["training loop"] + PROGRAMS["map of the forum"]
    first = run_traced(source).events
    for _ in range(19):
        assert run_traced(source).events == first


def test_nothing_is_left_behind() -> None:
    engine = torch.autograd.Variable._execution_engine
    apply = torch.autograd.Function.__dict__["apply"]
    run_traced(PROGRAMS["hooks"])
    run_traced("x = torch.ones(2, requires_grad=True)\nraise ValueError\n")
    assert torch.autograd.Variable._execution_engine is engine
    assert torch.autograd.Function.__dict__["apply"] is apply
    assert not torch.overrides._get_current_function_mode_stack()
    assert not torch.nn.modules.module._global_forward_hooks
    exec(PRELUDE, {})
