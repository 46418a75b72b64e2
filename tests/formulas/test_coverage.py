"""How much of what people run is covered: by a line of torch's table, and by a written entry that was checked."""

from collections import Counter

import pytest

from gradwalk.formulas.derivatives import derivative_line
from gradwalk.formulas.registry import entry_of
from tests.benchmarks.programs import BACKWARD, transformer
from tests.formulas.live_nodes import Met
from tests.tracer.programs import PROGRAMS
from tests.twin import run_traced

WITHOUT_A_LINE = {
    "torch::autograd::CopySlices": "a view was written in place: the engine's own node, described by hand",
    "torch::autograd::CopyBackwards": "copy_: the engine's own node, has a written entry",
}
"""Nodes that torch makes outside derivatives.yaml. Custom Functions and `GeneratedBackwardFor_...` are the others."""


MODELS = {
    **{name: PROGRAMS[name] for name in ("cnn", "multihead attention", "training loop")},
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
    assert {name for name in without if not name.startswith("GeneratedBackwardFor_")} <= WITHOUT_A_LINE.keys()
    assert len(without) <= 5
    assert sum(entry_of(name) is not None for name in names) >= 0.75 * len(names)
