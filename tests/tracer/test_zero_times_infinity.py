"""Of an elementwise operation no entry off the diagonal is a number other than 0, whatever the slopes are.

Oracle: the scalar derivative of each entry by itself, from plain torch, put on the diagonal.
"""

import pytest
import torch

from tests.twin import run_traced, tensor_of

TRAPS = {
    "sqrt": ("x.sqrt()", [-1.0, 0.0, 4.0]),
    "sqrt of negative numbers": ("x.sqrt()", [-1.0, -2.0]),
    "log": ("x.log()", [0.0, -1.0, 2.0]),
    "rsqrt": ("x.rsqrt()", [0.0, 1.0, 2.0]),
    "reciprocal": ("x.reciprocal()", [0.0, 2.0, 4.0]),
    "pow": ("x ** 0.5", [0.0, 4.0, 9.0]),
    "mul": ("x * torch.tensor([float('inf'), 2., float('nan')])", [1.0, 2.0, 3.0]),
    "acos": ("x.acos()", [1.0, 0.5, 2.0]),
    "many": ("x.sqrt()", [0.0, *range(1, 20)]),
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
    found = tensor_of(jacobian["value"])
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
    assert torch.equal(tensor_of(jacobian["value"]), expected)
    assert jacobian["structure"] == "sum_over_copies"


def test_zero_times_infinity_is_recorded_where_it_happened() -> None:
    source = (
        "x = torch.tensor([-1., 0., 4.], requires_grad=True)\ny = x.sqrt()\n"
        "torch.where(x > 0, y, torch.zeros(3)).sum().backward()\n"
    )
    traced = run_traced(source)
    step = next(one for one in traced.of("step") if traced.nodes()[one["node"]]["name"] == "SqrtBackward0")
    assert step["grad_outputs"][0]["data"] == [0, 0, 1]
    assert step["grad_inputs"][0]["data"] == ["NaN", "NaN", 0.25]
    [jacobian] = step["local_jacobians"]
    assert jacobian["value"]["data"] == ["NaN", 0, 0, 0, "Infinity", 0, 0, 0, 0.25]
    assert jacobian["checked"] is True
    assert jacobian["nan_products"] == [1]
