"""The batch in local Jacobians; each example by itself, under torch.func.vmap, is the oracle."""

import pytest
import torch

from gradwalk.protocol.requests import Options, ResolvedLimits, TraceRequest
from gradwalk.tracer.replay import jacobian_of_step
from tests.twin import run_traced, tensor_of

X = "x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)\n"
W = (
    "w = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)\n"
    "b = torch.randn(2, dtype=torch.float64, requires_grad=True)\n"
)
END = "\ny.backward(torch.randn_like(y))\n"
PROGRAMS = {
    "mm": (X + W + "y = x @ w" + END, "MmBackward0", {"self": "block_diagonal", "mat2": "sum"}),
    "data without grad": (X.replace(", requires_grad=True", "") + W + "y = x @ w" + END, "MmBackward0",
                          {"mat2": "sum"}),
    "addmm": (X + W + "y = torch.addmm(b, x, w)" + END, "AddmmBackward0",
              {"self": "sum", "mat1": "block_diagonal", "mat2": "sum"}),
    "elementwise": (X + "y = x.exp()" + END, "ExpBackward0", {"self": "block_diagonal"}),
    "broadcast": (X + "k = torch.randn(3, dtype=torch.float64, requires_grad=True)\ny = x * k" + END, "MulBackward0",
                  {"self": "block_diagonal", "other": "sum"}),
    "softmax over features": (X + "y = x.softmax(1)" + END, "SoftmaxBackward0", {"self": "block_diagonal"}),
    "softmax over the batch": (X + "y = x.softmax(0)" + END, "SoftmaxBackward0", {}),
    "layer norm": (X + "k = torch.ones(3, dtype=torch.float64, requires_grad=True)\ny = F.layer_norm(x, (3,), k)" + END,
                   "NativeLayerNormBackward0", {"input": "block_diagonal", "weight": "sum"}),
    "conv": ("x = torch.randn(2, 1, 3, dtype=torch.float64, requires_grad=True)\n"
             "w = torch.randn(2, 1, 2, dtype=torch.float64, requires_grad=True)\ny = F.conv1d(x, w)" + END,
             "ConvolutionBackward0", {"input": "block_diagonal", "weight": "sum"}),
    "embedding": ("w = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)\n"
                  "y = F.embedding(torch.tensor([1, 1, 3]), w)" + END, "EmbeddingBackward0", {"weight": "sum"}),
    "transpose": ("x = torch.randn(3, 3, requires_grad=True)\ny = x.t()" + END, "TBackward0", {}),
    "square matrices": ("x = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)\n"
                        "w = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)\ny = x @ w" + END,
                        "MmBackward0", {"self": "block_diagonal", "mat2": "sum"}),
    "a vector": ("x = torch.randn(4, requires_grad=True)\ny = x.exp()" + END, "ExpBackward0", {}),
    "one loss per example": (X + "y = torch.linalg.vector_norm(x, dim=1)" + END, "LinalgVectorNormBackward0",
                             {"self": "block_diagonal"}),
    "one example": (X.replace("4, 3", "1, 3") + W + "y = x @ w" + END, "MmBackward0", {}),
    "a sum": (X + "y = x.sum()" + END, "SumBackward0", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_batch_is_marked_and_v_j_is_made_example_by_example(name: str) -> None:
    source, node_name, expected = PROGRAMS[name]
    traced = run_traced(source)
    nodes = traced.nodes()
    [step] = [one for one in traced.of("step") if nodes[one["node"]]["name"] == node_name]
    names = [operand["name"] for operand in nodes[step["node"]]["inputs"]]
    found = {names[one["argnum"]]: one["batch"] for one in step["local_jacobians"] if "batch" in one}
    assert {operand: mark["kind"] for operand, mark in found.items()} == expected
    v = tensor_of(step["grad_outputs"][0])
    for one in step["local_jacobians"]:
        if "batch" not in one:
            continue
        rows = one["batch"]["size"]
        jacobian = tensor_of(one["value"]).reshape(rows, -1, *one["input_shape"])
        per_example = torch.func.vmap(lambda v, block: torch.tensordot(v, block, 1))(v.reshape(rows, -1), jacobian)
        returned = tensor_of(step["grad_inputs"][one["argnum"]])
        assert torch.allclose(per_example.sum(0), returned)
        if one["batch"]["kind"] == "block_diagonal":
            per_example[range(rows), range(rows)] = 0
            assert not per_example.any()


def test_a_jacobian_on_demand_has_the_mark_too() -> None:
    request = TraceRequest(source=PROGRAMS["mm"][0], options=Options())
    [found] = jacobian_of_step(request, 0, 1, ResolvedLimits())
    assert (found["batch"]["kind"], found["batch"]["size"]) == ("sum", 4)
