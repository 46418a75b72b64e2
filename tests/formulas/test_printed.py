"""What is printed is what the engine did: LaTeX and text of all stages, read again by others.

`formula_checked` says that the printed expression gives what the engine returned. Here somebody else reads it, who
knows nothing of our expressions: over the operator database, real and complex, every option that its samples try.
The reader is checked by a factor before each formula, which it must notice in all that is printed.
"""

from collections.abc import Iterable
from dataclasses import replace

from gradwalk.formulas.expression import number
from gradwalk.formulas.specialise import Line
from tests.formulas.live_nodes import Met
from tests.formulas.printed import printed


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


def test_a_derivative_is_written_as_people_write_it(visits: dict[str, list[Met]]) -> None:
    relu, softmax = (
        {one.derivative for _, visit in visits[name] for one in printed(visit)}
        for name in ("ReluBackward0", "SoftmaxBackward0")
    )
    assert (relu, softmax) == ({"where(r > 0, 1, 0)"}, {None})


def test_a_formula_that_is_printed_wrongly_is_noticed_in_latex_and_in_text(visits: dict[str, list[Met]]) -> None:
    telling = [[one for _, visit in met[:9] for one in printed(visit) if one.is_telling][:1] for met in visits.values()]
    unnoticed = [
        one.latex
        for (one,) in filter(None, telling)
        if not {"latex", "text"} <= {*replace(one, line=times(1.5, one.line)).wrong_stages()}
    ]
    assert len(telling) > 100
    assert unnoticed == []


def times(factor: float, line: Line) -> Line:
    return replace(line, expression=number(factor) * line.expression)
