"""torch's table of derivatives, how much of what people run is covered by it and by written entries that were checked,
and the reasons where no exact formula is written.
"""

import json
from collections import Counter

import pytest

from gradwalk.formulas.derivatives import TABLE_PATH, derivative_line
from gradwalk.formulas.derive import derive_table, render_table
from gradwalk.formulas.registry import entry_of
from tests.benchmarks.programs import BACKWARD, transformer
from tests.formulas.live_nodes import Met
from tests.house.tree import ROOT
from tests.twin import run_plain, run_traced

WITHOUT_A_LINE = {"torch::autograd::CopySlices", "torch::autograd::CopyBackwards"}
"""The engine's own nodes. Custom Functions and `GeneratedBackwardFor_...` are others outside derivatives.yaml."""


@pytest.mark.soak
def test_table_equals_a_fresh_derivation() -> None:
    """Red after a torch upgrade: run `python -m gradwalk.formulas.derive` and read the diff."""
    assert TABLE_PATH.read_text(encoding="utf-8") == render_table(derive_table())


def test_table_is_for_the_torch_of_the_lock() -> None:
    table = json.loads(TABLE_PATH.read_text(encoding="utf-8"))
    assert f"torch=={table['torch']}" in (ROOT / "requirements" / "lock.txt").read_text().splitlines()


MODELS = {
    "recurrent": "o, _ = nn.GRU(3, 4)(torch.randn(3, 1, 3))\nh, _ = nn.LSTMCell(4, 2)(o[-1])\nh.sum().backward()\n",
    "transformer": transformer(1) + BACKWARD,
}


@pytest.mark.parametrize("name", MODELS)
def test_nine_nodes_of_ten_in_a_model_have_a_formula_and_none_is_wrong(name: str) -> None:
    """Leaves (AccumulateGrad) are not counted."""
    steps = [step for step in run_traced(MODELS[name]).of("step") if step["accumulate"] is None]
    verdicts = Counter(step.get("formula_checked") for step in steps)
    assert verdicts[False] == 0
    assert verdicts[True] >= 0.9 * len(steps), verdicts


def test_nodes_of_the_operator_database_have_a_line(visits_of_operators: list[Met]) -> None:
    names = {visit.node_name for _, visit in visits_of_operators}
    without = {name for name in names if not derivative_line(name)}
    assert {name for name in without if not name.startswith("GeneratedBackwardFor_")} <= WITHOUT_A_LINE
    assert len(without) <= 5
    assert sum(entry_of(name) is not None for name in names) >= 0.75 * len(names)


UNWRITTEN = {
    "matrix_too_large": "x = torch.rand(4000, requires_grad=True)\ny = x.cumprod(0)\n",
    "mask_among_indices": "x = torch.zeros(3, 4)\nw = torch.ones(2, requires_grad=True)\n"
    "y = x.index_put((torch.tensor([True, False, True]), torch.tensor([0, 1])), w)\n",
    "some_scales": "x = torch.rand(1, 1, 4, 4, requires_grad=True)\n"
    "y = torch._C._nn.upsample_nearest2d(x, [8, 8], 2.0, None)\n",
    "unrolled_in_time": "x = torch.randn(4, 1, 2, requires_grad=True)\ny, _ = nn.LSTM(2, 3)(x)\n",
    "window": "b = torch.rand(6, requires_grad=True)\ny = torch.as_strided(b[:2], (4,), (1,), 0)\n",
    "": "x = torch.randn(3, requires_grad=True)\ny = F.rrelu(x)\n",
}


@pytest.mark.parametrize("reason", UNWRITTEN)
def test_where_no_formula_is_written_the_reason_is_told(reason: str) -> None:
    source = UNWRITTEN[reason] + "y.sum().backward()\n"
    assert run_plain(source).error is None
    formulas = [node["formula"] for node in run_traced(source).nodes().values() if node["formula"] is not None]
    told = {line["reason"] for formula in formulas for line in formula.get("unwritten", [])}
    assert told == ({reason} if reason else set())
    assert reason or all(formula["vjp"] for formula in formulas)
