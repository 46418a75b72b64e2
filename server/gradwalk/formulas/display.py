"""A node's mathematics as the protocol carries it, in the program's own names."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gradwalk.formulas.derivatives import derivative_line, operand_names
from gradwalk.formulas.entry import Entry, Kind
from gradwalk.formulas.expression import symbols_of
from gradwalk.formulas.letters import Letters, is_seed
from gradwalk.formulas.registry import entry_of
from gradwalk.formulas.specialise import Line, forward, lines
from gradwalk.formulas.writing import Form, write_explained
from gradwalk.protocol.graph import Formula, VjpLine

_HOLE = re.compile(r"\{(\w+)\}")


def letters_of(node_name: str, known: Mapping[str, str], taken: Sequence[str] = ()) -> Letters:
    """What a node's symbols are called.

    Args:
        known: source text by symbol; a result that has the name of an operand gets a letter.
        taken: the program's variables, none of which is used as a letter.
    """
    entry = entry_of(node_name)
    return Letters(known, frozenset(taken), {} if entry is None else entry.letters)


def formula_of(
    node_name: str,
    saved: Mapping[str, Any],
    seeds: Sequence[Kind | None],
    operands: Sequence[Kind | None],
    letters: Letters,
    wanted: Collection[int] | None = None,
) -> Formula | None:
    """A node's formulas for the options it has; None where neither an entry nor a table line is known.

    Operands whose formula cannot be written exactly have no line. Arguments as those of `specialise.lines`.

    Args:
        wanted: the operands that get a gradient, all unless given.
    """
    entry, table = entry_of(node_name), derivative_line(node_name)
    yaml = list(table.lines) if table else []
    if entry is None:
        return {"forward": "", "vjp": [], "derivatives_yaml": yaml} if table else None
    known = lines(node_name, saved, seeds, operands)
    found = [line for line in known if line is not None and (wanted is None or line.argnum in wanted)]
    formula: Formula = {
        "forward": _forward(node_name, saved, operands, letters),
        "vjp": [_vjp_line(entry, node_name, len(operands), line, letters) for line in found],
        "derivatives_yaml": yaml,
    }
    if entry.special_cases:
        formula["special_cases"] = [_filled(case, letters) for case in entry.special_cases]
    if symbols := _symbols(found, letters):
        formula["symbols"] = symbols
    return formula


def _forward(node_name: str, saved: Mapping[str, Any], operands: Sequence[Kind | None], letters: Letters) -> str:
    expression = forward(node_name, saved, operands)
    if expression is None:
        return ""
    return f"{letters.write('result', 'latex')} = {write_explained(expression, 'latex', letters.spell('latex'))}"


def _vjp_line(entry: Entry, node_name: str, count: int, line: Line, letters: Letters) -> VjpLine:
    vjp = entry.vjp_for(operand_names(node_name, count)[line.argnum].partition("[")[0])
    return {
        "argnum": line.argnum,
        "latex": _written(line, letters, "latex"),
        "text": _written(line, letters, "text"),
        "because": "" if vjp is None else _filled(vjp.because, letters),
    }


def _written(line: Line, letters: Letters, form: Form) -> str:
    return write_explained(line.expression, form, letters.spell(form))


def _filled(sentence: str, letters: Letters) -> str:
    """A sentence with the names of what `{self}` and the like stand for."""
    return _HOLE.sub(lambda hole: letters.write(hole[1], "text"), sentence)


def _symbols(found: Sequence[Line], letters: Letters) -> dict[str, str]:
    """How the vjps write what the node saved."""
    names = dict.fromkeys(name for line in found for name in symbols_of(line.expression))
    return {name: letters.write(name, "latex") for name in names if not is_seed(name)}
