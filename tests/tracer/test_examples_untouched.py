"""Tracing an example changes nothing: the graph, the results, the random numbers and the error are the plain run's."""

from typing import Any

import pytest
import torch

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.examples.example import Example
from gradwalk.tracer.source import read_program
from tests.tracer import conformance
from tests.tracer.oracle import run_plain, run_traced

each_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)


def plain_source(example: Example) -> str:
    """The example as a program that plain Python can run, its free variables and its mathematics defined first."""
    program = read_program(example.source, ())
    lines = [f"{name} = {path}" for name, path in program.maths_names.items()]
    lines += [
        f"{name} = torch.tensor({value}, requires_grad=True, dtype=torch.float64)"
        for name, value in program.default_inputs.items()
    ]
    return "\n".join([*lines, example.source])


def shape_of_graph(tensor: torch.Tensor) -> Any:
    """Names and edges, slots included."""
    twin = conformance.walk([tensor.grad_fn])
    return twin.names, twin.edges


@each_example
def test_an_example_runs_as_if_nobody_watched(example: Example) -> None:
    plain = run_plain(plain_source(example))
    traced = run_traced(example.source)
    error = traced.run.error
    assert (type(error), str(error)) == (type(plain.error), str(plain.error))
    assert traced.random_states == plain.random_states
    compared = 0
    for name, value in plain.namespace.items():
        mine = traced.run.namespace.get(name)
        if not isinstance(value, torch.Tensor) or not isinstance(mine, torch.Tensor):
            continue
        compared += 1
        assert torch.equal(mine.detach(), value.detach()), name
        if value.grad_fn is not None:
            assert shape_of_graph(mine) == shape_of_graph(value), name
        elif value.grad is not None:
            assert mine.grad is not None, name
            assert torch.equal(mine.grad, value.grad), name
    assert compared
