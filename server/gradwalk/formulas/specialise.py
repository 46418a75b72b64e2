"""The vjps of one node: the entry's formulas with the node's options filled in, brought to the operands' shapes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from gradwalk.formulas.derivatives import operand_names, unmistakable
from gradwalk.formulas.entry import Entry, Given, Kind, NotWritten, Reason, Shape
from gradwalk.formulas.expression import (
    Apply,
    Expression,
    Number,
    evaluate,
    evaluate_all,
    real,
    symbols_of,
    total,
    walk,
    with_parts,
)
from gradwalk.formulas.registry import entry_of
from gradwalk.protocol.graph import UnwrittenReason

CANNOT_EVALUATE = (
    RuntimeError,
    TypeError,
    ValueError,
    IndexError,
    AttributeError,
    KeyError,
    ArithmeticError,
    NotImplementedError,
)
"""What torch or a formula raises where values or options do not fit: the formula does not apply here."""

_BY_CONTENT = frozenset({"bincount", "masked_select", "unique"})
"""Operations whose shapes depend on more than shapes."""

ENTRIES_MADE = 1_024
"""Of all tensors of a formula, made to see what shapes its parts have."""


@dataclass(frozen=True, slots=True)
class Line:
    """One operand's vjp at one node."""

    argnum: int
    expression: Expression
    shape: Shape
    dtype: torch.dtype
    because: Reason

    def value(self, values: Mapping[str, Tensor]) -> Tensor:
        """The formula's value in the operand's shape and dtype.

        Raises:
            ShapeMismatch: the formula gave a value of another shape: it is wrong.
            KeyError, RuntimeError, ...: see `CANNOT_EVALUATE`.
        """
        found = torch.as_tensor(evaluate(self.expression, values))
        if found.layout != torch.strided:
            found = found.to_dense()
        if isinstance(self.expression, Number):
            found = found.expand(self.shape)
        if _without_ones(tuple(found.shape)) != _without_ones(self.shape):
            raise ShapeMismatch(f"{tuple(found.shape)} is not {self.shape}")
        return found.reshape(self.shape).to(self.dtype)


class ShapeMismatch(ValueError):
    """A formula gave a value of the wrong shape; unlike other failures this is a wrong formula."""


def lines(
    node_name: str, saved: Mapping[str, Any], seeds: Sequence[Kind | None], operands: Sequence[Kind | None]
) -> tuple[Line | None, ...]:
    """Per operand its vjp, None where nobody wrote one, it does not apply, or the operand's shape is not known.

    Args:
        saved: the node's saved values by their bare names; tensors may be given as such or as their kind.
        seeds: the kinds of grad_outputs, None where nothing arrived.
        operands: the kinds of the operands, in the order of `next_functions`.
    """
    return tuple(
        line if isinstance(line, Line) else None
        for line in _lines(node_name, _kinds(saved), tuple(seeds), tuple(operands))
    )


def unwritten(
    node_name: str, saved: Mapping[str, Any], seeds: Sequence[Kind | None], operands: Sequence[Kind | None]
) -> dict[int, UnwrittenReason]:
    """By operand, why no formula is written for these options; arguments as those of `lines`."""
    found = _lines(node_name, _kinds(saved), tuple(seeds), tuple(operands))
    return {argnum: line.reason for argnum, line in enumerate(found) if isinstance(line, NotWritten)}


def forward(node_name: str, saved: Mapping[str, Any], operands: Sequence[Kind | None]) -> Expression | None:
    """What the node's op computes, of its operands; None where nobody wrote it or too little is known."""
    known = tuple(sorted((unmistakable(name), kind_of(value)) for name, value in saved.items()))
    return _forward(node_name, known, tuple(operands))


def values_of(saved: Mapping[str, Any], grad_outputs: Sequence[Tensor | None]) -> dict[str, Tensor]:
    """The tensors that symbols stand for."""
    found: dict[str, Tensor] = {}
    for attribute, value in saved.items():
        name = unmistakable(attribute)
        if isinstance(value, Tensor):
            found[name] = value
        elif isinstance(value, tuple | list):
            found |= {f"{name}[{place}]": one for place, one in enumerate(value) if isinstance(one, Tensor)}
    for position, grad in enumerate(grad_outputs):
        if grad is not None:
            found[f"v{position}" if len(grad_outputs) > 1 else "v"] = grad
    return found


def _kinds(saved: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted((unmistakable(name), kind_of(value)) for name, value in saved.items()))


def kind_of(value: Any) -> Any:
    """A saved value with the kinds of its tensors in their place, and its integers as they were meant.

    torch hands `dim=-1` back as 2**64 - 1.
    """
    if isinstance(value, Tensor):
        return Kind.of(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value - 2**64 if value >= 2**63 else value
    return tuple(map(kind_of, value)) if isinstance(value, tuple | list) else value


@lru_cache(maxsize=4_096)
def _forward(
    node_name: str, saved: tuple[tuple[str, Any], ...], operands: tuple[Kind | None, ...]
) -> Expression | None:
    entry = entry_of(node_name)
    if entry is None or entry.forward is None:
        return None
    try:
        by_name = dict(zip(operand_names(node_name, len(operands)), operands, strict=True))
        return entry.forward(Given(dict(saved), (), by_name))
    except CANNOT_EVALUATE:
        return None


@lru_cache(maxsize=4_096)
def _lines(
    node_name: str,
    saved: tuple[tuple[str, Any], ...],
    seeds: tuple[Kind | None, ...],
    operands: tuple[Kind | None, ...],
) -> tuple[Line | NotWritten | None, ...]:
    entry = entry_of(node_name)
    if entry is None or all(seed is None for seed in seeds):
        return (None,) * len(operands)
    names = operand_names(node_name, len(operands))
    by_name = dict(zip(names, operands, strict=True))
    found = []
    for argnum, (name, operand) in enumerate(by_name.items()):
        base, _, place = name.partition("[")
        given = Given(dict(saved), seeds, by_name, argnum, int(place.rstrip("]") or 0))
        found.append(None if operand is None else _line(entry, base, given, argnum, operand))
    return tuple(found)


def _line(entry: Entry, name: str, given: Given, argnum: int, operand: Kind) -> Line | NotWritten | None:
    vjp = entry.vjp_for(name)
    if vjp is None:
        return None
    try:
        expression = vjp.formula(given)
        because = vjp.because if isinstance(vjp.because, Reason) else vjp.because(given)
        return Line(argnum, _settled(expression, given, operand), operand.shape, operand.dtype, because)
    except NotWritten as reason:
        return reason.with_traceback(None)
    except CANNOT_EVALUATE:
        return None


def _settled(expression: Expression, given: Given, operand: Kind) -> Expression:
    """The formula with what the engine adds: the real part for a real operand, sums over broadcast dims."""
    if not operand.dtype.is_complex:
        expression = real(expression)
    if isinstance(expression, Number):
        return expression
    shapes = _shapes_of(expression, given)
    shape = shapes.get(id(expression))
    if shape is None:
        return expression
    expression = _without_idle_dims(expression, shapes)
    if _without_ones(shape) == _without_ones(operand.shape):
        return expression
    lead = len(shape) - len(operand.shape)
    dims = [axis for axis, size in enumerate(shape) if axis < lead or (size != 1 and operand.shape[axis - lead] == 1)]
    return total(expression, None if len(dims) == len(shape) else dims)


def _shapes_of(expression: Expression, given: Given) -> dict[int, Shape]:
    """The shapes of all its parts by `id`, found by running it; empty where that cannot be done.

    Small tensors are made: torch imports its compiler for the first product of tensors without content.
    """
    known = given.kinds()
    kinds = {name: known[name] for name in symbols_of(expression) if name in known}
    is_known = not any(isinstance(one, Apply) and one.operation in _BY_CONTENT for one in walk(expression))
    is_small = is_known and sum(math.prod(kind.shape) for kind in kinds.values()) <= ENTRIES_MADE
    found = _shapes_on("cpu", expression, kinds) if is_small else None
    if found is None:
        found = _shapes_on("meta", expression, kinds)
    return found or {}


def _shapes_on(device: str, expression: Expression, kinds: Mapping[str, Kind]) -> dict[int, Shape] | None:
    made = {name: torch.zeros(kind.shape, dtype=kind.dtype, device=device) for name, kind in kinds.items()}
    try:
        found = evaluate_all(expression, made)
    except CANNOT_EVALUATE:
        return None
    return {key: tuple(torch.as_tensor(value).shape) for key, value in found.items()}


def _without_idle_dims(expression: Expression, shapes: Mapping[int, Shape]) -> Expression:
    """Sums and means over all dims there are do not name them: of a vector, dim 0 is all of it."""
    everywhere = {
        id(one)
        for one in walk(expression)
        if isinstance(one, Apply) and one.operation in ("sum", "mean")
        if len(dict(one.options)["dim"] or ()) == len(shapes[id(one.arguments[0])])
    }
    if not everywhere:
        return expression
    made: dict[int, Expression] = {}
    for one in walk(expression):
        made[id(one)] = with_parts(one, tuple(made[id(part)] for part in one.parts))
        if id(one) in everywhere and isinstance(one, Apply):
            made[id(one)] = Apply(one.operation, (made[id(one.arguments[0])],), (("dim", None),))
    return made[id(expression)]


def _without_ones(shape: Shape) -> Shape:
    return tuple(size for size in shape if size != 1)
