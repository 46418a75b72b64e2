r"""Writes an expression as LaTeX or as text; the three stages of a substitution differ only in how symbols are written.

The text is Python (`v * cos(x)`), with names of torch for what mathematics has no sign for.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from gradwalk.formulas.expression import Apply, Expression, Named, Number, Scalar, Symbol, walk
from gradwalk.formulas.notation import Notation, Strength
from gradwalk.formulas.operations import OPERATIONS

Form = Literal["latex", "text"]


@dataclass(frozen=True, slots=True)
class Written:
    """A piece of writing, and how tightly it holds together."""

    text: str
    strength: Strength = Strength.ATOM


Spell = Callable[[Symbol | Named], Written]
"""How a symbol or a part with a letter of its own is written: by its name, or by its value."""


def write(expression: Expression, form: Form, spell: Spell) -> str:
    """The expression alone; parts with a letter of their own are written as `spell` says."""
    return write_part(expression, form, spell).text


def write_part(expression: Expression, form: Form, spell: Spell) -> Written:
    """The same, with how tightly it holds together."""
    return _Writer(form, spell, expression).write(expression)


def write_explained(expression: Expression, form: Form, spell: Spell) -> str:
    """The expression, followed by what its letters stand for: `(g - mean(g)) / s, where g = v * w; s = ...`."""
    writer = _Writer(form, spell, expression)
    formula = writer.write(expression).text
    meanings = [
        f"{spell(part).text} = {writer.write(part.meaning).text}"
        for part in walk(expression)
        if isinstance(part, Named)
    ]
    if not meanings:
        return formula
    if form == "latex":
        return r", \quad ".join([formula, *reversed(meanings)])
    return f"{formula}, where {'; '.join(reversed(meanings))}"


def write_number(value: Scalar, form: Form) -> Written:
    """A constant with all of its digits."""
    if isinstance(value, bool):
        return Written(str(int(value)))
    if isinstance(value, complex):
        return _write_complex(value, form)
    if value != value:  # noqa: PLR0124 - NaN
        return Written(r"\mathrm{NaN}" if form == "latex" else "nan")
    sign = "-" if value < 0 else ""
    strength = Strength.SUM if sign else Strength.ATOM
    if abs(value) == float("inf"):
        return Written(sign + (r"\infty" if form == "latex" else "inf"), strength)
    digits = repr(abs(value)).removesuffix(".0")
    mantissa, mark, exponent = digits.partition("e")
    if not mark or form == "text":
        return Written(sign + digits, strength)
    power = f"10^{{{int(exponent)}}}"
    if mantissa == "1":
        return Written(sign + power, strength if sign else Strength.POWER)
    return Written(rf"{sign}{mantissa} \cdot {power}", strength if sign else Strength.PRODUCT)


def _write_complex(value: complex, form: Form) -> Written:
    unit = r"\mathrm{i}" if form == "latex" else "j"
    digits = write_number(abs(value.imag), form).text
    imaginary = digits + unit if form == "text" else unit if digits == "1" else rf"{digits}\, {unit}"
    if not value.real:
        return Written(
            ("-" if value.imag < 0 else "") + imaginary, Strength.SUM if value.imag < 0 else Strength.PRODUCT
        )
    return Written(f"{write_number(value.real, form).text} {'-' if value.imag < 0 else '+'} {imaginary}", Strength.SUM)


class _Writer:
    """One form and one way of spelling; a part that stands twice is written once and used twice."""

    def __init__(self, form: Form, spell: Spell, whole: Expression) -> None:
        self._whole = whole
        self._form: Form = form
        self._spell = spell
        self._written: dict[int, Written] = {}

    def write(self, expression: Expression) -> Written:
        known = self._written.get(id(expression))
        if known is None:
            known = self._written[id(expression)] = self._write(expression)
        return known

    def _write(self, expression: Expression) -> Written:
        match expression:
            case Number():
                return write_number(expression.value, self._form)
            case Symbol() | Named():
                return self._spell(expression)
            case Apply():
                return self._write_operation(expression)
        raise TypeError(f"{type(expression).__name__} is no part of an expression")

    def _write_operation(self, one: Apply) -> Written:
        operation = OPERATIONS[one.operation]
        notation = operation.latex if self._form == "latex" else operation.text
        if one.operation == "where" and self._form == "latex":
            return self._write_cases(one)
        if one.operation == "transpose" and self._form == "text":
            return self._write_transpose(one.arguments[0])
        if notation is None:
            return self._write_function(one)
        arguments = [
            self._bracketed(self.write(argument), need)
            for argument, need in zip(one.arguments, _needs(notation, len(one.arguments)), strict=True)
        ]
        sign = r"\cdot" if any(argument.is_scalar for argument in one.arguments) else r"\odot"
        options = {
            name: _indices(value, self._form) if name == "equation" else _literal(name, value)
            for name, value in one.options
        }
        written = notation.template.format(
            *arguments, all=", ".join(arguments), sign=sign, options=_subscript(one.options), **options
        )
        return Written(written, notation.strength)

    def _write_transpose(self, matrix: Expression) -> Written:
        """`w.T`; `w` again where the program's own text of the matrix is `w.T`."""
        text = self._bracketed(self.write(matrix), Strength.ATOM)
        for sign in (".T", ".mT"):
            if text.endswith(sign):
                return Written(text.removesuffix(sign))
        is_matrix = isinstance(matrix, Symbol) and len(matrix.shape) == _RANK_OF_MATRIX
        return Written(f"{text}.T" if is_matrix else f"{text}.mT", Strength.POWER)

    def _write_cases(self, one: Expression) -> Written:
        """The first case whose condition holds counts; further conditions where none before it held are rows, too."""
        rows = []
        while isinstance(one, Apply) and one.operation == "where":
            condition, then, one = one.arguments
            value = self._bracketed(self.write(then), Strength.SUM)
            rows.append(rf"{value} & \text{{if }} {self.write(condition).text}")
        rows.append(rf"{self._bracketed(self.write(one), Strength.SUM)} & \text{{else}}")
        lines = r" \\ ".join(rows)
        return Written(rf"\begin{{cases}} {lines} \end{{cases}}")

    def _write_function(self, one: Apply) -> Written:
        need = Strength.SUM if self._form == "latex" else Strength.CONDITION
        arguments = [self._bracketed(self.write(argument), need) for argument in one.arguments]
        if self._form == "latex":
            name = one.operation.replace("_", r"\_")
            listed, subscript = ", ".join(arguments), _subscript(one.options)
            if len(subscript) > LONGEST_SUBSCRIPT:
                listed, subscript = rf"{listed};\; {subscript[2:-1]}", ""
            return Written(rf"\operatorname{{{name}}}{subscript}\left({listed}\right)")
        options = [f"{name}={_literal(name, value)}" for name, value in one.options if value is not None]
        if one.operation in _KEEPING_DIMS and options and one is not self._whole:
            options.append("keepdim=True")
        return Written(f"{one.operation}({', '.join([*arguments, *options])})")

    def _bracketed(self, written: Written, need: Strength) -> str:
        if written.strength >= need:
            return written.text
        if self._form == "text":
            return f"({written.text})"
        # Iverson's brackets: 1 where the condition holds, 0 elsewhere.
        opening, closing = "[]" if written.strength <= Strength.COMPARISON else "()"
        return rf"\left{opening}{written.text}\right{closing}"


_RANK_OF_MATRIX = 2
LONGEST_SUBSCRIPT = len(r"_{\text{dim 0; index 1}}")
"""Options longer than this are too much to be read in small print, and stand behind the arguments."""
_KEEPING_DIMS = frozenset({"sum", "mean"})
"""torch drops the dims that they reduce unless it is told otherwise."""


def _needs(notation: Notation, count: int) -> Iterable[Strength]:
    return notation.needs if len(notation.needs) == count else notation.needs * count


def _subscript(options: Iterable[tuple[str, Any]]) -> str:
    """Options below a sign or a name, as text: `_{\text{dim 0}}`."""
    listed = [f"{name} {_listed(value)}" for name, value in options if value is not None]
    if not listed:
        return ""
    return rf"_{{\text{{{'; '.join(listed)}}}}}".replace("_", r"\_").replace(r"\_{", "_{", 1)


def _listed(value: Any) -> str:
    """`0`, `0, 2`, `true`: as it is read, not as Python writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return ", ".join(map(_listed, value)) or "()"
    return str(value)


def _indices(equation: str, form: Form) -> str:
    """The letters of an einsum."""
    return equation if form == "text" else equation.replace(",", r",\,").replace("->", r" \to ")


def _literal(name: str, value: Any) -> str:
    """As Python writes it; a tuple of one dim is written as that dim."""
    return repr(value[0]) if name == "dim" and isinstance(value, tuple) and len(value) == 1 else repr(value)
