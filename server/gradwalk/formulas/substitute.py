r"""A formula in three stages: symbols, then v filled in, then all numbers (`v \odot y`, `10 \cdot y`, `10 \cdot 3 = 30`).

The last stage is an equation, and it is checked as it stands: the expression that is printed, with the numbers that are
printed, must give what the engine returned, to the digits that are printed. Where four digits are too few for that, more are
printed; where nine are, the numbers are left out.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from gradwalk.formulas.digits import DIGITS, Printed, print_value
from gradwalk.formulas.expression import Named, Symbol, evaluate, symbols_of, walk
from gradwalk.formulas.letters import Letters
from gradwalk.formulas.specialise import CANNOT_EVALUATE, Line
from gradwalk.formulas.writing import Spell, Written, write, write_explained
from gradwalk.protocol.events import Substitution

_CLOSE = 2e-3
"""Of the largest entry: what rounding to four digits may make of an equation before a reader calls it wrong."""
_EXACT = 1e-12


def substitution(line: Line, values: Mapping[str, Tensor], returned: Tensor, letters: Letters) -> Substitution | None:
    """The three stages of one operand's vjp; None where its gradient is too large to be read at a glance.

    Args:
        values: what the symbols stand for.
        returned: the gradient that the engine returned for the operand.
    """
    spell = letters.spell("latex")
    for digits in DIGITS:
        answer = print_value(returned, digits)
        if answer is None:
            return None
        equation = _equation(line, values, answer, spell, digits)
        if equation is not None:
            return {
                "argnum": line.argnum,
                "symbols": write_explained(line.expression, "latex", spell),
                "with_v": write_explained(line.expression, "latex", _spell_seeds(values, spell, digits)),
                "with_numbers": equation,
            }
    return None


def _equation(line: Line, values: Mapping[str, Tensor], answer: Printed, spell: Spell, digits: int) -> str | None:
    """The formula with all numbers and its answer; None where the printed numbers do not bear it out."""
    printed = {name: print_value(values[name], digits) for name in symbols_of(line.expression) if name in values}
    parts: dict[str, Printed | None] = {}
    shown: list[Printed] = [answer]

    def round_part(meaning: Any) -> Any:
        rounded = print_value(torch.as_tensor(meaning), digits)
        return meaning if rounded is None else rounded.value

    read = {name: values[name] if one is None else one.value for name, one in printed.items()}
    try:
        if any(isinstance(part, Named) for part in walk(line.expression)):
            for part in walk(line.expression):
                if isinstance(part, Named):
                    parts[part.letter] = print_value(torch.as_tensor(evaluate(part, values)), digits)
        found = torch.as_tensor(evaluate(line.expression, read, round_part))
    except CANNOT_EVALUATE:
        return None
    if found.numel() not in (1, answer.value.numel()):
        return None
    same_size = found.numel() == answer.value.numel()
    found = found.reshape(answer.value.shape) if same_size else found.expand(answer.value.shape)

    def number(one: Symbol | Named) -> Written:
        known = printed.get(one.name) if isinstance(one, Symbol) else parts.get(one.letter)
        if known is None:
            return spell(one)
        shown.append(known)
        return known.latex

    written = write(line.expression, "latex", number)
    if not _agree(found, answer.value, _CLOSE):
        return None
    if written == answer.latex.text:
        return written
    is_exact = all(one.is_exact for one in shown) and _agree(found, answer.value, _EXACT)
    relation = "=" if is_exact else r"\approx"
    return f"{written} {relation} {answer.latex.text}"


def _spell_seeds(values: Mapping[str, Tensor], spell: Spell, digits: int) -> Spell:
    def seed_or_symbol(one: Symbol | Named) -> Written:
        if not isinstance(one, Symbol) or not (one.name == "v" or one.name.removeprefix("v").isdigit()):
            return spell(one)
        printed = print_value(values[one.name], digits)
        return spell(one) if printed is None else printed.latex

    return seed_or_symbol


def _agree(found: Tensor, answer: Tensor, tolerance: float) -> bool:
    wide = torch.complex128 if found.is_complex() or answer.is_complex() else torch.float64
    found, answer = found.to(wide), answer.to(wide)
    finite = answer[torch.isfinite(answer)].abs()
    largest = float(finite.max()) if finite.numel() else 0.0
    return torch.allclose(found, answer, rtol=tolerance, atol=tolerance * largest, equal_nan=True)
