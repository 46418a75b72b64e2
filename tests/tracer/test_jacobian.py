"""Local Jacobians of nodes; `torch.autograd.functional.jacobian` of the operation is the oracle.

Where slopes are infinite: the engine's own, put on the diagonal. Of a batch: each example by itself, under vmap.
"""

from math import prod

import numpy as np
import pytest
import torch

from gradwalk.protocol.requests import Options, ResolvedLimits, TraceRequest
from gradwalk.tracer.replay import jacobian_of_step
from gradwalk.tracer.structure import structure_of
from tests.tracer.programs import PASS_IN_BACKWARD
from tests.twin import NEEDS_SAVED, run_plain, run_traced, tensor_of


def program(leaves, operation, dtype="float64"):
    """Random leaves of these shapes, and a backward from the operation with a random v."""
    made = [f"{name} = torch.randn({shape}, dtype=torch.{dtype}, requires_grad=True)" for name, shape in leaves.items()]
    return "\n".join([*made, f"y = {operation}", "y.backward(torch.randn_like(y))\n"])


def entries_of(source, **limits):
    """The local Jacobians of the node that made `y`."""
    return run_traced(source, ResolvedLimits(**limits)).of("step")[0]["local_jacobians"]


def numbers_of(entry):
    value = tensor_of(entry["value"])
    assert entry["value"]["shape"] == entry["output_shape"] + entry["input_shape"]
    assert not (value.signbit() & (value == 0)).any(), "a derivative of -0"
    return value


# What each entry's structure is, by operand where they differ; the operands; the operation.
OPERATIONS = {
    "mul": ("diagonal diagonal", {"x": (2, 3), "w": (2, 3)}, "x * w"),
    "div": ("diagonal sum_over_copies", {"x": (2, 3), "w": (3,)}, "x / w"),
    "sin": ("scalar", {"x": ()}, "x.sin()"),
    "mm": ("kronecker kronecker", {"x": (2, 3), "w": (3, 4)}, "x @ w"),
    "addmm": ("sum_over_copies kronecker kronecker", {"b": (4,), "x": (2, 3), "w": (3, 4)}, "torch.addmm(b, x, w)"),
    "sum": ("copy_to_summands", {"x": (2, 3)}, "x.sum()"),
    "softmax": ("dense", {"x": (2, 3)}, "x.softmax(1)"),
    "flip": ("permutation", {"x": (4,)}, "x.flip(0)"),
    "expand": ("sum_over_copies", {"x": (3,)}, "x.expand(4, 3)"),
    "cat": ("selection selection", {"x": (2, 3), "w": (1, 3)}, "torch.cat([x, w])"),
    "conv2d": ("dense kronecker", {"x": (1, 1, 3, 3), "w": (2, 1, 2, 2)}, "F.conv2d(x, w)"),
    "max_pool": ("selection", {"x": (1, 1, 4, 4)}, "F.max_pool2d(x, 2)"),
    "clamp": ("zero", {"x": (3,)}, "x.clamp(9)"),
    "cdist": ("dense dense", {"x": (4, 2), "w": (3, 2)}, "torch.cdist(x, w)"),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_node_answers_with_the_jacobian_of_its_operation_and_its_structure(name):
    structures, leaves, operation = OPERATIONS[name]
    source = program(leaves, operation)
    entries = entries_of(source)
    assert [(one["argnum"], one["structure"]) for one in entries] == [*enumerate(structures.split())]
    assert all(one["checked"] for one in entries)
    known = run_plain(source).namespace
    oracle = torch.autograd.functional.jacobian(
        lambda *given: eval(operation, known | dict(zip(leaves, given, strict=True))),
        tuple(known[name].detach() for name in leaves),
    )
    for one, expected in zip(entries, oracle, strict=True):
        torch.testing.assert_close(numbers_of(one), expected)


BLOCKS = np.kron(np.eye(2), [[1.0, 2.0], [3.0, 4.0]])
STRUCTURES = [
    (BLOCKS, (2, 2), "kronecker"), (BLOCKS + np.diag([1.0, 0, 0, 0]), (2, 2), "dense"), (BLOCKS, (4,), "dense"),
    (np.eye(4)[[1, 0, 3, 2]] * 2, (4,), "dense"), (np.zeros((1, 1)), (), "zero"),
]  # fmt: skip


def test_a_structure_follows_its_definition():
    assert [structure_of(matrix, shape, shape) for matrix, shape, _ in STRUCTURES] == [row[2] for row in STRUCTURES]


@pytest.mark.parametrize(
    "operation", ["x.abs()", "torch.real(x)", "torch.conj_physical(x)", "x.exp()", "x.angle()", "x * w"]
)
def test_complex_values_are_pairs_of_real_ones(operation):
    leaves = {"x": (2,), "w": (2,)} if "w" in operation else {"x": (2,)}
    source = program(leaves, operation, "complex128")
    known = run_plain(source).namespace

    def of_pairs(*pairs):
        returned = eval(operation, known | dict(zip(leaves, map(torch.view_as_complex, pairs), strict=True)))
        return torch.view_as_real(returned) if returned.is_complex() else returned

    pairs = tuple(torch.view_as_real(known[name].detach()) for name in leaves)
    for one, expected in zip(entries_of(source), torch.autograd.functional.jacobian(of_pairs, pairs), strict=True):
        torch.testing.assert_close(numbers_of(one), expected)
        assert one["checked"]


X = "x = torch.tensor({}, requires_grad=True)\n"
LIVE = {
    "only outputs that a gradient arrived at": (X.format("[1., 2.]") + "y = x.unbind()[1]", [(1, [[0, 1]])]),
    "a write into a view": (X.format("[1., 2., 3.]") + "y = x * 1\ny[1:] = torch.ones(2, requires_grad=True)",
        [(0, [[1, 0, 0], [0, 0, 0], [0, 0, 0]]), (0, [[0, 0], [1, 0], [0, 1]])]),
    "a cast": (X.format("[2., 3.]") + "y = x * torch.tensor([0.5, 4.], dtype=torch.float16, requires_grad=True)",
        [(0, [[0.5, 0], [0, 4]]), (0, [[2, 0], [0, 3]])]),
    "noise beside v": (X.format("[[1e-3], [0.3]], dtype=torch.float64") + "y = F.layer_norm(x, (1,))",
        [(0, [[0, 0], [0, 0]])]),
    "an infinite operand that was broadcast": (X.format("[1., 1., 1.]") + "y = torch.tensor([[torch.inf], [2.]]) * x",
        [(0, [*(torch.eye(3) * torch.inf).nan_to_num(0, torch.inf).tolist(), *(torch.eye(3) * 2).tolist()])]),
}  # fmt: skip


@pytest.mark.parametrize("name", LIVE)
def test_a_node_answers_with_its_numbers_and_nothing_refutes_them(name):
    source, expected = LIVE[name]
    entries = entries_of(f"{source}\ny.backward(torch.randn_like(y))")
    found = [(one["output_nr"], numbers_of(one).reshape(prod(one["output_shape"]), -1).tolist()) for one in entries]
    assert found == expected
    assert all(one.get("checked") is not False for one in entries)
    if name == "a cast":
        assert [(one["value"]["dtype"], one["checked"]) for one in entries] == [("float32", True), ("float16", True)]
    if "infinite" in name:
        assert entries[0]["structure"] == "sum_over_copies"


@pytest.mark.parametrize(("entry", "together", "structure"), [(99, 1000, "too_large"), (100, 100, None), (0, 0, None)])
def test_a_jacobian_over_a_budget_is_left_out(entry, together, structure):
    [found] = entries_of(program({"x": (10,)}, "x.exp()"), jacobian_cells=entry, jacobian_cells_total=together)
    assert (found["structure"], found["value"]) == (structure, {"missing": "on_demand"})
    mixed = entries_of(program({"x": (10,), "w": ()}, "x * w"), jacobian_cells=50)
    assert [one["structure"] for one in mixed] == ["too_large", "sum_over_copies"]


def test_rounding_is_told_from_a_wrong_product():
    made = program({"x": (3, 3)}, "torch.linalg.eigvalsh(x)", "complex128").replace("y =", "x = x + x.mH\ny =")
    for source in (made, program({"x": (5,)}, "x.softmax(0)", "float32")):
        [entry] = entries_of(source)
        assert entry["checked"] is True


CHECKPOINT = (
    "from torch.utils.checkpoint import checkpoint\ny = checkpoint(lambda t: (t * t).exp(), x, use_reentrant={})"
)
PACKED = {
    "saved_tensors_hooks": "with torch.autograd.graph.saved_tensors_hooks(lambda t: (t,), lambda packed: packed[0]):\n"
    "    y = (x * x).exp()",
    "checkpoint": CHECKPOINT.format(False),
    "checkpoint reentrant": CHECKPOINT.format(True),
    "torch.func": "y = x.exp()\ntorch.func.grad(lambda t: (t * t).exp().sum())(x.detach())",
    "a backward that runs passes of its own": PASS_IN_BACKWARD + "y = Inner.apply(x)",
}
HOOKED = ("saved_tensors_hooks", "checkpoint", "torch.func")


@pytest.mark.parametrize("name", [pytest.param(one, marks=NEEDS_SAVED if one in HOOKED else ()) for one in PACKED])
def test_what_tracing_leaves_alone_is_answered_on_demand(name):
    source = f"x = torch.tensor([0.5, -1.0], requires_grad=True)\n{PACKED[name]}\ny.sum().backward()\n"
    traced = run_traced(source)
    x = torch.tensor([0.5, -1.0])
    expected = {
        "ExpBackward0": torch.diag((x * x).exp()),
        "MulBackward0": torch.diag(x),
        "CheckpointFunctionBackward": torch.diag(2 * x * (x * x).exp()),
        "SumBackward0": torch.ones(2),
        "InnerBackward": torch.diag(x.cos()),
        "SinBackward0": torch.diag(x.cos()),
    }
    asked = 0
    for step in traced.of("step"):
        for left_out in step["local_jacobians"]:
            if left_out["value"].get("missing") != "on_demand":
                continue
            request = TraceRequest(source=source, options=Options())
            [found] = jacobian_of_step(request, step["index"], left_out["argnum"], ResolvedLimits())
            assert torch.allclose(numbers_of(found).float(), expected[traced.nodes()[step["node"]]["name"]])
            assert found["checked"]
            asked += 1
    assert asked


TRAPS = {
    "x.sqrt()": [-1.0, 0.0, 4.0],
    "x.log()": [0.0, -1.0, 2.0],
    "x.reciprocal()": [0.0, 2.0, 4.0],
    "x * torch.tensor([float('inf'), 2., float('nan')])": [1.0, 2.0, 3.0],
}


@pytest.mark.parametrize("expression", TRAPS)
def test_the_jacobian_is_zero_off_the_diagonal(expression):
    entries = TRAPS[expression]
    source = f"x = torch.tensor({entries}, requires_grad=True)\ny = {expression}\ny.backward(torch.ones_like(y))\n"
    [jacobian] = run_traced(source).of("step")[0]["local_jacobians"]
    # An operation of each entry by itself: the gradient of ones is its slopes.
    expected = torch.diag_embed(run_plain(source).namespace["x"].grad)
    assert torch.equal(tensor_of(jacobian["value"]).nan_to_num(nan=7777.0), expected.nan_to_num(nan=7777.0))
    assert (jacobian["structure"], jacobian["checked"]) == ("diagonal", True)
    assert "nan_products" not in jacobian


# The leaves, the operation, and which operands have a batch of which kind.
BATCHES = {
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
}  # fmt: skip


@pytest.mark.parametrize("name", BATCHES)
def test_the_batch_is_marked_and_v_j_is_made_example_by_example(name: str) -> None:
    source = program(*BATCHES[name][:2])
    traced = run_traced(source)
    step = traced.of("step")[0]
    names = [operand["name"] for operand in traced.nodes()[step["node"]]["inputs"]]
    found = {names[one["argnum"]]: one["batch"] for one in step["local_jacobians"] if "batch" in one}
    assert {operand: mark["kind"] for operand, mark in found.items()} == BATCHES[name][2]
    v = tensor_of(step["grad_outputs"][0])
    for one in (each for each in step["local_jacobians"] if "batch" in each):
        rows = one["batch"]["size"]
        jacobian = tensor_of(one["value"]).reshape(rows, -1, *one["input_shape"])
        per_example = torch.func.vmap(lambda v, block: torch.tensordot(v, block, 1))(v.reshape(rows, -1), jacobian)
        returned = tensor_of(step["grad_inputs"][one["argnum"]])
        assert torch.allclose(per_example.sum(0), returned)
        [on_demand] = jacobian_of_step(TraceRequest(source=source), 0, one["argnum"], ResolvedLimits())
        assert on_demand["batch"] == one["batch"]
        if one["batch"]["kind"] == "block_diagonal":
            per_example[range(rows), range(rows)] = 0
            assert not per_example.any()
