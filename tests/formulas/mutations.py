"""Changes one token of each printed formula and reads it again: `python -m tests.formulas.mutations`.

Prints the survivors: changed formulas that still read as what the engine returned, wherever that formula is printed.
"""

import itertools
import re
import sys
from collections.abc import Iterator

import torch

from tests.formulas.live_nodes import operators, run_backward, sample_visits
from tests.formulas.printed import Printed, printed
from tests.formulas.samples import EDGES, HAND_SAMPLES

TOKEN = re.compile(r"\\texttt\{(?:\\.|[^\\}])*\}|\\text\{[^}]*\}|\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|[a-zA-Z]|\S")
SWAPS = {
    r"\odot": "+",
    r"\cdot": "-",
    "+": "-",
    "-": "+",
    "<": ">",
    ">": "<",
    "=": r"\ne",
    r"\ne": "=",
    r"\le": r"\ge",
    r"\ge": r"\le",
    r"\land": r"\lor",
    r"\lor": r"\land",
    r"\lnot": "-",
    r"\top": "{2}",
    r"\,": r"\odot",
    r"\frac": r"\texttt{times}",
    r"\sin": r"\cos",
    r"\cos": r"\sin",
    r"\sinh": r"\cosh",
    r"\cosh": r"\sinh",
    r"\exp": r"\sin",
    r"\log": r"\exp",
    r"\tan": r"\tanh",
    r"\tanh": r"\tan",
    r"\sigma": r"\exp",
    r"\min": r"\max",
    r"\max": r"\min",
    r"\sqrt": r"\exp",
    r"\sum": "",
    r"\lfloor": r"\left(",
}
IDLE = frozenset(
    {
        r"\left",
        r"\right",
        r"\begin",
        r"\end",
        r"\quad",
        r"\textstyle",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "|",
        ",",
        "&",
        "^",
        "_",
        r"\\",
        r"\rfloor",
    }
)
"""Tokens that hold a formula together; without one it does not parse."""


def mutants(latex: str) -> Iterator[str]:
    """The formula with one token changed, for every token that says something."""
    formula = latex.partition(r", \quad ")[0]
    for match in TOKEN.finditer(formula):
        token = match[0]
        before, after = latex[: match.start()], latex[match.end() :]
        if token in IDLE or _is_part_of_a_name(before):
            continue
        if token in SWAPS:
            yield f"{before}{SWAPS[token]} {after}"
        elif token.isdigit():
            yield f"{before}{int(token) + 1}{after}"
        elif token.startswith(r"\text{"):
            if any(map(str.isdigit, token)):
                yield before + re.sub(r"\d+", lambda digits: str(int(digits[0]) + 1), token, count=1) + after
        elif token[0].isalpha() and token != "v":
            yield f"{before}v{after}"
        elif token == "v" or token.startswith((r"\hat", r"\texttt")):
            yield f"{before}{{{token}}}^{{2}}{after}"


def _is_part_of_a_name(before: str) -> bool:
    return bool(re.search(r"\\(operatorname|begin|end|mathrm|mathbf|mathit|hat)\{[^}]*$|_\{$", before))


def surviving(ones: list[Printed]) -> list[tuple[str, str]]:
    """Mutants of the formulas that read right at every node that prints the same formula."""
    by_formula: dict[str, list[Printed]] = {}
    for one in ones:
        # Both signs are products: of a number, and of tensors.
        by_formula.setdefault(one.latex.replace(r"\odot", r"\cdot"), []).append(one)
    return [
        (mutant, same[0].latex)
        for same in by_formula.values()
        for mutant in mutants(same[0].latex)
        if any(one.is_telling for one in same) and all(reads_right(one, mutant) for one in same)
    ]


def reads_right(one: Printed, latex: str) -> bool:
    try:
        return one.is_right(one.read_latex(latex))
    except Exception:  # noqa: BLE001 - whatever a changed formula does, it is no value
        return False


def main() -> None:
    """The survivors over the whole operator database."""
    met: dict[str, list[Printed]] = {}
    torch.manual_seed(0)
    programs = [sample_visits(op) for op in operators()]
    programs += [iter(run_backward([sample()])) for sample in (*HAND_SAMPLES.values(), *EDGES)]
    for visit in itertools.chain(*programs):
        if visit.has_gradients and visit.is_telling:
            met.setdefault(visit.node_name, []).extend(printed(visit))
    count = 0
    for node_name, ones in sorted(met.items()):
        count += sum(1 for latex in {one.latex for one in ones} for _ in mutants(latex))
        for mutant, latex in surviving(ones):
            sys.stdout.write(f"{node_name}: {latex}  ->  {mutant}\n")
    sys.stdout.write(f"{count} changed formulas of {len(met)} nodes\n")


if __name__ == "__main__":
    main()
