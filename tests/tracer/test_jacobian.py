"""Local Jacobians of live nodes; `torch.autograd.functional.jacobian` of the operation is the oracle.

Where slopes are infinite: the engine's own, put on the diagonal. Of a batch: each example by itself, under vmap.
"""

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 (everybody's name for it)

from gradwalk.protocol.requests import Options, ResolvedLimits, TraceRequest
from gradwalk.tracer.jacobian import JacobianBudget, local_jacobians
from gradwalk.tracer.replay import jacobian_of_step
from gradwalk.tracer.structure import structure_of
from tests import twin
from tests.tracer.programs import PASS_IN_BACKWARD
from tests.twin import NEEDS_SAVED, run_plain, run_traced

FLOAT64 = {"dtype": torch.float64}
PLENTY = JacobianBudget(10**7, 10**7)


def ask(outputs, seeds, budget=PLENTY):
    """The node that made `outputs[0]`, and what it answers in its posthook during a real backward."""
    node = next(one for one in outputs if one.grad_fn is not None).grad_fn
    answers = []

    def posthook(grad_inputs, grad_outputs):
        with torch._C.DisableTorchFunction():
            answers.append(local_jacobians(node, grad_outputs, grad_inputs, budget, in_replay=False))

    node.register_hook(posthook)
    torch.autograd.backward(outputs, seeds)
    # A pass of its own that asks the node makes it call this hook too, before the answer is there.
    return node, answers[-1]


def jacobians_of(function, *primals, budget=PLENTY):
    """For each differentiable operand of a single node: its local Jacobian as (output_nr -> tensor), and the entry."""
    outputs = function(*(one.detach().clone().requires_grad_() for one in primals))
    outputs = outputs if isinstance(outputs, tuple | list) else (outputs,)
    outputs = [one for one in outputs if one.requires_grad]
    generator = torch.Generator().manual_seed(1)
    return ask(outputs, [torch.randn(one.shape, dtype=one.dtype, generator=generator) for one in outputs], budget)[1]


def tensor_of(entry):
    value = entry["value"]
    assert "data" in value, entry
    assert value["shape"] == entry["output_shape"] + entry["input_shape"]
    numbers = torch.tensor([float(number) for number in value["data"]], **FLOAT64).reshape(value["shape"])
    assert not (numbers.signbit() & (numbers == 0)).any(), "a derivative of -0"
    return numbers


def randn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), **FLOAT64)


def positive(*shape):
    return randn(*shape).abs() + 0.5


# What each entry's structure is, by operand where they differ; the operation; its operands.
OPERATIONS = {
    "mul": ("diagonal", torch.mul, randn(2, 3), randn(2, 3, seed=1)),
    "div": ("diagonal sum_over_copies", torch.div, randn(2, 3), positive(3)),
    "sin": ("scalar", torch.sin, randn()),
    "mm": ("kronecker", torch.mm, randn(2, 3), randn(3, 4, seed=1)),
    "addmm": ("sum_over_copies kronecker kronecker", torch.addmm, randn(4), randn(2, 3), randn(3, 4, seed=1)),
    "sum": ("copy_to_summands", torch.sum, randn(2, 3)),
    "softmax": ("dense", lambda x: torch.softmax(x, 1), randn(2, 3)),
    "flip": ("permutation", lambda x: x.flip(0), randn(4)),
    "expand": ("sum_over_copies", lambda x: x.expand(4, 3), randn(3)),
    "cat": ("selection", lambda x, y: torch.cat([x, y]), randn(2, 3), randn(1, 3, seed=1)),
    "unbind": ("selection", torch.unbind, randn(3, 2)),
    "conv2d": ("dense kronecker", lambda x, w: F.conv2d(x, w), randn(1, 1, 3, 3), randn(2, 1, 2, 2, seed=1)),
    "max_pool": ("selection", lambda x: F.max_pool2d(x, 2), randn(1, 1, 4, 4)),
    "relu of negative numbers": ("zero", torch.relu, -positive(3)),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_node_answers_with_the_jacobian_of_its_operation_and_its_structure(name):
    structure, function, *primals = OPERATIONS[name]

    def as_tuple(*arguments):
        returned = function(*arguments)
        return tuple(returned) if isinstance(returned, tuple | list) else (returned,)

    entries = jacobians_of(function, *primals)
    structures = structure.split()
    assert [one["structure"] for one in entries] == structures * (len(entries) // len(structures))
    assert all(one["checked"] for one in entries)
    oracle = torch.autograd.functional.jacobian(as_tuple, tuple(primals))
    assert len(entries) == len(oracle) * len(primals)
    for one in entries:
        expected = oracle[one["output_nr"] if len(oracle) > 1 else 0][one["argnum"]]
        assert torch.allclose(tensor_of(one), expected, rtol=1e-9, atol=1e-12), one
        assert one["value"]["dtype"] == "float64"


BLOCKS = np.kron(np.eye(2), [[1.0, 2.0], [3.0, 4.0]])
STRUCTURES = [
    (BLOCKS, (2, 2), "kronecker"), (BLOCKS + np.diag([1.0, 0, 0, 0]), (2, 2), "dense"), (BLOCKS, (4,), "dense"),
    (np.eye(4)[[1, 0, 3, 2]] * 2, (4,), "dense"), (np.zeros((1, 1)), (), "zero"),
]  # fmt: skip


def test_a_structure_follows_its_definition():
    assert [structure_of(matrix, shape, shape) for matrix, shape, _ in STRUCTURES] == [row[2] for row in STRUCTURES]


@pytest.mark.parametrize("function", [torch.abs, torch.real, torch.conj_physical, torch.exp, torch.angle, torch.mul])
def test_complex_values_are_pairs_of_real_ones(function):
    primals = [torch.tensor([1 + 2j, -0.5 + 0.25j], dtype=torch.complex128)] * (2 if function is torch.mul else 1)

    def real_function(*pairs):
        returned = function(*(torch.view_as_complex(pair) for pair in pairs))
        return torch.view_as_real(returned) if returned.is_complex() else returned

    oracle = torch.autograd.functional.jacobian(real_function, tuple(torch.view_as_real(one) for one in primals))
    for one in jacobians_of(function, *primals):
        assert torch.allclose(tensor_of(one), oracle[one["argnum"]])
        assert one["checked"]


def written():
    base = randn(3).requires_grad_() * 1
    base[1:] = randn(2).requires_grad_()
    return base


LIVE = {
    "only outputs that a gradient arrived at": (lambda: randn(2).requires_grad_().unbind()[1], "UnbindBackward0",
        [(1, [[0, 1]])]),
    "a write into a view": (written, "CopySlices", [(0, [[1, 0, 0], [0, 0, 0], [0, 0, 0]]),
        (0, [[0, 0], [1, 0], [0, 1]])]),
    "a cast": (lambda: torch.tensor([2.0, 3.0], requires_grad=True) * torch.tensor([0.5, 4.0],
        dtype=torch.float16, requires_grad=True), "MulBackward0", [(0, [[0.5, 0], [0, 4]]), (0, [[2, 0], [0, 3]])]),
    "noise beside v": (lambda: F.layer_norm(torch.tensor([[1e-3], [0.3]], requires_grad=True, **FLOAT64), (1,)),
        "NativeLayerNormBackward0", [(0, [[0, 0], [0, 0]])]),
    "an infinite operand that was broadcast": (lambda: torch.tensor([[torch.inf], [2.0]]) * torch.ones(3,
        requires_grad=True), "MulBackward0", [(0, [[torch.inf if i == j else 0 for j in range(3)] for i in range(3)] +
        [[2 if i == j else 0 for j in range(3)] for i in range(3)])]),
}  # fmt: skip


@pytest.mark.parametrize("name", LIVE)
def test_a_node_answers_with_its_numbers_and_nothing_refutes_them(name):
    make, node_name, expected = LIVE[name]
    output = make()
    node, entries = ask([output], [torch.randn_like(output)])
    assert node.name().endswith(node_name)
    found = [(one["output_nr"], tensor_of(one).reshape(max(output.numel(), 1), -1).tolist()) for one in entries]
    assert found == expected
    assert all(one.get("checked") is not False for one in entries)
    if name == "a cast":
        assert [(one["value"]["dtype"], one["checked"]) for one in entries] == [("float32", True), ("float16", True)]
    if "infinite" in name:
        assert entries[0]["structure"] == "sum_over_copies"


@pytest.mark.parametrize(("entry", "together", "structure"), [(99, 1000, "too_large"), (100, 100, None), (0, 0, None)])
def test_a_jacobian_over_a_budget_is_left_out(entry, together, structure):
    [found] = jacobians_of(torch.exp, randn(10), budget=JacobianBudget(entry, together))
    assert (found["structure"], found["value"]) == (structure, {"missing": "on_demand"})
    mixed = jacobians_of(torch.mul, randn(10), randn(seed=1), budget=JacobianBudget(50, 1000))
    assert [one["structure"] for one in mixed] == ["too_large", "sum_over_copies"]


def test_rounding_is_told_from_a_wrong_product():
    generator = torch.Generator().manual_seed(0)
    matrix = torch.randn(3, 3, dtype=torch.complex128, generator=generator)
    [entry] = jacobians_of(torch.linalg.eigvalsh, matrix + matrix.mH)
    [softmax] = jacobians_of(lambda x: torch.softmax(x, 0), torch.randn(5, generator=generator))
    assert entry["checked"] is softmax["checked"] is True


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
            assert torch.allclose(tensor_of(found).float(), expected[traced.nodes()[step["node"]]["name"]])
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
    assert torch.equal(twin.tensor_of(jacobian["value"]).nan_to_num(nan=7777.0), expected.nan_to_num(nan=7777.0))
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
    "a sum": ({"x": (4, 3)}, "x.sum()", {}),
}  # fmt: skip


def source_of(name: str) -> str:
    leaves, operation, _ = BATCHES[name]
    made = [f"{leaf} = torch.randn({shape}, dtype=torch.float64, requires_grad=True)" for leaf, shape in leaves.items()]
    return "\n".join([*made, f"y = {operation}", "y.backward(torch.randn_like(y))\n"])


@pytest.mark.parametrize("name", BATCHES)
def test_the_batch_is_marked_and_v_j_is_made_example_by_example(name: str) -> None:
    traced = run_traced(source_of(name))
    step = traced.of("step")[0]
    names = [operand["name"] for operand in traced.nodes()[step["node"]]["inputs"]]
    found = {names[one["argnum"]]: one["batch"] for one in step["local_jacobians"] if "batch" in one}
    assert {operand: mark["kind"] for operand, mark in found.items()} == BATCHES[name][2]
    v = twin.tensor_of(step["grad_outputs"][0])
    for one in (each for each in step["local_jacobians"] if "batch" in each):
        rows = one["batch"]["size"]
        jacobian = twin.tensor_of(one["value"]).reshape(rows, -1, *one["input_shape"])
        per_example = torch.func.vmap(lambda v, block: torch.tensordot(v, block, 1))(v.reshape(rows, -1), jacobian)
        returned = twin.tensor_of(step["grad_inputs"][one["argnum"]])
        assert torch.allclose(per_example.sum(0), returned)
        if one["batch"]["kind"] == "block_diagonal":
            per_example[range(rows), range(rows)] = 0
            assert not per_example.any()


def test_a_jacobian_on_demand_has_the_mark_too() -> None:
    [found] = jacobian_of_step(TraceRequest(source=source_of("mm"), options=Options()), 0, 1, ResolvedLimits())
    assert (found["batch"]["kind"], found["batch"]["size"]) == ("sum", 4)
