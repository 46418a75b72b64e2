"""The batch in local Jacobians; each example by itself, under torch.func.vmap, is the oracle."""

import pytest
import torch

from gradwalk.protocol.requests import Options, ResolvedLimits, TraceRequest
from gradwalk.tracer.replay import jacobian_of_step
from tests.twin import run_traced, tensor_of

# The leaves, the operation, and which operands have a batch of which kind.
PROGRAMS = {
    "mm": ({"x": (4, 3), "w": (3, 2)}, "x @ w", {"self": "block_diagonal", "mat2": "sum"}),
    "elementwise": ({"x": (4, 3)}, "x.exp()", {"self": "block_diagonal"}),
    "broadcast": ({"x": (4, 3), "k": (3,)}, "x * k", {"self": "block_diagonal", "other": "sum"}),
    "softmax over features": ({"x": (4, 3)}, "x.softmax(1)", {"self": "block_diagonal"}),
    "softmax over the batch": ({"x": (4, 3)}, "x.softmax(0)", {}),
    "layer norm": ({"x": (4, 3), "k": (3,)}, "F.layer_norm(x, (3,), k)", {"input": "block_diagonal", "weight": "sum"}),
    "conv": ({"x": (2, 1, 3), "w": (2, 1, 2)}, "F.conv1d(x, w)", {"input": "block_diagonal", "weight": "sum"}),
    "transpose": ({"x": (3, 3)}, "x.t()", {}),
    "square matrices": ({"x": (3, 3), "w": (3, 3)}, "x @ w", {"self": "block_diagonal", "mat2": "sum"}),
    "one example": ({"x": (1, 3), "w": (3, 2)}, "x @ w", {}),
    "a sum": ({"x": (4, 3)}, "x.sum()", {}),
}  # fmt: skip


def source_of(name: str) -> str:
    leaves, operation, _ = PROGRAMS[name]
    made = [f"{leaf} = torch.randn({shape}, dtype=torch.float64, requires_grad=True)" for leaf, shape in leaves.items()]
    return "\n".join([*made, f"y = {operation}", "y.backward(torch.randn_like(y))\n"])


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_batch_is_marked_and_v_j_is_made_example_by_example(name: str) -> None:
    traced = run_traced(source_of(name))
    step = traced.of("step")[0]
    names = [operand["name"] for operand in traced.nodes()[step["node"]]["inputs"]]
    found = {names[one["argnum"]]: one["batch"] for one in step["local_jacobians"] if "batch" in one}
    assert {operand: mark["kind"] for operand, mark in found.items()} == PROGRAMS[name][2]
    v = tensor_of(step["grad_outputs"][0])
    for one in (each for each in step["local_jacobians"] if "batch" in each):
        rows = one["batch"]["size"]
        jacobian = tensor_of(one["value"]).reshape(rows, -1, *one["input_shape"])
        per_example = torch.func.vmap(lambda v, block: torch.tensordot(v, block, 1))(v.reshape(rows, -1), jacobian)
        returned = tensor_of(step["grad_inputs"][one["argnum"]])
        assert torch.allclose(per_example.sum(0), returned)
        if one["batch"]["kind"] == "block_diagonal":
            per_example[range(rows), range(rows)] = 0
            assert not per_example.any()


def test_a_jacobian_on_demand_has_the_mark_too() -> None:
    [found] = jacobian_of_step(TraceRequest(source=source_of("mm"), options=Options()), 0, 1, ResolvedLimits())
    assert (found["batch"]["kind"], found["batch"]["size"]) == ("sum", 4)
