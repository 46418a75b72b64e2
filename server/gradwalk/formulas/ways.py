"""The ways of v through an expression, on which it becomes a list of moves.

A way is what v has become at a part of the expression: a table, perhaps times another one, that is still to be indexed and
summed. As long as one move can do all of that, it grows; then it is settled, and a new one starts from what the move makes.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Any

import torch
from torch import Tensor

from gradwalk.formulas.expression import (
    Apply,
    Expression,
    Named,
    Number,
    Scalar,
    Symbol,
    apply,
    evaluate,
    evaluate_all,
    symbols_of,
    walk,
)
from gradwalk.formulas.letters import Letters, is_seed
from gradwalk.formulas.making import LONGEST, NoMoves, Shape, is_writable, make
from gradwalk.formulas.operations import OPERATIONS
from gradwalk.formulas.writing import write
from gradwalk.protocol.moves import Move, MoveSource, Verb
from gradwalk.protocol.values import TensorValue

MOST_MOVES = 6

Axes = tuple[str, ...]
"""An index per dim: a letter, or where a window slides a sum such as `2y+k-1`."""
Record = Callable[[Tensor], TensorValue]
Rule = Callable[["Reading", Apply], "Way"]
"""What becomes of v at an operation."""


@dataclass(frozen=True, slots=True)
class Way:
    """Where v has come to: cells of a table, perhaps times others, that are still to be put into their places."""

    source: MoveSource
    own: Shape
    """Of the source itself."""
    value: Tensor
    """Of the source, in the shape in which it is read."""
    of: Axes
    now: Axes
    """Letters of `of` that do not stand here are summed over."""
    shape: Shape
    """By `now`."""
    other: Expression | None = None
    """What v meets."""
    other_of: Axes = ()
    meaning: Expression | None = None
    """The part of the vjp that it is."""

    @property
    def is_plain(self) -> bool:
        """Whether nothing has happened to the source yet."""
        return self.other is None and self.of == self.now and tuple(self.value.shape) == self.shape

    @property
    def is_summed(self) -> bool:
        return any(letter not in self.now and size > 1 for letter, size in zip(self.of, self.value.shape, strict=True))

    @property
    def is_scaled(self) -> bool:
        """Whether nothing but a factor per cell has come, at most."""
        aligned = self.now[len(self.now) - len(self.other_of) :] == self.other_of
        return (self.other is None or aligned) and not self.is_summed


def _swapped(rank: int, dim0: int, dim1: int) -> list[int]:
    order = [*range(rank)]
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return order


TURNING: Mapping[str, Callable[[int, Mapping[str, Any]], Sequence[int]]] = {
    "transpose": lambda rank, _: _swapped(rank, -1, -2),
    "swapdims": lambda rank, options: _swapped(rank, options["dim0"], options["dim1"]),
    "permute": lambda rank, options: [dim % rank for dim in options["dims"]],
}
"""By operation, which dim of the argument each dim of the result is."""


class Reading:
    """Reads one expression with its values."""

    def __init__(
        self,
        expression: Expression,
        values: Mapping[str, Tensor],
        letters: Letters,
        record: Record,
        unnamed: Collection[str],
        rules: Mapping[str, Rule],
    ) -> None:
        self.moves: list[Move] = []
        self._expression = expression
        self._values = evaluate_all(expression, values)
        self._letters = letters
        self._record = record
        self._unnamed = unnamed
        self._rules = rules
        self._uses = Counter(id(part) for one in walk(expression) for part in one.parts)
        self._ways: dict[int, Way] = {}
        self._parts: list[Expression] = []

    def read(self, shape: Shape) -> Tensor:
        """Makes the moves; gives what they make."""
        way = self.reshaped(self.way(self._expression), shape)
        if not way.is_plain or not self.moves:
            way = self.settled(way, anyway=True)
        del self.moves[-1]["value"]
        self.moves[-1].pop("text", None)
        if way.own != shape:
            self.moves[-1]["shape"] = [*way.own]
        return way.value.reshape(shape)

    def way(self, one: Expression) -> Way:
        """How v comes to a part of the expression."""
        if id(one) not in self._ways:
            way = replace(self._way(one), meaning=one)
            # What is needed twice is made once.
            self._ways[id(one)] = self.settled(way) if self._uses[id(one)] > 1 else way
        return self._ways[id(one)]

    def _way(self, one: Expression) -> Way:
        if isinstance(one, Named):
            return self.way(one.meaning)
        if isinstance(one, Symbol):
            return start({"grad_output": int(one.name[1:] or 0)}, self._values[id(one)])
        if not isinstance(one, Apply) or one.operation not in self._rules:
            raise NoMoves
        return self._rules[one.operation](self, one)

    def only(self, one: Apply) -> tuple[Way, Sequence[Expression]]:
        """The way of the one argument with v, and the others."""
        carriers = [argument for argument in one.arguments if has_v(argument)]
        if len(carriers) != 1:
            raise NoMoves
        return self.way(carriers[0]), [argument for argument in one.arguments if argument is not carriers[0]]

    def tensor(self, one: Expression) -> Tensor:
        """The value of a part without v."""
        value = one.value if isinstance(one, Number) else self._values[id(one)]
        return value if isinstance(value, Tensor) else torch.tensor(value, dtype=torch.float64)

    def part(self, operation: str, *arguments: Expression | Scalar, **options: Any) -> Expression:
        """A new expression without v, and its value."""
        made = apply(operation, *arguments, **options)
        for one in (*made.parts, made):
            if id(one) not in self._values:
                # An id is another's once nobody holds the expression.
                self._parts.append(one)
                self._values[id(one)] = self._value(one)
        return made

    def repeat(self, one: Expression, shape: Shape) -> None:
        """Makes a table of a number."""
        self._values[id(one)] = self.tensor(one).expand(shape)

    def _value(self, one: Expression) -> Any:
        if not isinstance(one, Apply):
            return evaluate(one, {})
        arguments = (self._values[id(part)] for part in one.parts)
        return OPERATIONS[one.operation].evaluate(*arguments, **dict(one.options))

    def reshaped(self, way: Way, shape: Shape) -> Way:
        """The same cells in another shape."""
        if way.shape == shape:
            return way
        has_windows = any(len(axis) > 1 for axis in (*way.of, *way.other_of, *way.now))
        if not way.is_plain and not has_windows and _without_ones(way.shape) == _without_ones(shape):
            kept = iter([axis for axis, size in zip(way.now, way.shape, strict=True) if size != 1])
            fresh = beside(way.of, way.now, way.other_of)
            return replace(way, now=tuple(next(fresh if size == 1 else kept) for size in shape), shape=shape)
        way = self.settled(way)
        return start(way.source, way.value.reshape(shape), way.own)

    def split(self, way: Way, dim: int, parts: int) -> Way:
        """The same cells with a dim made two."""
        if way.other is not None or way.is_summed or {*way.of} != {*way.now} or any(len(axis) > 1 for axis in way.of):
            way = self.settled(way)
        at, fresh = way.of.index(way.now[dim]), next(beside(way.of))
        value, size = way.value, way.shape[dim] // parts
        value = value.reshape((*value.shape[:at], parts, size, *value.shape[at + 1 :]))
        of, now = ((*each[:place], fresh, *each[place:]) for each, place in ((way.of, at), (way.now, dim)))
        shape = (*way.shape[:dim], parts, size, *way.shape[dim + 1 :])
        return replace(way, value=value, of=of, now=now, shape=shape)

    def scaled(self, way: Way, factor: Expression, operation: str = "mul") -> Way:
        """Every cell times a factor of its own, or divided by it."""
        tensor = self.tensor(factor)
        if not way.is_scaled and (way.other is not None or tensor.dim()):
            way = self.settled(way)
        shape = torch.broadcast_shapes(way.shape, tensor.shape)  # type: ignore[no-untyped-call]
        way = widened(way, tuple(shape))
        axes = way.now[len(way.now) - tensor.dim() :]
        if way.other is None:
            return replace(way, other=factor if operation == "mul" else self.part(operation, 1, factor), other_of=axes)
        both = self.part(operation, way.other, factor)
        return replace(way, other=both, other_of=max(way.other_of, axes, key=len))

    def negated(self, way: Way) -> Way:
        """Every cell with the other sign."""
        if not way.is_scaled or way.is_plain:
            return self.scaled(way, self.part("neg", 1))
        return replace(way, other=self.part("neg", way.other or 1))

    def product(self, way: Way, other: Expression | None, axes: tuple[Axes, Axes, Axes], shape: Shape) -> Way:
        """v and another table by the letters of an einsum: of v, of the other, of the result."""
        of, other_of, now = axes
        if way.other is not None or way.is_summed or any(len(axis) > 1 for axis in way.now):
            way = self.settled(way)
        names = dict(zip(way.now, of, strict=True))
        fresh = beside(*axes)
        renamed = tuple(names[axis] if axis in names else next(fresh) for axis in way.of)
        return replace(way, of=renamed, now=now, shape=shape, other=other, other_of=other_of)

    def settled(self, way: Way, *, anyway: bool = False) -> Way:
        """The same behind a move, if it takes one."""
        if way.is_plain and not anyway:
            return way
        sources, axes, tensors = [read_as(way)], [way.of], [way.value]
        if way.other is not None:
            source, other_of, tensor = self._other(way)
            sources, axes, tensors = [*sources, source], [*axes, other_of], [*tensors, tensor]
        written = f"{','.join(map(joined, axes))}->{joined(way.now)}"
        verb = _verb(way, tensors)
        if not all(is_writable(shape, LONGEST[verb]) for shape in (way.own, *(one.shape for one in tensors[1:]))):
            raise NoMoves
        move: Move = {"verb": verb, "of": sources, "axes": written}
        if way.meaning is not None:
            move["text"] = self.text(way.meaning)
        return self.add(move, tensors, way.shape)

    def _other(self, way: Way) -> tuple[MoveSource, Axes, Tensor]:
        """What v meets: by name where it has one, however it is turned."""
        assert way.other is not None
        tensor = self.tensor(way.other)
        plain, axes = way.other, way.other_of
        while isinstance(plain, Apply) and plain.operation in TURNING:
            order = TURNING[plain.operation](len(axes), dict(plain.options))
            axes = tuple(axis for _, axis in sorted(zip(order, axes, strict=True)))
            plain = plain.arguments[0]
        read = plain.arguments[0] if isinstance(plain, Apply) and plain.operation == "reshape" else plain
        if isinstance(read, Symbol) and read.name not in self._unnamed and tensor.is_floating_point():
            table, named = self.tensor(plain), MoveSource(operand=read.name)
            return named if read is plain else {**named, "shape": [*table.shape]}, axes, table
        tensor = tensor.to(way.value.dtype)
        return self.written(way.other, tensor), way.other_of, tensor

    def written(self, one: Expression, tensor: Tensor) -> MoveSource:
        """A table without a name, and how it is computed."""
        return {"value": self._record(tensor), "text": self.text(one)}

    def text(self, one: Expression) -> str:
        """How a part is computed."""
        return write(one, "text", self._letters.spell("text"))

    def placed(self, move: Move, way: Way, shape: Shape) -> Way:
        """The same behind a move that only places cells."""
        if not is_writable(way.own):
            raise NoMoves
        return self.add(move, [way.value], shape)

    def add(self, move: Move, tensors: Sequence[Tensor], shape: Shape) -> Way:
        """Adds a move, and starts from what it makes."""
        if len(self.moves) == MOST_MOVES:
            raise NoMoves
        made = make(move, tensors, shape)
        self.moves.append({**move, "value": self._record(made)})
        return start({"move": len(self.moves) - 1}, made)


def has_v(one: Expression) -> bool:
    return any(map(is_seed, symbols_of(one)))


def start(source: MoveSource, value: Tensor, own: Shape | None = None) -> Way:
    axes = tuple(ascii_lowercase[8 : 8 + value.dim()])
    shape = tuple(value.shape)
    return Way(source, shape if own is None else own, value, axes, axes, shape)


def read_as(way: Way) -> MoveSource:
    shape = [*way.value.shape]
    return way.source if shape == [*way.own] else {**way.source, "shape": shape}


def widened(way: Way, shape: Shape) -> Way:
    """Repeated along dims of size 1, and along new ones in front."""
    fresh = beside(way.of, way.now, way.other_of)
    return replace(way, now=(*(next(fresh) for _ in range(len(shape) - len(way.shape))), *way.now), shape=shape)


def beside(*taken: Axes) -> Iterator[str]:
    used = "".join(axis for axes in taken for axis in axes)
    return (letter for letter in ascii_lowercase[8:] + ascii_lowercase[:8] if letter not in used)


def _without_ones(shape: Shape) -> Shape:
    return tuple(size for size in shape if size != 1)


def joined(axes: Axes) -> str:
    return "".join(axis if len(axis) == 1 else f"({axis})" for axis in axes)


def _verb(way: Way, tensors: Sequence[Tensor]) -> Verb:
    if any(len(axis) > 1 for axis in (*way.of, *way.other_of, *way.now)):
        return "slide"
    mine = {axis for axis, size in zip(way.of, way.value.shape, strict=True) if size > 1}
    theirs = set[str]()
    if way.other is not None:
        theirs = {axis for axis, size in zip(way.other_of, tensors[1].shape, strict=True) if size > 1}
    summed = not (mine | theirs) <= set(way.now)
    if theirs and (summed or (mine - theirs and theirs - mine)):
        return "meet"
    if summed:
        return "fold"
    if not theirs and any(axis not in mine and size > 1 for axis, size in zip(way.now, way.shape, strict=True)):
        return "deal"
    return "travel" if way.other is None else "scale"
