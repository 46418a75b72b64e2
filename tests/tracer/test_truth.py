"""What is recorded is what the engine did, and recording it changes nothing."""

import sys
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from tests.tracer.programs import CORPUS, PROGRAMS, trace, watch
from tests.twin import PRELUDE, check_pass, run_plain, run_traced, tensor_of, walk

IGNORES_V = {"returned-jacobian"}
"""Its backward returns J in place of v times J."""
each_program = pytest.mark.parametrize("name", CORPUS)


@each_program
def test_every_pass_is_what_plain_hooks_see(name: str) -> None:
    twin, traced = watch(name), trace(name)
    assert len(traced.of("pass_started")) == len(twin.passes)
    refuted = [one for step in traced.of("step") for one in step["local_jacobians"] if one.get("checked") is False]
    assert bool(refuted) == (name in IGNORES_V)
    for index, expected in enumerate(twin.passes):
        check_pass(traced.events, expected, index)


@each_program
def test_tracing_changes_nothing(name: str) -> None:
    plain, traced = run_plain(CORPUS[name].plain), trace(name)
    assert traced.random_states == plain.random_states
    error = traced.run.error
    assert (type(error), str(error)) == (type(plain.error), str(plain.error))
    assert "".join(event["text"] for event in traced.of("stdout")) == plain.printed
    for variable, value in plain.namespace.items():
        if variable != "result":
            assert_equal_values(traced.run.namespace.get(variable), value, variable)


def assert_equal_values(found: Any, expected: Any, name: str) -> None:
    if isinstance(expected, torch.Tensor):
        assert torch.equal(found.detach().resolve_conj(), expected.detach().resolve_conj()), name
        assert found.requires_grad == expected.requires_grad
        if expected.grad_fn is not None:
            graph, twin = walk([found.grad_fn]), walk([expected.grad_fn])
            assert (graph.names, graph.edges) == (twin.names, twin.edges), name
        if expected.is_leaf:
            assert (found.grad is None) == (expected.grad is None), name
            if expected.grad is not None:
                assert_equal_values(found.grad.to_dense(), expected.grad.to_dense(), f"{name}.grad")
    elif isinstance(expected, torch.nn.Module):
        for (path, one), (_, other) in zip(found.named_parameters(), expected.named_parameters(), strict=True):
            assert_equal_values(one, other, f"{name}.{path}")
    elif isinstance(expected, (int, float, str, list)):
        assert found == expected, name


def test_the_same_program_gives_the_same_bytes() -> None:
    source = PROGRAMS["cnn"] + PROGRAMS["writes into grad_output"]
    first = run_traced(source).events
    for _ in range(4):
        assert run_traced(source).events == first


def test_nothing_is_left_behind() -> None:
    engine = torch.autograd.Variable._execution_engine
    apply = torch.autograd.Function.__dict__["apply"]
    run_traced(PROGRAMS["nested in a hook"])
    run_traced(PROGRAMS["compiled"])
    run_traced("x = torch.ones(2, requires_grad=True)\nraise ValueError\n")
    assert not [finder for finder in sys.meta_path if "gradwalk" in repr(finder)]
    assert torch.autograd.Variable._execution_engine is engine
    assert torch.autograd.Function.__dict__["apply"] is apply
    assert not torch.overrides._get_current_function_mode_stack()
    assert not torch.nn.modules.module._global_forward_hooks
    exec(PRELUDE, {})


class Below(TorchDispatchMode):
    """Keeps every tensor that any operation below autograd got or gave."""

    def __init__(self) -> None:
        super().__init__()
        self.met: set[Any] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for one in tree_flatten((args, result))[0]:
            if isinstance(one, torch.Tensor):
                self.met.add(key(one))
        return result


def key(tensor: torch.Tensor) -> Any:
    return tuple(tensor.shape), tensor.dtype, repr(tensor.detach().tolist())


@pytest.mark.parametrize("name", ["cnn", "double backward", "einsum", "multihead attention", "tied", "several outputs"])
def test_a_value_that_was_filled_in_is_one_that_the_run_computed(name: str) -> None:
    with Below() as below:
        run_plain(PROGRAMS[name])
    nodes = trace(name).nodes().values()
    values = [value for node in nodes for value in (*node["inputs"], *node["outputs"]) if "missing" not in value]
    assert all(key(tensor_of(one["value"])) in below.met for one in values if one["value"] is not None)
    if name in ("cnn", "einsum"):
        assert all(one["value"] is not None for one in values)


@each_program
def test_both_ends_of_an_edge_have_one_value(name: str) -> None:
    for started in trace(name).of("pass_started"):
        nodes = {node["id"]: node for node in started["graph"]["nodes"]}
        for edge in started["graph"]["edges"]:
            given = nodes[edge["from"]["node"]]["outputs"][edge["from"]["output_nr"]]["value"]
            assert nodes[edge["to"]["node"]]["inputs"][edge["to"]["argnum"]]["value"] == given
