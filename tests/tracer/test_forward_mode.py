"""A program in forward mode is told so, with the tangents that it computed; finite differences find the same."""

from typing import Any

import pytest
import torch

from tests.twin import run_traced

# torch.func.jvp compiles its decompositions with torch.jit.script.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")

HEAD = (
    "import torch\nx = torch.tensor([2.0, 3.0], dtype=torch.float64)\n"
    "d = torch.tensor([1.0, -0.5], dtype=torch.float64)\n"
    "def f(x):\n    return torch.stack([x[0] * x[1], torch.sin(x[0])])\n"
)
SPACE: dict[str, Any] = {}
exec(HEAD, SPACE)
F, X, D = SPACE["f"], SPACE["x"], SPACE["d"]
JVP = "from torch.func import jvp\ny, t = jvp(f, (x,), (d,))\n"
DUAL = (
    "import torch.autograd.forward_ad as fwAD\n"
    "with fwAD.dual_level():\n    y, t = fwAD.unpack_dual(f(fwAD.make_dual(x, d)))\n"
)
JACFWD = "J = torch.func.jacfwd(f)(x)\n"


def slope(along: torch.Tensor) -> torch.Tensor:
    return (F(X + 1e-6 * along) - F(X - 1e-6 * along)) / 2e-6


COLUMNS = torch.stack([slope(one) for one in torch.eye(2, dtype=torch.float64)], dim=1)


@pytest.mark.parametrize(
    ("source", "name", "expected", "line"),
    [(JVP, "t", slope(D), 7), (DUAL, "t", slope(D), 8), (JACFWD, "J", COLUMNS, 6)],
)
def test_tangents_are_told(source: str, name: str, expected: torch.Tensor, line: int) -> None:
    (problem,) = run_traced(HEAD + source).of("problem")
    assert problem["fact"]["kind"] == "problem-forward-mode-tangents"
    assert problem["span"]["line"] == line
    (tangent,) = problem["fact"]["operands"]["tangents"]
    value = tangent["operands"]["value"]
    assert tangent["operands"]["name"] == name
    assert value["shape"] == [*expected.shape]
    torch.testing.assert_close(torch.tensor(value["numbers"]).double(), expected.flatten(), rtol=1e-5, atol=1e-6)


def test_a_result_without_a_name_is_not_made_up() -> None:
    (problem,) = run_traced(HEAD + "print(torch.func.jvp(f, (x,), (d,)))\n").of("problem")
    assert problem["fact"]["kind"] == "problem-forward-mode"


def test_a_function_of_the_programs_own_is_not_torchs() -> None:
    (problem,) = run_traced(HEAD + "def jvp(x):\n    return x, x * 2\ny, t = jvp(x)\n").of("problem")
    assert problem["fact"]["kind"] == "problem-nothing-recorded"
