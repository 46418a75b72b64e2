"""The three stages of small programs as a person reads them, and of the operator database in the page's typesetter."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from gradwalk.formulas.substitute import substitution
from gradwalk.protocol.events import Substitution
from tests.formulas.live_nodes import Met, Visit, run_backward
from tests.formulas.printed import printed

TEMML = Path(__file__).parents[2] / "frontend" / "node_modules" / "temml" / "dist" / "temml.mjs"


def stages(visit: Visit) -> list[Substitution]:
    found = (substitution(one.line, one.values, one.returned, one.letters) for one in printed(visit))
    return [stage for stage in found if stage is not None]


PARTS = ("symbols", "with_v", "with_numbers")


def test_a_factor_of_one_is_not_written_and_what_is_large_keeps_its_symbol() -> None:
    a, b = (torch.tensor(one, requires_grad=True) for one in (2.0, 3.0))
    written = [[stage[part] for part in PARTS] for stage in stages(run_backward([torch.add(a, b, alpha=4)], fill=5)[0])]
    assert written == [["v", "5", "5"], [r"4 \cdot v", r"4 \cdot 5", r"4 \cdot 5 = 20"]]
    assert stages(run_backward([torch.arange(100.0).requires_grad_() * 2])[0]) == []


def test_all_that_is_written_parses(visits: dict[str, list[Met]], run_program: Callable[..., Any]) -> None:
    """By the very library that draws it on the page."""
    seen = [visit for met in visits.values() for _, visit in met[:20]]
    formulas = {one.latex for visit in seen for one in printed(visit)}
    written = {stage[part] for visit in seen for stage in stages(visit) for part in PARTS}
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
