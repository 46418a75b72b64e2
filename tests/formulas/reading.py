"""Reads printed formulas: LaTeX by a grammar of mathematics (`latex.lark`), text as Python with torch's names.

Nothing of `gradwalk.formulas` is used here: what a sign means is said anew, and functions are torch's own. So a formula
that is printed wrongly gives a wrong number, whatever the expression behind it is. What has no name in torch is said
with indexing, or as what torch sends back through a function, by its own engine. Text calls torch's functions as torch
wants to be called; in LaTeX the dim stands below the name, so it has a keyword.
"""

import math
import operator
import re
from collections import ChainMap
from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import torch
from lark import Lark, Token, Tree
from lark.visitors import Interpreter
from torch import Tensor
from torch.nn import functional

Function = Callable[..., Any]
_PLACES = (torch.fft, torch, functional, torch.special, torch.linalg, torch.ops.aten)


def tensor(value: Any) -> Tensor:
    """A constant with all of its digits."""
    if isinstance(value, Tensor):
        return value
    return torch.tensor(value, dtype=torch.complex128 if isinstance(value, complex) else torch.float64)


class _Names(dict[str, Function]):
    """torch's functions by their names, found when they are asked for."""

    def __missing__(self, name: str) -> Function:
        for place in _PLACES:
            if hasattr(place, name):
                return _of_tensors(getattr(place, name))
        raise KeyError(name)


def _of_tensors(function: Function) -> Function:
    """Tensors without dims are printed as numbers, and what torch wants of one dtype is of two where one is complex."""

    def called(*arguments: Any, **options: Any) -> Any:
        first, *others = arguments
        found = [tensor(first) if isinstance(first, int) else first, *others]
        found = [tensor(one) if isinstance(one, float | complex) else one for one in found]
        tensors = [one for one in found if isinstance(one, Tensor) and (one.is_floating_point() or one.is_complex())]
        wide = dict(zip(map(id, tensors), _wide(*tensors), strict=True))
        return function(*[wide.get(id(one), one) for one in found], **options)

    return called


def _sizes(value: Any) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple) else (value,)


def _wide(*values: Tensor) -> list[Tensor]:
    dtype = torch.complex128 if any(value.is_complex() for value in values) else torch.float64
    return [value.to(dtype) for value in values]


def _where(condition: Any, then: Any, otherwise: Any) -> Any:
    return torch.where(condition, *_wide(tensor(then), tensor(otherwise)))


def _one_hot(numbers: Any, num_classes: int) -> Tensor:
    """As torch's, with nothing set for what is no class."""
    classes = torch.as_tensor(numbers)
    is_class = (classes >= 0) & (classes < num_classes)
    found = functional.one_hot(torch.where(is_class, classes, 0).long(), num_classes)
    return found * is_class.unsqueeze(-1)


def _product_of_others(value: Tensor, dim: int | None = None) -> Tensor:
    output, back = torch.func.vjp(lambda x: x.prod() if dim is None else x.prod(dim, keepdim=True), value)
    return back(torch.ones_like(output))[0].conj()


def _back_through(function: Function) -> Function:
    """What torch sends back through a function of a tensor of that shape."""

    def called(v: Tensor, shape: Any, **options: Any) -> Tensor:
        x = torch.zeros(_sizes(shape), dtype=v.dtype)
        if not v.numel():
            return x
        output, back = torch.func.vjp(lambda x: function(x, **options), x)
        # In print, dims of size 1 are not told apart.
        return back(v.reshape(output.shape))[0]

    return called


def _transposed(function: Function) -> Function:
    """Of a function that is told the output's sizes; those of a batch are v's."""

    def called(v: Tensor, input_size: Any, **options: Any) -> Tensor:
        size = _sizes(input_size)
        batch, outputs = v.shape[: -len(size)], v.shape[-len(size) :]
        return _back_through(lambda x: function(x, outputs, **options))(v, (*batch, *size))

    return called


def _pooled(function: Function) -> Function:
    return lambda x, _outputs, **options: function(x, **options)


def _resized(x: Tensor, outputs: Any, **options: Any) -> Tensor:
    return functional.interpolate(x, None if "scale_factor" in options else outputs, **options)


def _along(function: Function) -> Function:
    """For torch's functions of a tensor, a dim, an index, and perhaps a value."""

    def called(*arguments: Any, dim: int | None = None, value: Any = None, **options: Any) -> Tensor:
        # A number in the place of an index is one: 0 is printed of a tensor without dims.
        base, *others = (torch.as_tensor(one) if dim is not None else one for one in arguments)
        if dim is not None:
            others = [dim, *others]
        if value is not None:
            others.append(value)
        along, index, *rest = others
        return function(base, along, index.long(), *rest, **options)

    return called


def _joined(function: Function) -> Function:
    def called(*parts: Any, dim: int | None = None) -> Tensor:
        if isinstance(parts[0], list):
            parts, dim = tuple(parts[0]), parts[1] if len(parts) > 1 else dim
        return function(_wide(*parts), dim)

    return called


def _many(function: Function) -> Function:
    """For functions whose options torch wants as tuples."""
    return lambda value, **options: function(value, **{name: _sizes(one) for name, one in options.items()})


def _part(value: Tensor, at: str) -> Tensor:
    return eval(f"value{at}", {"value": value})


def _with_zeros(value: Tensor, at: str) -> Tensor:
    value = value.clone()
    _part(value, at).zero_()
    return value


def _key(indices: tuple[Tensor, ...], dims: Any) -> tuple[Any, ...]:
    """The indices with whole dims between them; a mask of several dims is as many indices."""
    lists: dict[int, Tensor] = {}
    for dim, index in zip(_sizes(dims), indices, strict=True):
        if index.dtype == torch.bool:
            lists |= {dim + offset: one for offset, one in enumerate(index.nonzero(as_tuple=True))}
        else:
            lists[dim] = index.long()
    return tuple(lists.get(dim, slice(None)) for dim in range(max(lists) + 1))


def _taken_at(value: Tensor, *indices: Tensor, dims: Any) -> Tensor:
    return value[_key(indices, dims)]


def _zeroed_at(value: Tensor, *indices: Tensor, dims: Any) -> Tensor:
    value = value.clone()
    value[_key(indices, dims)] = 0
    return value


def _padded_to(value: Tensor, shape: Any) -> Tensor:
    whole = torch.zeros(_sizes(shape), dtype=value.dtype)
    whole.view(-1)[: value.numel()] = value
    return whole


def _einsum(equation: str, *tables: Any) -> Tensor:
    """A row is printed as a matrix, with one dim more than it has letters."""
    letters = equation.partition("->")[0].split(",")
    values = [tensor(table).to(torch.float64) for table in tables]
    parts = [value.reshape(value.shape[value.dim() - len(own) :]) for own, value in zip(letters, values, strict=True)]
    return torch.einsum(equation, *parts)


_OF_TENSORS: Mapping[str, Function] = {
    **{name: _many(getattr(torch, name)) for name in ("permute", "flip", "roll")},
    "part": _part,
    "with_zeros": _with_zeros,
    "into_zeros": lambda v, shape, at: _back_through(_part)(v, shape, at=at),
    "added_at": lambda v, *indices, dims, shape: _back_through(lambda x: _taken_at(x, *indices, dims=dims))(v, shape),
    "taken_at": _taken_at,
    "zeroed_at": _zeroed_at,
    "padded_to": _padded_to,
    "windows": lambda x, dimension, size, step: x.unfold(dimension, size, step),
    "windows_transposed": _back_through(lambda x, dimension, size, step: x.unfold(dimension, size, step)),
    "pad_transposed": _back_through(functional.pad),
    "masked_select": lambda value, mask: torch.masked_select(value, torch.as_tensor(mask).bool()),
    "masked_scatter": lambda base, mask, value: torch.masked_scatter(base, torch.as_tensor(mask).bool(), value),
    "take": lambda value, index: torch.take(value, torch.as_tensor(index).long()),
    "put": lambda base, index, *rest, **options: torch.put(base, torch.as_tensor(index).long(), *rest, **options),
    **{name: _joined(getattr(torch, name)) for name in ("cat", "stack")},
    **{name: _along(getattr(torch, name)) for name in ("gather", "scatter", "scatter_add", "scatter_reduce")},
    **{name: _along(getattr(torch, name)) for name in ("index_select", "index_add", "index_fill")},
}
FUNCTIONS: Mapping[str, Function] = _Names(
    Re=lambda value: torch.as_tensor(value).real,
    Im=lambda value: torch.as_tensor(value).imag,
    ones=lambda shape: torch.ones(shape, dtype=torch.float64),
    zeros=lambda shape: torch.zeros(shape, dtype=torch.float64),
    eye=lambda **sizes: torch.eye(**sizes, dtype=torch.float64),
    max=lambda a, b: torch.clamp(torch.as_tensor(a), min=b),
    reshape=lambda value, shape: torch.as_tensor(value).reshape(shape),
    where=_where,
    polygamma=lambda n, value: torch.polygamma(n, tensor(value)),
    float32=lambda value: tensor(value).to(torch.float32).to(torch.float64),
    one_hot=_one_hot,
    product_of_others=_product_of_others,
    einsum=_einsum,
    interpolate_transposed=_transposed(_resized),
    **{f"{name}_transposed": _transposed(_pooled(getattr(functional, name))) for name in ("avg_pool2d", "avg_pool3d")},
    **{
        f"adaptive_avg_pool{rank}d_transposed": _transposed(getattr(functional, f"adaptive_avg_pool{rank}d"))
        for rank in (2, 3)
    },
    **{name: _of_tensors(function) for name, function in _OF_TENSORS.items()},
)
"""Functions by the names that are printed."""

_PARSER = Lark(Path(__file__).with_name("latex.lark").read_text(), parser="lalr", maybe_placeholders=False)
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


def read_latex(latex: str, values: Mapping[str, Any], *, rows_are_vectors: bool = False) -> Any:
    """The value of a formula; `values` by the names that stand in it (`x`, `\\hat{x}`, `\\texttt{x*y}`).

    `rows_are_vectors`: a matrix of one row is a tensor of one dim.
    """
    return _Reader(values, rows_are_vectors).visit(_PARSER.parse(latex))


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


class _Reader(Interpreter):  # type: ignore[type-arg]
    """What each sign of the grammar means."""

    def __init__(self, values: Mapping[str, Any], rows_are_vectors: bool) -> None:
        self._values = dict(values)
        self._rows_are_vectors = rows_are_vectors

    imaginary_unit, nan, infinity, pi = map(_constant, (1j, math.nan, math.inf, math.pi))
    true, false = map(_constant, (True, False))
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
    conjugate = _of_values(lambda value: tensor(value).conj())
    to_the_power = _of_values(_power)
    magnitude = _of_values(abs)
    floor = _of_values(torch.floor)
    root = _of_values(lambda value: torch.sqrt(tensor(value)))
    either = _of_values(operator.or_)
    both = _of_values(operator.and_)

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
        return torch.ones(_options(tree.children[0])["shape"], dtype=torch.float64)

    def zeros(self, tree: Tree[Token]) -> Tensor:
        return torch.zeros(_options(tree.children[0])["shape"], dtype=torch.float64)

    def identity(self, tree: Tree[Token]) -> Tensor:
        return torch.eye(**_options(tree.children[0]), dtype=torch.float64)

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
            value = _where(_condition(condition), then, value)
        return value

    def standard_function(self, tree: Tree[Token]) -> Any:
        name, arguments = tree.children
        values = [tensor(self.visit(child)) for child in arguments.children]
        return reduce(STANDARD[str(name)[1:]], values) if len(values) > 1 else STANDARD[str(name)[1:]](*values)

    def einsum(self, tree: Tree[Token]) -> Any:
        indices, arguments = tree.children
        equation = re.sub(r"\\,|\s", "", str(indices)).replace(r"\to", "->")
        return _einsum(equation, *map(self.visit, arguments.children))

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
    if value in (meant := {"()": (), "true": True, "false": False}):
        return meant[value]
    if ", " in value:
        return tuple(map(_option, value.split(", ")))
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
