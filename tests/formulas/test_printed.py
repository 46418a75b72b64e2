"""What is printed is what the engine did: LaTeX and text of all stages, read again by others.

`formula_checked` says that the printed expression gives what the engine returned. Here somebody else reads it, who
knows nothing of our expressions: over the operator database, real and complex, every option that its samples try.
"""

from collections.abc import Iterable

import pytest

from gradwalk.formulas.registry import ENTRIES
from tests.formulas.live_nodes import Met
from tests.formulas.mutations import FORMS, Form
from tests.formulas.printed import printed
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


def test_every_stage_reads_as_what_the_engine_returned(sweeps: bool, visits: dict[str, list[Met]]) -> None:
    """Of nodes that were met often an even sample, or all."""
    for met in visits.values():
        assert wrong(met[:: 1 if sweeps else -(-len(met) // 4)]) == []


def test_formulas_of_complex_tensors_read_right(complex_visits: list[Met]) -> None:
    met = [(where, visit) for where, visit in complex_visits if visit.has_gradients]
    assert len(met) > 200
    assert wrong(met) == []


def test_the_programs_own_names_read_right(visits: dict[str, list[Met]]) -> None:
    """Operands called by source text, sums among it: brackets must hold it together."""
    known = {"self": "x + y", "other": "-w", "mat2": "a @ b", "target": "labels[0]", "result": "z"}
    known["input"] = "model.0.bias"
    for name in ("MulBackward0", "DivBackward0", "SinBackward0", "MmBackward0", "MseLossBackward0", "PowBackward1"):
        assert wrong(visits[name][:20], known) == [], name


@pytest.mark.parametrize(
    ("node_name", "texts"),
    [
        ("SinBackward0", {"cos(a)"}),
        ("NegBackward0", {"-1"}),
        ("ExpBackward0", {"r"}),
        ("MulBackward0", {"a", "b"}),
        ("ReluBackward0", {"where(r > 0, 1, 0)"}),
        ("SoftmaxBackward0", {None}),
        ("MmBackward0", {None}),
    ],
)
def test_a_derivative_is_written_as_people_write_it(
    node_name: str, texts: set[str | None], visits: dict[str, list[Met]]
) -> None:
    ones = [one for _, visit in visits[node_name] for one in printed(visit) if one.v is not None]
    assert {one.derivative for one in ones if one.returned.shape == one.v.shape} == texts


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("node_name", sampled(sorted(set(COVERED) - set(UNREACHABLE) - set(NOT_WRITTEN)), str, 40))
def test_a_changed_token_of_a_formula_is_noticed(node_name: str, form: Form, visits: dict[str, list[Met]]) -> None:
    assert form.survivors(one for _, visit in visits[node_name] for one in printed(visit)) == set()
