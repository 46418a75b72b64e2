"""Local Jacobians of live nodes; `torch.autograd.functional.jacobian` of the operation is the oracle.

Where slopes are infinite: the scalar derivative of each entry by itself, put on the diagonal.
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
from tests.twin import run_traced

FLOAT64 = {"dtype": torch.float64}
PLENTY = 10**7


def ask(outputs, seeds, in_replay=False, budget=None):
    """The node that made `outputs[0]`, and what it answers in its posthook during a real backward."""
    node = next(one for one in outputs if one.grad_fn is not None).grad_fn
    answers = []

    def posthook(grad_inputs, grad_outputs):
        with torch._C.DisableTorchFunction():
            answers.append(
                local_jacobians(
                    node, grad_outputs, grad_inputs, budget or JacobianBudget(PLENTY, PLENTY), in_replay=in_replay
                )
            )

    node.register_hook(posthook)
    torch.autograd.backward(outputs, seeds)
    # A pass of its own that asks the node makes it call this hook too, before the answer is there.
    return node, answers[-1]


def jacobians_of(function, *primals, budget=None):
    """For each differentiable operand of a single node: its local Jacobian as (output_nr -> tensor), and the entry."""
    leaves = [one.detach().clone().requires_grad_() for one in primals]
    outputs = function(*leaves)
    outputs = outputs if isinstance(outputs, tuple | list) else (outputs,)
    outputs = [one for one in outputs if one.requires_grad]
    generator = torch.Generator().manual_seed(1)
    seeds = [torch.randn(one.shape, dtype=one.dtype, generator=generator) for one in outputs]
    return ask(outputs, seeds, budget=budget)[1]


def tensor_of(entry):
    value = entry["value"]
    assert "data" in value, entry
    assert value["shape"] == entry["output_shape"] + entry["input_shape"]
    return torch.tensor([float(number) for number in value["data"]], **FLOAT64).reshape(value["shape"])


def randn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), **FLOAT64)


def positive(*shape):
    return randn(*shape).abs() + 0.5


MASK = torch.tensor([True, False, True])
# What each entry's structure is, by operand where they differ; the operation; its operands.
OPERATIONS = {
    "mul": ("diagonal", torch.mul, randn(2, 3), randn(2, 3, seed=1)),
    "square": ("diagonal", lambda x: x * x, randn(3)),
    "div": ("diagonal sum_over_copies", torch.div, randn(2, 3), positive(3)),
    "sin": ("scalar", torch.sin, randn()),
    "mm": ("kronecker", torch.mm, randn(2, 3), randn(3, 4, seed=1)),
    "mv": ("kronecker dense", torch.mv, randn(2, 3), randn(3, seed=1)),
    "addmm": ("sum_over_copies kronecker kronecker", torch.addmm, randn(4), randn(2, 3), randn(3, 4, seed=1)),
    "sum": ("copy_to_summands", torch.sum, randn(2, 3)),
    "max": ("selection", torch.max, randn(5)),
    "norm": ("dense", torch.linalg.vector_norm, randn(4)),
    "cumsum": ("kronecker", lambda x: x.cumsum(1), randn(2, 3)),
    "softmax": ("dense", lambda x: torch.softmax(x, 1), randn(2, 3)),
    "layer_norm": ("dense sum_over_copies sum_over_copies", lambda x, w, b: F.layer_norm(x, (3,), w, b),
        randn(2, 3), randn(3, seed=1), randn(3, seed=2)),
    "flip": ("permutation", lambda x: x.flip(0), randn(4)),
    "expand": ("sum_over_copies", lambda x: x.expand(4, 3), randn(3)),
    "index": ("sum_over_copies", lambda x: x[[0, 1, 0], [2, 1, 2]], randn(2, 3)),
    "masked_select": ("selection", lambda x: x[MASK], randn(3)),
    "cat": ("selection", lambda x, y: torch.cat([x, y]), randn(2, 3), randn(1, 3, seed=1)),
    "unbind": ("selection", torch.unbind, randn(3, 2)),
    "conv2d": ("dense kronecker", lambda x, w: F.conv2d(x, w), randn(1, 1, 3, 3), randn(2, 1, 2, 2, seed=1)),
    "max_pool": ("selection", lambda x: F.max_pool2d(x, 2), randn(1, 1, 4, 4)),
    "embedding": ("sum_over_copies", lambda w: F.embedding(torch.tensor([0, 2, 0]), w), randn(3, 2)),
    "permute": ("permutation", lambda x: x.permute(2, 0, 1), randn(2, 3, 2)),
    "nll": ("copy_to_summands", lambda x: F.nll_loss(x, torch.tensor([0, 2, 1, 1])), randn(4, 3)),
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
    if name == "square":
        # One primal in two operands: each has its own Jacobian, the primal's is their sum.
        assert torch.allclose(sum(tensor_of(one) for one in entries), oracle[0][0])
        return
    assert len(entries) == len(oracle) * len(primals)
    for one in entries:
        expected = oracle[one["output_nr"] if len(oracle) > 1 else 0][one["argnum"]]
        assert torch.allclose(tensor_of(one), expected, rtol=1e-9, atol=1e-12), one
        assert one["value"]["dtype"] == "float64"


@pytest.mark.parametrize(
    ("matrix", "shape", "structure"),
    [
        (np.kron(np.eye(2), [[1.0, 2.0], [3.0, 4.0]]), (2, 2), "kronecker"),
        (np.kron(np.eye(2), [[1.0, 2.0], [3.0, 4.0]]) + np.diag([1.0, 0, 0, 0]), (2, 2), "dense"),
        (np.kron(np.eye(2), [[1.0, 2.0], [3.0, 4.0]]), (4,), "dense"),
        (np.eye(4)[[1, 0, 3, 2]] * 2, (4,), "dense"),
        (np.zeros((1, 1)), (), "zero"),
    ],
)
def test_a_structure_follows_its_definition(matrix, shape, structure):
    assert structure_of(matrix, shape, shape) == structure


def test_a_cast_is_part_of_the_node():
    whole, half = jacobians_of(torch.mul, torch.tensor([2.0, 3.0]), torch.tensor([0.5, 4.0], dtype=torch.float16))
    assert (whole["value"]["dtype"], half["value"]["dtype"]) == ("float32", "float16")
    assert whole["value"]["data"] == [0.5, 0.0, 0.0, 4.0]
    assert whole["checked"]
    assert half["checked"]


@pytest.mark.parametrize("function", [torch.abs, torch.real, torch.conj_physical, torch.exp, torch.angle, torch.mul])
def test_complex_values_are_pairs_of_real_ones(function):
    primals = [torch.tensor([1 + 2j, -0.5 + 0.25j], dtype=torch.complex128)] * (2 if function is torch.mul else 1)
    entries = jacobians_of(function, *primals)

    def real_function(*pairs):
        returned = function(*(torch.view_as_complex(pair) for pair in pairs))
        return torch.view_as_real(returned) if returned.is_complex() else returned

    oracle = torch.autograd.functional.jacobian(real_function, tuple(torch.view_as_real(one) for one in primals))
    for one in entries:
        assert torch.allclose(tensor_of(one), oracle[one["argnum"]])
        assert one["checked"]


class Drawn(torch.autograd.Function):
    """A square whose backward draws a number, which the program's own must not depend on."""

    runs = 0

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, v):
        Drawn.runs += 1
        print("backward runs")  # noqa: T201
        torch.rand(1)
        return v * 2 * ctx.saved_tensors[0]


def test_a_custom_function_answers_without_being_heard(capsys):
    x = torch.tensor([3.0, 5.0], requires_grad=True, **FLOAT64)
    torch.manual_seed(0)
    _, [entry] = ask([Drawn.apply(x)], [torch.ones(2, **FLOAT64)])
    drawn = torch.rand(1)
    torch.manual_seed(0)
    torch.rand(1)
    assert torch.equal(drawn, torch.rand(1))
    assert capsys.readouterr().out == "backward runs\n"
    assert Drawn.runs == 3
    assert (entry["value"]["data"], entry["checked"]) == ([6.0, 0.0, 0.0, 10.0], True)


def test_only_outputs_that_a_gradient_arrived_at():
    _, second = randn(2).requires_grad_().unbind()
    _, [entry] = ask([second], [torch.ones((), **FLOAT64)])
    assert (entry["output_nr"], entry["value"]["data"], entry["checked"]) == (1, [0.0, 1.0], True)


def test_a_write_into_a_view_answers():
    base = randn(3).requires_grad_()
    values = randn(2).requires_grad_()
    written = base * 1
    written[1:] = values
    node, entries = ask([written], [torch.ones(3, **FLOAT64)])
    assert node.name() == "torch::autograd::CopySlices"
    assert [one["value"]["data"] for one in entries] == [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, 1.0],
    ]


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
    assert entry["checked"]
    [softmax] = jacobians_of(lambda x: torch.softmax(x, 0), torch.randn(5, generator=generator))
    assert softmax["checked"]


PACKED = {
    "saved_tensors_hooks": "with torch.autograd.graph.saved_tensors_hooks(lambda t: (t,), lambda packed: packed[0]):\n"
    "    y = (x * x).exp()\n",
    "checkpoint": "from torch.utils.checkpoint import checkpoint\n"
    "y = checkpoint(lambda t: (t * t).exp(), x, use_reentrant=False)\n",
    "checkpoint reentrant": "from torch.utils.checkpoint import checkpoint\n"
    "y = checkpoint(lambda t: (t * t).exp(), x, use_reentrant=True)\n",
    "torch.func": "y = x.exp()\ntorch.func.grad(lambda t: (t * t).exp().sum())(x.detach())\n",
}


@pytest.mark.parametrize("name", PACKED)
def test_what_tracing_leaves_alone_is_answered_on_demand(name):
    source = f"x = torch.tensor([0.5, -1.0], requires_grad=True)\n{PACKED[name]}y.sum().backward()\n"
    traced = run_traced(source)
    x = torch.tensor([0.5, -1.0])
    expected = {
        "ExpBackward0": torch.diag((x * x).exp()),
        "MulBackward0": torch.diag(x),
        "CheckpointFunctionBackward": torch.diag(2 * x * (x * x).exp()),
        "SumBackward0": torch.ones(2),
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


def test_a_backward_that_runs_passes_of_its_own_is_asked_once() -> None:
    source = f"""{PASS_IN_BACKWARD}
a = torch.tensor([1.0, 2.0], requires_grad=True)
Inner.apply(a).exp().sum().backward()
"""
    traced = run_traced(source)
    [step] = [one for one in traced.of("step") if traced.nodes()[one["node"]]["name"] == "InnerBackward"]
    [found] = jacobian_of_step(TraceRequest(source=source, options=Options()), step["index"], 0, ResolvedLimits())
    assert torch.allclose(tensor_of(found).float(), torch.diag(torch.tensor([1.0, 2.0]).cos()))


def test_noise_beside_v_refutes_nothing():
    """A group of one entry is normalised to 0 whatever it is; what the engine returns for it is rounding."""
    [entry, *_] = jacobians_of(lambda x: F.layer_norm(x, (1,)), torch.tensor([[1e-3], [0.3]], dtype=torch.float64))
    assert entry["structure"] == "zero"
    assert entry.get("checked") is not False


TRAPS = {
    "sqrt": ("x.sqrt()", [-1.0, 0.0, 4.0]),
    "log": ("x.log()", [0.0, -1.0, 2.0]),
    "reciprocal": ("x.reciprocal()", [0.0, 2.0, 4.0]),
    "mul": ("x * torch.tensor([float('inf'), 2., float('nan')])", [1.0, 2.0, 3.0]),
}


def slopes(expression: str, entries: list[float]) -> torch.Tensor:
    """d y_i / d x_i, each from a pass in which all other entries are harmless."""
    found = []
    for position in range(len(entries)):
        x = torch.tensor(entries, requires_grad=True)
        y = eval(expression, {"torch": torch}, {"x": x})
        [slope] = torch.autograd.grad(y, x, torch.ones_like(y))
        found.append(slope[position])
    return torch.stack(found)


@pytest.mark.parametrize(("expression", "entries"), TRAPS.values(), ids=TRAPS.keys())
def test_the_jacobian_is_zero_off_the_diagonal(expression: str, entries: list[float]) -> None:
    source = f"x = torch.tensor({entries}, requires_grad=True)\ny = {expression}\ny.backward(torch.ones_like(y))\n"
    [jacobian] = run_traced(source).of("step")[0]["local_jacobians"]
    found = twin.tensor_of(jacobian["value"])
    expected = torch.diag(slopes(expression, entries))
    expected[~torch.eye(len(entries), dtype=torch.bool)] = 0
    assert torch.equal(found.nan_to_num(nan=7777.0), expected.nan_to_num(nan=7777.0))
    assert jacobian["structure"] == "diagonal"
    assert jacobian["checked"] is True
    assert "nan_products" not in jacobian


def test_an_operand_that_was_broadcast_is_not_mixed_up() -> None:
    source = (
        "x = torch.tensor([[float('inf')], [2.]])\nb = torch.ones(3, requires_grad=True)\n"
        "y = x * b\ny.backward(torch.ones(2, 3))\n"
    )
    [jacobian] = run_traced(source).of("step")[0]["local_jacobians"]
    expected = torch.zeros(2, 3, 3)
    expected[0] = torch.diag(torch.full((3,), float("inf"))).nan_to_num(nan=0.0, posinf=float("inf"))
    expected[1] = 2 * torch.eye(3)
    assert torch.equal(twin.tensor_of(jacobian["value"]), expected)
    assert jacobian["structure"] == "sum_over_copies"


def test_outputs_whose_gradients_only_count_together():
    """torch drops the gradient of native_group_norm's mean and rstd where its first output has none."""

    def function(x):
        return torch.native_group_norm(x, None, None, 2, 6, 4, 3, 1e-5)

    primal = randn(2, 6, 4)
    expected = torch.autograd.functional.jacobian(lambda x: function(x), primal)
    leaf = primal.clone().requires_grad_()
    outputs = function(leaf)
    seeds = [torch.randn_like(one) for one in outputs]
    entries = ask(outputs, seeds)[1]
    assert len(entries) == 3
    for one in entries:
        assert one["checked"] is True
    assert torch.allclose(tensor_of(entries[0]), expected[0], atol=1e-12)
