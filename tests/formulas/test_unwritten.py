"""Where no exact formula is written for a node's options, the trace says why, and the page reads it."""

import pytest

from tests.twin import PRELUDE, run_plain, run_traced

PROGRAMS = {
    "matrix_too_large": "x = torch.rand(4000, requires_grad=True)\ny = x.cumprod(0)\ny.sum().backward()\n",
    "mask_among_indices": (
        "x = torch.zeros(3, 4)\nw = torch.ones(2, requires_grad=True)\n"
        "y = x.index_put((torch.tensor([True, False, True]), torch.tensor([0, 1])), w)\ny.sum().backward()\n"
    ),
    "some_scales": (
        "x = torch.rand(1, 1, 4, 4, requires_grad=True)\n"
        "y = torch._C._nn.upsample_nearest2d(x, [8, 8], 2.0, None)\ny.sum().backward()\n"
    ),
    "unrolled_in_time": (
        "lstm = nn.LSTM(2, 3)\nx = torch.randn(4, 1, 2, requires_grad=True)\ny, _ = lstm(x)\ny.sum().backward()\n"
    ),
    "window": (
        "b = torch.rand(6, requires_grad=True)\nx = b[:2]\ny = torch.as_strided(x, (4,), (1,), 0)\ny.sum().backward()\n"
    ),
}


@pytest.mark.parametrize("reason", PROGRAMS)
def test_the_reason_is_told(reason: str) -> None:
    source = PRELUDE + PROGRAMS[reason]
    assert run_plain(source).error is None
    told = [
        (node["op"], line)
        for node in run_traced(source).nodes().values()
        if node["formula"] is not None
        for line in node["formula"].get("unwritten", [])
    ]
    assert [line["reason"] for _, line in told].count(reason) >= 1
    assert {line["reason"] for _, line in told} == {reason}


def test_a_written_formula_has_no_reason() -> None:
    source = PRELUDE + "x = torch.randn(3, requires_grad=True)\ny = F.rrelu(x)\ny.sum().backward()\n"
    formulas = [node["formula"] for node in run_traced(source).nodes().values() if node["formula"] is not None]
    assert all("unwritten" not in formula and formula["vjp"] for formula in formulas)
