"""The three stages of small programs as a person reads them, and of the operator database in the page's typesetter."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gradwalk.formulas.substitute import substitution
from gradwalk.protocol.events import Substitution
from tests.formulas.live_nodes import Met, Visit, run_backward
from tests.formulas.printed import printed

TEMML = Path(__file__).parents[2] / "frontend" / "node_modules" / "temml" / "dist" / "temml.mjs"


def stages(visit: Visit) -> list[Substitution]:
    found = (substitution(one.line, one.values, one.returned, one.letters) for one in printed(visit))
    return [stage for stage in found if stage is not None]


def given(*values: float) -> torch.Tensor:
    """A leaf of one number, or of a list of them."""
    return torch.tensor(values if len(values) > 1 else values[0], dtype=torch.float64, requires_grad=True)


MATRIX = r"\begin{{bmatrix}} {} & {} \end{{bmatrix}}".format
STAGES: dict[str, tuple[Callable[[], torch.Tensor], float, list[tuple[str, str, str]]]] = {
    "signs get parentheses and powers keep their base": (
        lambda: given(-2) ** 3,
        -1,
        [("", "", r"3 \cdot \left(-1\right) \cdot {\left(-2\right)}^{2} = -12")],
    ),
    "a factor of one is not written": (
        lambda: torch.add(given(2), given(3), alpha=4),
        5,
        [("v", "5", "5"), (r"4 \cdot v", r"4 \cdot 5", r"4 \cdot 5 = 20")],
    ),
    "rounded numbers say so": (lambda: given(2).sin(), 1, [("", "", r"1 \cdot \cos\left(2\right) \approx -0.4161")]),
    "digits are added until the equation holds": (
        lambda: torch.log1p(given(-0.99999)),
        1,
        [("", "", r"\frac{1}{1 + \left(-0.99999\right)} \approx 100000")],
    ),
    "broadcasting shows its sum": (
        lambda: given(2) * given(1, 4).detach(),
        1,
        [(r"{\textstyle\sum} v \odot b", "", rf"{{\textstyle\sum}} {MATRIX(1, 1)} \odot {MATRIX(1, 4)} = 5")],
    ),
    "what is large keeps its symbol": (lambda: torch.arange(100.0).requires_grad_() * 2, 1, []),
}


@pytest.mark.parametrize("name", STAGES)
def test_stages_are_written_as_people_write_them(name: str) -> None:
    """Symbols, with v, with numbers; of the last operation. An empty part is not compared."""
    program, v, expected = STAGES[name]
    found = stages(run_backward([program()], fill=v)[0])
    assert [stage["argnum"] for stage in found] == [*range(len(expected))]
    for stage, parts in zip(found, expected, strict=True):
        written = stage["symbols"], stage["with_v"], stage["with_numbers"]
        assert all(part in ("", whole) for part, whole in zip(parts, written, strict=True)), written


def test_all_that_is_written_parses(visits: dict[str, list[Met]], run_program: Callable[..., Any]) -> None:
    """By the very library that draws it on the page."""
    seen = [visit for met in visits.values() for _, visit in met[:20]]
    formulas = {one.latex for visit in seen for one in printed(visit)}
    parts = ("symbols", "with_v", "with_numbers")
    written = {stage[part] for visit in seen for stage in stages(visit) for part in parts}
    assert len(formulas) > 300
    assert len(written) > 500
    broken = r"\frac{1}{2"
    assert unparsable([*sorted(formulas | written), broken], run_program) == [broken]
    beside = re.compile(r"(?<![\d.^{_])\d+\.?\d* +\d")
    assert [latex for latex in written if beside.search(latex)] == []


def unparsable(latex: list[str], run_program: Callable[..., Any]) -> list[str]:
    """What Temml refuses."""
    script = (
        f"import temml from {json.dumps(TEMML.as_uri())}; import {{readFileSync}} from 'node:fs';"
        "const bad = JSON.parse(readFileSync(0, 'utf8')).filter((text) => {"
        "try { return temml.renderToString(text, {throwOnError: true}).includes('temml-error') }"
        "catch { return true }});"
        "console.log(JSON.stringify(bad))"
    )
    answer = run_program(["node", "--input-type=module", "--eval", script], input=json.dumps(latex))
    return [*json.loads(answer.stdout)]
