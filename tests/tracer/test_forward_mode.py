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


def slope(along: torch.Tensor) -> torch.Tensor:
    return (SPACE["f"](SPACE["x"] + 1e-6 * along) - SPACE["f"](SPACE["x"] - 1e-6 * along)) / 2e-6


COLUMNS = torch.stack([slope(one) for one in torch.eye(2, dtype=torch.float64)], dim=1)
TANGENTS = {
    "from torch.func import jvp\ny, t = jvp(f, (x,), (d,))": ("t", slope(SPACE["d"]), 7),
    "import torch.autograd.forward_ad as fwAD\nwith fwAD.dual_level():\n"
    "    y, t = fwAD.unpack_dual(f(fwAD.make_dual(x, d)))": ("t", slope(SPACE["d"]), 8),
    "J = torch.func.jacfwd(f)(x)": ("J", COLUMNS, 6),
}


@pytest.mark.parametrize("source", TANGENTS)
def test_tangents_are_told(source: str) -> None:
    name, expected, line = TANGENTS[source]
    (problem,) = run_traced(HEAD + source).of("problem")
    assert (problem["fact"]["kind"], problem["span"]["line"]) == ("problem-forward-mode-tangents", line)
    (tangent,) = problem["fact"]["operands"]["tangents"]
    value = tangent["operands"]["value"]
    assert (tangent["operands"]["name"], value["shape"]) == (name, [*expected.shape])
    torch.testing.assert_close(torch.tensor(value["numbers"]).double(), expected.flatten(), rtol=1e-5, atol=1e-6)


def test_neither_a_name_nor_a_forward_mode_is_made_up() -> None:
    own = "def jvp(x):\n    return x, x * 2\ny, t = jvp(x)\n"
    for source, kind in (("print(torch.func.jvp(f, (x,), (d,)))", "forward-mode"), (own, "nothing-recorded")):
        (problem,) = run_traced(HEAD + source).of("problem")
        assert problem["fact"]["kind"] == f"problem-{kind}"
