"""Reads printed formulas: LaTeX by a grammar of mathematics (`latex.lark`), text as Python with torch's names.

Nothing of `gradwalk.formulas` is used here: what a sign means is said anew, and functions are torch's own. So a formula
that is printed wrongly gives a wrong number, whatever the expression behind it is.
"""

import math
import operator
import re
from collections import ChainMap
from collections.abc import Callable, Mapping
from functools import cache, reduce
from pathlib import Path
from typing import Any

import torch
from lark import Lark, Token, Tree
from lark.visitors import Interpreter
from torch import Tensor

from tests.formulas.names import FUNCTIONS, tensor

GRAMMAR = Path(__file__).with_name("latex.lark").read_text()
STANDARD = {
    "sigma": torch.sigmoid,
    "min": torch.minimum,
    "max": torch.maximum,
    **{name: getattr(torch, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log")},
    **{f"arc{name}": getattr(torch, f"arc{name}") for name in ("sin", "cos", "tan")},
    "det": torch.linalg.det,
}
RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
    r"\le": operator.le,
    r"\ge": operator.ge,
    r"\ne": operator.ne,
}


@cache
def _parser() -> Lark:
    return Lark(GRAMMAR, parser="lalr", maybe_placeholders=False)


def read_latex(latex: str, values: Mapping[str, Any], *, rows_are_vectors: bool = False) -> Any:
    """The value of a formula; `values` by the names that stand in it (`x`, `\\hat{x}`, `\\texttt{x*y}`).

    `rows_are_vectors`: a matrix of one row is a tensor of one dim.
    """
    return _Reader(values, rows_are_vectors).visit(_parser().parse(latex))


def read_text(text: str, values: Mapping[str, Any]) -> Any:
    """The value of a formula in plain text; `values` by the names that stand in it."""
    formula, _, meanings = text.partition(", where ")
    # What is no name of Python (`x*y`, `model.0.weight`) is given one.
    known: dict[str, Any] = {}
    for place, (name, value) in enumerate(sorted(values.items(), key=lambda item: -len(item[0]))):
        if not name.isidentifier():
            formula, meanings = (part.replace(name, f"_known_{place}_") for part in (formula, meanings))
            name = f"_known_{place}_"
        known[name] = value
    namespace = ChainMap({"nan": math.nan, "inf": math.inf, "pi": math.pi, **known}, FUNCTIONS)  # type: ignore[arg-type]
    for meaning in reversed(meanings.split("; ") if meanings else []):
        name, _, part = meaning.partition(" = ")
        namespace[name] = eval(part, {"__builtins__": {}}, namespace)
    return eval(formula, {"__builtins__": {}}, namespace)


Read = Callable[["_Reader", Tree[Token]], Any]


def _constant(value: Any) -> Read:
    return lambda _reader, _tree: value


def _of_values(function: Callable[..., Any]) -> Read:
    """A sign that means a function of the values of what stands beside or in it."""
    return lambda reader, tree: function(*[reader.visit(child) for child in tree.children])


def _matrix_product(left: Any, right: Any) -> Any:
    if not isinstance(left, Tensor) or not isinstance(right, Tensor):
        return left * right
    return _matrix(left) @ _matrix(right)


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, Tensor) or isinstance(exponent, Tensor):
        return torch.pow(base, exponent)
    try:
        return base**exponent
    except ZeroDivisionError:
        return math.inf


def _conjugate(value: Any) -> Any:
    return value.conj() if isinstance(value, Tensor) else complex(value).conjugate()


class _Reader(Interpreter):  # type: ignore[type-arg]
    """What each sign of the grammar means."""

    def __init__(self, values: Mapping[str, Any], rows_are_vectors: bool) -> None:
        self._values = dict(values)
        self._rows_are_vectors = rows_are_vectors

    imaginary_unit, nan, infinity, pi = map(_constant, (1j, math.nan, math.inf, math.pi))
    formula = iverson = _of_values(lambda value: value)
    negative = _of_values(lambda value: -_number(value))
    add = _of_values(lambda left, right: _number(left) + _number(right))
    subtract = _of_values(lambda left, right: _number(left) - _number(right))
    multiply = _of_values(lambda left, right: _number(left) * _number(right))
    divide = _of_values(lambda left, right: tensor(left) / right)
    matrix_product = _of_values(_matrix_product)
    transpose = _of_values(lambda value: _matrix(value).mT)
    adjoint = _of_values(lambda value: _matrix(value).mH)
    inverse_transpose = _of_values(lambda value: torch.linalg.inv(value).mT)
    inverse_adjoint = _of_values(lambda value: torch.linalg.inv(value).mH)
    conjugate = _of_values(_conjugate)
    to_the_power = _of_values(_power)
    magnitude = _of_values(abs)
    floor = _of_values(torch.floor)
    root = _of_values(lambda value: torch.sqrt(tensor(value)))
    either = _of_values(operator.or_)
    both = _of_values(operator.and_)
    deny = _of_values(operator.invert)

    def start(self, tree: Tree[Token]) -> Any:
        formula, *meanings = tree.children
        # A letter may be explained with one that is explained later.
        for meaning in reversed(meanings):
            self.visit(meaning)
        return self.visit(formula)

    def meaning(self, tree: Tree[Token]) -> None:
        name, _, value = tree.children
        self._values[_spelled(name)] = self.visit(value)

    def symbol(self, tree: Tree[Token]) -> Any:
        return self._values[_spelled(tree.children[0])]

    def number(self, tree: Tree[Token]) -> float | int:
        digits = str(tree.children[0])
        return float(digits) if "." in digits else int(digits)

    def compare(self, tree: Tree[Token]) -> Any:
        left, relation, right = tree.children
        return RELATIONS[str(relation)](self.visit(left), self.visit(right))

    def total(self, tree: Tree[Token]) -> Any:
        value = torch.as_tensor(self.visit(tree.children[-1]))
        if not value.dim():
            return value
        options = _options(tree.children[0]) if len(tree.children) > 1 else {}
        return value.sum(options.get("dim", tuple(range(value.dim()))), keepdim=True)

    def ones(self, tree: Tree[Token]) -> Tensor:
        shape = _options(tree.children[0])["shape"]
        return torch.ones(shape, dtype=torch.float64)

    def zeros(self, tree: Tree[Token]) -> Tensor:
        return torch.zeros(_options(tree.children[0])["shape"], dtype=torch.float64)

    def identity(self, tree: Tree[Token]) -> Tensor:
        return torch.eye(**_options(tree.children[0]), dtype=torch.float64)

    def true(self, _: Tree[Token]) -> bool:
        return True

    def false(self, _: Tree[Token]) -> bool:
        return False

    def literal(self, tree: Tree[Token]) -> Tensor:
        rows = [[self.visit(entry) for entry in row.children] for row in tree.children]
        if any(isinstance(entry, Tensor) and entry.dim() for row in rows for entry in row):
            return torch.cat([torch.cat(row, -1) for row in rows], -2)
        if self._rows_are_vectors and len(rows) == 1:
            rows = rows[0]
        entries = [entry for row in rows for entry in (row if isinstance(row, list) else [row])]
        if all(isinstance(entry, bool) for entry in entries):
            return torch.tensor(rows)
        is_complex = any(isinstance(entry, complex) for entry in entries)
        return torch.tensor(rows, dtype=torch.complex128 if is_complex else torch.float64)

    def cases(self, tree: Tree[Token]) -> Any:
        """The first row that holds counts."""
        *cases, last = tree.children
        value = self.visit(last)
        for case in reversed(cases):
            then, condition = map(self.visit, case.children)
            dtype = torch.result_type(tensor(then), tensor(value))
            value = torch.where(_condition(condition), tensor(then).to(dtype), tensor(value).to(dtype))
        return value

    def standard_function(self, tree: Tree[Token]) -> Any:
        name, arguments = tree.children
        values = [tensor(self.visit(child)) for child in arguments.children]
        return reduce(STANDARD[str(name)[1:]], values) if len(values) > 1 else STANDARD[str(name)[1:]](*values)

    def function(self, tree: Tree[Token]) -> Any:
        name, *others = tree.children
        (arguments,) = (other for other in others if other.data == "arguments")
        chosen = {key: value for other in others if other is not arguments for key, value in _options(other).items()}
        plain = str(name).replace(r"\_", "_")
        if plain in ("mean", "sum") and "dim" in chosen:
            chosen["keepdim"] = True
        return FUNCTIONS[plain](*map(self.visit, arguments.children), **chosen)


def _spelled(name: Any) -> str:
    if name.data == "indexed":
        letter, number = name.children
        return f"{letter}_{{{number}}}"
    return str(name.children[0])


def _options(tree: Any) -> dict[str, Any]:
    """`dim 0; shape 2, 3`."""
    found: dict[str, Any] = {}
    for option in str(tree.children[0]).replace(r"\_", "_").split("; "):
        name, _, value = option.partition(" ")
        found[name] = _option(value)
    return found


def _option(value: str) -> Any:
    if value.startswith("["):
        return value
    if value == "()":
        return ()
    if ", " in value:
        return tuple(map(_option, value.split(", ")))
    if value in ("true", "false"):
        return value == "true"
    if re.fullmatch(r"-?\d+", value):
        return int(value)
    try:
        return float(value)
    except ValueError:
        return value


def _number(value: Any) -> Any:
    return value.to(torch.int8) if isinstance(value, Tensor) and value.dtype == torch.bool else value


def _condition(value: Any) -> Any:
    value = tensor(value)
    return value if value.dtype == torch.bool else value != 0


def _matrix(value: Any) -> Any:
    """A tensor of one dim is a row."""
    value = torch.as_tensor(value)
    return value.unsqueeze(0) if value.dim() == 1 else value
