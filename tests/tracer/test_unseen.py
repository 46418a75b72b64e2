"""Values that stayed inside one call; what runs below autograd is the oracle."""

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from tests.tracer.programs import CORPUS, PROGRAMS, trace
from tests.twin import run_plain, tensor_of


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


@pytest.mark.parametrize("name", CORPUS)
def test_both_ends_of_an_edge_have_one_value(name: str) -> None:
    for started in trace(name).of("pass_started"):
        nodes = {node["id"]: node for node in started["graph"]["nodes"]}
        for edge in started["graph"]["edges"]:
            given = nodes[edge["from"]["node"]]["outputs"][edge["from"]["output_nr"]]["value"]
            assert nodes[edge["to"]["node"]]["inputs"][edge["to"]["argnum"]]["value"] == given
