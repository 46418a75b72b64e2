"""What is printed is what the engine did: LaTeX and text of all stages, read again by others.

`formula_checked` says that the printed expression gives what the engine returned. Here somebody else reads it, who
knows nothing of our expressions: over the operator database, real and complex, every option that its samples try.
"""

from collections.abc import Iterable

import pytest
import torch
from torch.nn import functional

from gradwalk.formulas.registry import ENTRIES
from gradwalk.formulas.substitute import substitution
from tests.formulas.live_nodes import Met, run_backward
from tests.formulas.mutations import LOOKS, Look
from tests.formulas.printed import printed
from tests.formulas.reading import read_latex
from tests.formulas.samples import NOT_WRITTEN, UNREACHABLE
from tests.sweeps import sampled

COVERED = [node_name for entry in ENTRIES for node_name in entry.nodes]


def wrong(visits: Iterable[Met], known: dict[str, str] | None = None) -> list[str]:
    """Every stage that does not read as it should, with the formula."""
    return [
        f"{where} {one.node_name} {stage}: {one.latex}  |  {one.text}  |  {one.returned.shape}"
        for where, visit in visits
        for one in printed(visit, known)
        for stage in one.wrong_stages()
    ]


@pytest.mark.parametrize("most", [20, pytest.param(None, marks=pytest.mark.sweep)], ids=str)
def test_every_stage_reads_as_what_the_engine_returned(most: int | None, visits: dict[str, list[Met]]) -> None:
    """Of nodes that were met often an even sample, or all."""
    for met in visits.values():
        assert wrong(met[:: 1 if most is None else -(-len(met) // most)]) == []


def test_formulas_of_complex_tensors_read_right(complex_visits: list[Met]) -> None:
    met = [(where, visit) for where, visit in complex_visits if visit.has_gradients]
    assert len(met) > 200
    assert wrong(met) == []


def test_the_programs_own_names_read_right(visits: dict[str, list[Met]]) -> None:
    """Operands called by source text, sums among it: brackets must hold it together."""
    known = {
        "self": "x + y",
        "other": "-w",
        "mat2": "a @ b",
        "target": "labels[0]",
        "result": "z",
        "input": "model.0.bias",
    }
    for node_name in (
        "MulBackward0",
        "DivBackward0",
        "SinBackward0",
        "MmBackward0",
        "MseLossBackward0",
        "PowBackward1",
    ):
        assert wrong(visits[node_name][:20], known) == [], node_name


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(
    "loss",
    [
        functional.mse_loss,
        functional.huber_loss,
        functional.smooth_l1_loss,
        functional.soft_margin_loss,
        functional.binary_cross_entropy_with_logits,
        lambda x, t, reduction: functional.binary_cross_entropy(x.sigmoid(), t, reduction=reduction),
        lambda x, t, reduction: functional.cross_entropy(
            x, (3 * t[:, 0]).long(), reduction=reduction, weight=torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64)
        ),
        lambda x, t, reduction: functional.multi_margin_loss(x, (3 * t[:, 0]).long(), p=2, reduction=reduction),
    ],
)
def test_each_reduction_reads_right(loss: object, reduction: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    t = torch.rand(2, 3, dtype=torch.float64)
    visits = run_backward([loss(x, t, reduction=reduction)])  # type: ignore[operator]
    assert wrong([("", visit) for visit in visits]) == []


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_reads_right_in_train_and_eval(training: bool) -> None:
    x = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    norm = torch.nn.BatchNorm1d(2, dtype=torch.float64).train(training)
    assert wrong([("", visit) for visit in run_backward([norm(x)])]) == []


def test_small_tensors_have_their_numbers() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    [visit] = run_backward([x * torch.tensor([3.0, 4.0], dtype=torch.float64)], fill=1)
    [one] = printed(visit)
    found = substitution(one.line, one.values, one.returned, one.letters)
    assert found is not None
    v, y = (rf"\begin{{bmatrix}} {entries} \end{{bmatrix}}" for entries in ("1 & 1", "3 & 4"))
    assert found["with_numbers"] == rf"{v} \odot {y} = {y}"


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
@pytest.mark.parametrize("node_name", sampled(sorted(set(COVERED) - set(UNREACHABLE) - set(NOT_WRITTEN)), str, 40))
def test_a_changed_token_of_a_formula_is_noticed(node_name: str, look: Look, visits: dict[str, list[Met]]) -> None:
    survivors, _ = look([one for _, visit in visits[node_name] for one in printed(visit)])
    assert survivors == set()


def test_the_reader_reads_mathematics() -> None:
    x = torch.tensor([1.0, 2.0])
    assert read_latex(r"-{x}^{2} + 3 \cdot x", {"x": x}).tolist() == [2, 2]
    assert read_latex(r"x - {\textstyle\sum} x \odot x", {"x": x}).tolist() == [-4, -3]
    assert read_latex(r"\left[x > 1\right] \odot \frac{1}{x}", {"x": x}).tolist() == [0, 0.5]
    assert read_latex(r"x \, {x}^\top", {"x": x}).tolist() == [[5]]
