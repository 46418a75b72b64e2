"""Every formula in every stage, set by the page's own typesetter: `python -m tests.formulas.contact_sheet FOLDER`.

Writes `formulas-light.html` and `formulas-dark.html`, and a picture of each part of them, to be looked at.
"""

import html
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import torch

from gradwalk.formulas.display import formula_of
from gradwalk.formulas.entry import Kind
from gradwalk.formulas.substitute import substitution
from tests.databases import load_operators
from tests.formulas.live_nodes import Visit, operators, run_backward, sample_visits
from tests.formulas.printed import printed
from tests.formulas.samples import HAND_SAMPLES
from tests.world.browser import running_browser

FRONTEND = Path(__file__).parents[2] / "frontend"
ROWS_PER_PICTURE = 24
STYLE = """
body { font: var(--type-body) var(--sans); margin: 8px; background: var(--surface); color: var(--ink); }
table { border-collapse: collapse; } td { border: 1px solid var(--line); padding: 5px 8px; vertical-align: top; }
.formula { margin-bottom: 6px; } small { color: var(--ink-quiet); font-family: var(--mono); }
"""
THEMES = ("light", "dark")


def main() -> None:
    """The sheets, and their pictures."""
    folder = Path(sys.argv[1])
    rows = _rows()
    written = _typeset([latex for row in rows for latex in row["latex"]])
    with running_browser() as browser:
        for theme in THEMES:
            for part, some in enumerate(_chunks(rows)):
                page_file = folder / f"formulas-{theme}-{part:02}.html"
                page_file.write_text(_page(some, written, theme))
                page = browser.new_page(viewport={"width": 1600, "height": 900})
                page.goto(page_file.as_uri())
                page.evaluate("document.fonts.ready")
                page.screenshot(path=str(page_file.with_suffix(".png")), full_page=True)
                page.close()
    sys.stdout.write(f"{len(rows)} formulas\n")


def _chunks(rows: list[dict[str, list[str]]]) -> list[list[dict[str, list[str]]]]:
    return [rows[start : start + ROWS_PER_PICTURE] for start in range(0, len(rows), ROWS_PER_PICTURE)]


def _rows() -> list[dict[str, list[str]]]:
    """One row per node and formula of a different look; the smallest sample of each."""
    torch.manual_seed(0)
    programs = [sample_visits(op) for op in operators(load_operators())]
    programs += [iter(run_backward([sample()])) for sample in HAND_SAMPLES.values()]
    best: dict[str, tuple[int, dict[str, list[str]]]] = {}
    for visit in itertools.chain(*programs):
        for one in printed(visit) if visit.has_gradients else ():
            size = sum(value.numel() for value in one.values.values())
            key = f"{one.node_name} {one.line.argnum}"
            if key not in best or 1 < size < best[key][0]:
                found = substitution(one.line, one.values, one.returned, one.letters)
                stages = [] if found is None else [found["with_v"], found["with_numbers"]]
                forward = _forward(visit)
                best[key] = (
                    size,
                    {"name": [key], "text": [one.text], "latex": [forward, one.latex, *stages]},
                )
    return [row for _, (_, row) in sorted(best.items())]


def _forward(visit: Visit) -> str:
    operands = [None if shape is None else Kind(shape, torch.float64) for shape in visit.operand_shapes]
    seeds = [None if grad is None else Kind.of(grad) for grad in visit.grad_outputs]
    letters = next(iter(printed(visit))).letters
    saved = {name.removeprefix("_saved_"): value for name, value in visit.saved.items()}
    formula = formula_of(visit.node_name, saved, seeds, operands, letters)
    return "" if formula is None else formula["forward"]


def _typeset(latex: list[str]) -> dict[str, str]:
    temml = (FRONTEND / "node_modules/temml/dist/temml.mjs").as_uri()
    script = (
        f"import temml from {json.dumps(temml)}; import {{readFileSync}} from 'node:fs';"
        "const all = JSON.parse(readFileSync(0, 'utf8'));"
        "console.log(JSON.stringify(Object.fromEntries(all.map((text) => [text, temml.renderToString(text)]))))"
    )
    command = ["node", "--input-type=module", "--eval", script]
    answer = subprocess.run(command, input=json.dumps(latex), capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(answer.stdout)
    return found


def _page(rows: list[dict[str, list[str]]], written: dict[str, str], theme: str) -> str:
    cells = "".join(
        f"<tr><td>{html.escape(row['name'][0])}"
        f"<td>{''.join(f'<div class=formula>{written[latex]}</div>' for latex in row['latex'])}"
        f"<small>{html.escape(row['text'][0])}</small>"
        for row in rows
    )
    return (
        f"<!doctype html><html data-theme={theme}><meta charset=utf-8><style>{_style()}</style><table>{cells}</table>"
    )


def _style() -> str:
    """How the page sets formulas: its fonts, its colours, and what `Formula.svelte` says of them."""
    render = FRONTEND / "src" / "render"
    formula = (render / "Formula.svelte").read_text().partition("<style>")[2].partition("</style>")[0]
    plain = re.sub(r":global\(([^)]*)\)", r"\1", formula)
    fonts = (render / "math.css").read_text().replace('url("', f'url("{(FRONTEND / "node_modules").as_uri()}/')
    return "\n".join(((render / "theme.css").read_text(), fonts, STYLE, plain))


if __name__ == "__main__":
    main()
