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
from gradwalk.formulas.expression import Apply, Named, Symbol, evaluate, walk
from gradwalk.formulas.letters import Letters, is_seed
from gradwalk.formulas.specialise import CANNOT_EVALUATE, Line
from gradwalk.formulas.writing import Spell, Written, write, write_explained, write_part
from gradwalk.protocol.events import Substitution

_CLOSE = 2e-3
"""Of the largest entry: what rounding to four digits may make of an equation before a reader calls it wrong."""
_EXACT = 1e-12
_ARITHMETIC = {"add", "sub", "mul", "div", "neg", "pow", "matmul"}
LONGEST_EQUATION = 1_000
"""Characters of LaTeX; more does not fit on a screen."""


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
    try:
        printed = _printed(line, values, digits)
        found = _read(line, values, printed, digits)
    except CANNOT_EVALUATE:
        return None
    if found.numel() not in (1, answer.value.numel()):
        return None
    same_size = found.numel() == answer.value.numel()
    found = found.reshape(answer.value.shape) if same_size else found.expand(answer.value.shape)
    if not _agree(found, answer.value, _CLOSE):
        return None

    def number(one: Symbol | Named) -> Written:
        known = printed.get(_name(one))
        if known is not None:
            return known.latex
        if isinstance(one, Symbol):
            return spell(one)
        # Nothing explains a letter after an equation, so what is too large for numbers is written out.
        return write_part(one.meaning, "latex", number)

    written = write(line.expression, "latex", number)
    if len(written) > LONGEST_EQUATION:
        return None
    if written == answer.latex.text:
        return written
    is_exact = answer.is_exact and all(one.is_exact for one in printed.values()) and _agree(found, answer.value, _EXACT)
    relation = "=" if is_exact else r"\approx"
    return f"{written} {relation} {answer.latex.text}"


def _name(one: Symbol | Named) -> str:
    return one.name if isinstance(one, Symbol) else one.letter


def _printed(line: Line, values: Mapping[str, Tensor], digits: int) -> dict[str, Printed]:
    """What stands in the place of symbols and lettered parts, where it is small enough.

    A mask that something is multiplied with is a number there, 1 or 0.
    """
    factors = {
        _name(argument)
        for one in walk(line.expression)
        if isinstance(one, Apply) and one.operation in _ARITHMETIC
        for argument in one.arguments
        if isinstance(argument, Symbol | Named)
    }
    found: dict[str, Printed] = {}
    for one in walk(line.expression):
        if not isinstance(one, Symbol | Named):
            continue
        value = torch.as_tensor(evaluate(one, values))
        is_number = value.dtype == torch.bool and _name(one) in factors
        printed = print_value(value.long() if is_number else value, digits)
        if printed is not None:
            found[_name(one)] = printed
    return found


def _read(line: Line, values: Mapping[str, Tensor], printed: Mapping[str, Printed], digits: int) -> Tensor:
    """The value of the formula for somebody who reads the printed numbers."""

    def as_printed(meaning: Any) -> Any:
        rounded = print_value(torch.as_tensor(meaning), digits)
        return meaning if rounded is None else rounded.value

    numbers = {name: printed[name].value if name in printed else value for name, value in values.items()}
    return torch.as_tensor(evaluate(line.expression, numbers, as_printed))


def _spell_seeds(values: Mapping[str, Tensor], spell: Spell, digits: int) -> Spell:
    def seed_or_symbol(one: Symbol | Named) -> Written:
        if not isinstance(one, Symbol) or not is_seed(one.name):
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
