"""Values that stayed inside one call; what runs below autograd is the oracle."""

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from tests.twin import run_plain, run_traced, tensor_of

X = "x = torch.randn(2, 3, requires_grad=True)\n"
PROGRAMS = {
    "linear": "m = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))\nm(torch.randn(4, 2)).sum().backward()\n",
    "einsum": X + "w = torch.randn(2, 4, requires_grad=True)\ntorch.einsum('ij,ik->jk', x, w).sum().backward()\n",
    "attention": "m = nn.MultiheadAttention(4, 2, batch_first=True)\nx = torch.randn(1, 2, 4, requires_grad=True)\n"
    "m(x, x, x)[0].sum().backward()\n",
    "third order": "x = torch.tensor([2.0, 3.0], requires_grad=True)\n"
    "g, = torch.autograd.grad((x**4).sum(), x, create_graph=True)\n"
    "h, = torch.autograd.grad(g.sum(), x, create_graph=True)\nh.sum().backward()\n",
    "gradient penalty": "m = nn.Linear(3, 1)\n"
    + X
    + "g, = torch.autograd.grad(m(x).tanh().sum(), x, create_graph=True)\n"
    "(g.norm(dim=1) - 1).pow(2).sum().backward()\n",
    "expand": X + "torch.stack(torch.broadcast_tensors(x, torch.ones(2, 2, 3))).sum().backward()\n",
}


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


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_value_that_was_filled_in_is_one_that_the_run_computed(name: str) -> None:
    with Below() as below:
        run_plain(PROGRAMS[name])
    nodes = run_traced(PROGRAMS[name]).nodes().values()
    values = [value for node in nodes for value in (*node["inputs"], *node["outputs"]) if "missing" not in value]
    assert all(key(tensor_of(one["value"])) in below.met for one in values if one["value"] is not None)
    if name in ("linear", "einsum", "attention"):
        assert all(one["value"] is not None for one in values)


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_ends_of_an_edge_have_one_value(name: str) -> None:
    for started in run_traced(PROGRAMS[name]).of("pass_started"):
        nodes = {node["id"]: node for node in started["graph"]["nodes"]}
        for edge in started["graph"]["edges"]:
            given = nodes[edge["from"]["node"]]["outputs"][edge["from"]["output_nr"]]["value"]
            assert nodes[edge["to"]["node"]]["inputs"][edge["to"]["argnum"]]["value"] == given


def test_what_cannot_be_known_is_said() -> None:
    source = "x = torch.randn(2, 2, 3, requires_grad=True)\nF.scaled_dot_product_attention(x, x, x).sum().backward()\n"
    nodes = [
        node for node in run_traced(source).nodes().values() if any(one["value"] is None for one in node["outputs"])
    ]
    assert nodes
    assert all(node["note"] == {"kind": "note-unseen"} for node in nodes)
