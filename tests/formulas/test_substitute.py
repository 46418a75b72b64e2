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


def stages_of(output: torch.Tensor, v: float = 1.0) -> list[tuple[int, str, str, str]]:
    """The stages of the last operation, in which `x`, `y` and `z` are variables of the program."""
    last = run_backward([output], fill=v)[0]
    return [(stage["argnum"], stage["symbols"], stage["with_v"], stage["with_numbers"]) for stage in stages(last)]


def scalar(value: float) -> torch.Tensor:
    return torch.tensor(value, requires_grad=True)


def test_a_product_of_two_numbers() -> None:
    assert stages_of(scalar(2.0) * scalar(3.0), v=10) == [
        (0, r"v \cdot b", r"10 \cdot b", r"10 \cdot 3 = 30"),
        (1, r"v \cdot a", r"10 \cdot a", r"10 \cdot 2 = 20"),
    ]


def test_signs_get_parentheses_and_powers_keep_their_base() -> None:
    [(_, _, _, with_numbers)] = stages_of(scalar(-2.0) ** 3, v=-1)
    assert r"{\left(-2\right)}^{2}" in with_numbers
    assert with_numbers.endswith("= -12")


def test_a_factor_of_one_is_not_written() -> None:
    assert stages_of(scalar(2.0) + scalar(3.0), v=5) == [(0, "v", "5", "5"), (1, "v", "5", "5")]
    [_, other] = stages_of(torch.add(scalar(2.0), scalar(3.0), alpha=4), v=5)
    assert other == (1, r"4 \cdot v", r"4 \cdot 5", r"4 \cdot 5 = 20")


def test_rounded_numbers_say_so() -> None:
    [(_, _, _, with_numbers)] = stages_of(scalar(2.0).sin())
    assert with_numbers == r"1 \cdot \cos\left(2\right) \approx -0.4161"


def test_digits_are_added_until_the_equation_holds() -> None:
    """1 / (1 - 0.99999): with four digits it would be 1 / 0."""
    x = torch.tensor(-0.99999, dtype=torch.float64, requires_grad=True)
    [(_, _, _, with_numbers)] = stages_of(torch.log1p(x))
    assert "0.99999" in with_numbers


def test_a_reduction_by_sum_is_not_divided() -> None:
    [(_, symbols, _, with_numbers)] = stages_of(
        torch.nn.functional.mse_loss(
            torch.tensor([0.5, 2.0]).double().requires_grad_(),
            torch.tensor([1.0, 0.0], dtype=torch.float64),
            reduction="sum",
        )
    )
    assert r"\frac" not in symbols
    assert with_numbers.endswith(r"= \begin{bmatrix} -1 & 4 \end{bmatrix}")


def test_broadcasting_shows_its_sum() -> None:
    [(_, symbols, _, with_numbers)] = stages_of(scalar(2.0) * torch.tensor([1.0, 4.0]))
    assert symbols == r"{\textstyle\sum} v \odot b"
    product = r"\begin{bmatrix} 1 & 1 \end{bmatrix} \odot \begin{bmatrix} 1 & 4 \end{bmatrix}"
    assert with_numbers == rf"{{\textstyle\sum}} {product} = 5"


def test_what_is_large_keeps_its_symbol() -> None:
    x = torch.arange(100.0, requires_grad=True)
    assert stages_of(x * 2) == []


def test_all_that_is_written_parses(visits: dict[str, list[Met]], run_program: Callable[..., Any]) -> None:
    """By the very library that draws it on the page."""
    formulas, written = set(), set()
    for met in visits.values():
        for _, visit in met[:20]:
            formulas |= {one.latex for one in printed(visit)}
            for stage in stages(visit):
                written |= {stage["symbols"], stage["with_v"], stage["with_numbers"]}
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
    command = ["node", "--input-type=module", "--eval", script]
    answer = run_program(command, input=json.dumps(latex))
    refused: list[str] = json.loads(answer.stdout)
    return refused
