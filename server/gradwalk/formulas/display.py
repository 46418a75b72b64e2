"""A node's mathematics as the protocol carries it, in the program's own names."""

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from gradwalk.formulas.derivatives import derivative_line
from gradwalk.formulas.entry import Kind, Reason
from gradwalk.formulas.expression import Expression, Symbol, names_of, symbols_of
from gradwalk.formulas.factors import factor_of
from gradwalk.formulas.letters import Letters, is_seed, source_strength
from gradwalk.formulas.notation import Strength
from gradwalk.formulas.registry import entry_of
from gradwalk.formulas.specialise import Line, forward, lines, unwritten
from gradwalk.formulas.writing import Form, Written, write_explained
from gradwalk.protocol.facts import Fact, fact
from gradwalk.protocol.graph import Formula, UnwrittenLine, VjpLine

LONGEST_SAID: Final = 100
"""Characters of source text in a sentence."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What the program calls the values of a node, in full."""

    values: Mapping[str, str]
    """By symbol; `tanh(…)` for the result of an operation that the program has no text for."""
    operands: Sequence[str | None]
    """By argnum, as far as the program has a text."""
    result: str | None
    """The text that computes the node's one result."""


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
    texts: Texts | None = None,
) -> Formula | None:
    """A node's formulas for the options it has; None where neither an entry nor a table line is known.

    Operands whose formula cannot be written exactly have no line. Arguments as those of `specialise.lines`.

    Args:
        wanted: the operands that get a gradient, all unless given.
        texts: the program's texts, for sentences; without them there is nothing to say.
    """
    entry, table = entry_of(node_name), derivative_line(node_name)
    yaml = list(table.lines) if table else []
    if entry is None:
        return {"forward": "", "vjp": [], "derivatives_yaml": yaml} if table else None
    known = lines(node_name, saved, seeds, operands)
    found = [line for line in known if line is not None and (wanted is None or line.argnum in wanted)]
    formula: Formula = {
        "forward": _forward(node_name, saved, operands, letters),
        "vjp": [_vjp_line(line, letters, seeds, texts) for line in found],
        "derivatives_yaml": yaml,
    }
    reasons = [
        UnwrittenLine(argnum=argnum, reason=reason)
        for argnum, reason in unwritten(node_name, saved, seeds, operands).items()
        if wanted is None or argnum in wanted
    ]
    if reasons:
        formula["unwritten"] = reasons
    if entry.special_cases:
        formula["special_cases"] = [_told(case, letters) for case in entry.special_cases]
    if symbols := _symbols(found, letters):
        formula["symbols"] = symbols
    return formula


def _forward(node_name: str, saved: Mapping[str, Any], operands: Sequence[Kind | None], letters: Letters) -> str:
    expression = forward(node_name, saved, operands)
    if expression is None:
        return ""
    return f"{letters.write('result', 'latex')} = {_written(expression, letters, 'latex')}"


def _vjp_line(line: Line, letters: Letters, seeds: Sequence[Kind | None], texts: Texts | None) -> VjpLine:
    written: VjpLine = {
        "argnum": line.argnum,
        "latex": _written(line.expression, letters, "latex"),
        "text": _written(line.expression, letters, "text"),
        "because": _told(line.because, letters),
    }
    if line.because.kind in {"why-add", "why-added"} and [one and one.shape for one in seeds] != [line.shape]:
        written["because"] = fact("why-add-broadcast", self=next(iter(written["because"]["operands"].values())))
    reads = [name for name in symbols_of(line.expression) if not is_seed(name)]
    if texts is None or not texts.values.keys() >= set(reads):
        return written
    said = Letters(texts.values, letters.taken, letters.preferred, LONGEST_SAID)
    written |= {"said": _written(line.expression, said, "text"), "reads": reads}
    factor = factor_of(line.expression) if [one and one.shape for one in seeds] == [line.shape] else None
    if factor is not None:
        written["derivative"] = derivative = _written(factor, said, "text")
        operand, result = texts.operands[line.argnum], texts.result
        # Inside a function a value has the name of the parameter there, and another one outside; and where the operand
        # stands elsewhere in the result as well, its derivative is not that of this use of it.
        named = [texts.values[name] for name in symbols_of(factor)]
        if operand and result and _count(operand, result) == 1 and all(_count(one, result) for one in named):
            written["equation"] = f"{_differential(result)}/{_differential(operand)} = {derivative}"
    return written


def _count(part: str, whole: str) -> int:
    """How often an expression stands in another one, or is it; `s` does not stand in `torch.sin(x)`."""
    wanted, tree = _parse(part), _parse(whole)
    if wanted is None or tree is None:
        return 0
    text = ast.dump(wanted)
    return sum(isinstance(node, ast.expr) and ast.dump(node) == text for node in ast.walk(tree))


@lru_cache(maxsize=1_024)
def _parse(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _differential(text: str) -> str:
    """`∂x`, `∂(x*y)`, `∂ sin(x)`."""
    if source_strength(text) is not Strength.ATOM or text.startswith("("):
        return f"∂({text})"
    return f"∂{text}" if len(text) == 1 else f"∂ {text}"


def _written(expression: Expression, letters: Letters, form: Form) -> str:
    return _write(expression, form, tuple((name, letters.written(name, form)) for name in names_of(expression)))


@lru_cache(maxsize=8_192)
def _write(expression: Expression, form: Form, names: tuple[tuple[str, Written], ...]) -> str:
    """Layers that are alike are written once."""
    known = dict(names)
    return write_explained(expression, form, lambda one: known[one.name if isinstance(one, Symbol) else one.letter])


def _told(reason: Reason, letters: Letters) -> Fact:
    told = reason.told(lambda name: letters.write(name, "text"))
    operands = told.get("operands", {})
    if told["kind"] in ("why-mul", "why-mul-other") and operands["self"] == operands["other"]:
        return {"kind": "why-mul-same", "operands": {"self": operands["self"]}}
    return told


def _symbols(found: Sequence[Line], letters: Letters) -> dict[str, str]:
    """How the vjps write what the node saved."""
    names = dict.fromkeys(name for line in found for name in symbols_of(line.expression))
    return {name: letters.write(name, "latex") for name in names if not is_seed(name)}
