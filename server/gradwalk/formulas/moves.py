"""A vjp as a short list of moves, each of which a person can follow cell by cell.

`v @ other.mT` is one move: rows of v meet rows of `other`. `(v - sum(v * s)) * s` is three. Moves are read off the
checked expression along the ways of v through it; operations that only turn or reshape a tensor become a part of the
move behind them. A list is given only if the moves alone, cell by cell, make what the engine returned; an operation
without a rule at the end of this file means no list.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Any

import torch
from torch import Tensor

from gradwalk.formulas.check import close
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
    expressed,
    symbols_of,
    walk,
)
from gradwalk.formulas.letters import Letters, is_seed
from gradwalk.formulas.operations import OPERATIONS
from gradwalk.formulas.specialise import CANNOT_EVALUATE
from gradwalk.formulas.writing import write
from gradwalk.protocol.moves import Move, MoveSource, Verb, VjpMoves
from gradwalk.protocol.values import TensorValue

LONGEST_SIDE = 12
"""Of a table: more rows or columns are not written out."""
MOST_ROWS = 32
"""Of a batch of matrices."""
MOST_MOVES = 5
MOST_TERMS = 20_000

Axes = tuple[str, ...]
"""An index per dim: a letter, or where a window slides a sum such as `2y+k-1`."""
Shape = tuple[int, ...]


class NoMoves(Exception):
    """The vjp is no short list of moves."""


@dataclass(frozen=True, slots=True)
class _Way:
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


def moves(  # noqa: PLR0913 - what one step saw
    argnum: int,
    expression: Expression,
    values: Mapping[str, Tensor],
    returned: Tensor,
    letters: Letters,
    record: Callable[[Tensor], TensorValue],
    unnamed: Collection[str] = (),
) -> VjpMoves | None:
    """The moves of one operand's vjp; None where it is no short list of them, or too large to be written out.

    Args:
        values: what the symbols stand for.
        returned: the gradient that the engine returned for the operand.
        record: what a tensor is recorded as, for those without a name.
        unnamed: symbols that are no tensors of the node's.
    """
    names = symbols_of(expression)
    seeds = [name for name in names if is_seed(name)]
    tensors = [returned, *(values[name] for name in names if name in values)]
    if len(seeds) != 1 or any(one.is_complex() or one.layout != torch.strided for one in tensors):
        return None
    if returned.numel() * values[seeds[0]].numel() < 2 or not is_writable(returned.shape):  # noqa: PLR2004
        return None
    try:
        reading = _Reading(expression, values, letters, record, unnamed)
        made = reading.read(tuple(returned.shape))
        if not close(made.to(returned.dtype), returned):
            return None
    except (NoMoves, *CANNOT_EVALUATE):
        return None
    return {"argnum": argnum, "moves": reading.moves}


def is_writable(shape: Sequence[int]) -> bool:
    """Whether a tensor can be written out, its matrices one below the other."""
    return all(0 < size <= LONGEST_SIDE for size in shape[-2:]) and 0 < math.prod(shape[:-1]) <= MOST_ROWS


class _Reading:
    """Reads one expression with its values."""

    def __init__(
        self,
        expression: Expression,
        values: Mapping[str, Tensor],
        letters: Letters,
        record: Callable[[Tensor], TensorValue],
        unnamed: Collection[str],
    ) -> None:
        self.moves: list[Move] = []
        self._expression = expression
        self._values = evaluate_all(expression, values)
        self._letters = letters
        self._record = record
        self._unnamed = unnamed
        self._uses = Counter(id(part) for one in walk(expression) for part in one.parts)
        self._ways: dict[int, _Way] = {}
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

    def way(self, one: Expression) -> _Way:
        """How v comes to a part of the expression."""
        if id(one) not in self._ways:
            way = replace(self._way(one), meaning=one)
            # What is needed twice is made once.
            self._ways[id(one)] = self.settled(way) if self._uses[id(one)] > 1 else way
        return self._ways[id(one)]

    def _way(self, one: Expression) -> _Way:
        if isinstance(one, Named):
            return self.way(one.meaning)
        if isinstance(one, Symbol):
            return _start({"grad_output": int(one.name[1:] or 0)}, self._values[id(one)])
        if not isinstance(one, Apply) or one.operation not in _RULES:
            raise NoMoves
        return _RULES[one.operation](self, one)

    def only(self, one: Apply) -> tuple[_Way, Sequence[Expression]]:
        """The way of the one argument with v, and the others."""
        carriers = [argument for argument in one.arguments if has_v(argument)]
        if len(carriers) != 1:
            raise NoMoves
        return self.way(carriers[0]), [argument for argument in one.arguments if argument is not carriers[0]]

    def tensor(self, one: Expression) -> Tensor:
        """The value of a part without v."""
        value = one.value if isinstance(one, Number) else self._values[id(one)]
        return value if isinstance(value, Tensor) else torch.tensor(value, dtype=torch.float64)

    def part(self, operation: str, *arguments: Expression | Scalar) -> Expression:
        """A new expression without v, and its value."""
        made = apply(operation, *arguments)
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

    def reshaped(self, way: _Way, shape: Shape) -> _Way:
        """The same cells in another shape."""
        if way.shape == shape:
            return way
        if not way.is_plain and _without_ones(way.shape) == _without_ones(shape):
            kept = iter([axis for axis, size in zip(way.now, way.shape, strict=True) if size != 1])
            fresh = _letters_beside(way.of, way.now, way.other_of)
            return replace(way, now=tuple(next(fresh if size == 1 else kept) for size in shape), shape=shape)
        way = self.settled(way)
        return _start(way.source, way.value.reshape(shape), way.own)

    def scaled(self, way: _Way, factor: Expression, operation: str = "mul") -> _Way:
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

    def negated(self, way: _Way) -> _Way:
        """Every cell with the other sign."""
        if not way.is_scaled or way.is_plain:
            return self.scaled(way, self.part("neg", 1))
        return replace(way, other=self.part("neg", way.other or 1))

    def product(self, way: _Way, other: Expression, axes: tuple[Axes, Axes, Axes], shape: Shape) -> _Way:
        """v and another table by the letters of an einsum: of v, of the other, of the result."""
        of, other_of, now = axes
        if way.other is not None or way.is_summed or any(len(axis) > 1 for axis in way.now):
            way = self.settled(way)
        names = dict(zip(way.now, of, strict=True))
        fresh = _letters_beside(*axes)
        renamed = tuple(names[axis] if axis in names else next(fresh) for axis in way.of)
        return replace(way, of=renamed, now=now, shape=shape, other=other, other_of=other_of)

    def settled(self, way: _Way, *, anyway: bool = False) -> _Way:
        """The same behind a move, if it takes one."""
        if way.is_plain and not anyway:
            return way
        sources, axes, tensors = [_read_as(way)], [way.of], [way.value]
        if way.other is not None:
            source, other_of, tensor = self._other(way)
            sources, axes, tensors = [*sources, source], [*axes, other_of], [*tensors, tensor]
        written = f"{','.join(map(_joined, axes))}->{_joined(way.now)}"
        if not is_writable(way.own) or not all(is_writable(one.shape) for one in tensors[1:]):
            raise NoMoves
        move: Move = {"verb": _verb(way, tensors), "of": sources, "axes": written}
        if way.meaning is not None:
            move["text"] = self.text(way.meaning)
        return self.add(move, tensors, way.shape)

    def _other(self, way: _Way) -> tuple[MoveSource, Axes, Tensor]:
        """What v meets: by name where it has one, however it is turned."""
        assert way.other is not None
        tensor = self.tensor(way.other)
        plain, axes = way.other, way.other_of
        while isinstance(plain, Apply) and plain.operation in _TURNING:
            order = _TURNING[plain.operation](len(axes), dict(plain.options))
            axes = tuple(axis for _, axis in sorted(zip(order, axes, strict=True)))
            plain = plain.arguments[0]
        if isinstance(plain, Symbol) and plain.name not in self._unnamed and tensor.is_floating_point():
            return {"operand": plain.name}, axes, self.tensor(plain)
        tensor = tensor.to(way.value.dtype)
        return self.written(way.other, tensor), way.other_of, tensor

    def written(self, one: Expression, tensor: Tensor) -> MoveSource:
        """A table without a name, and how it is computed."""
        return {"value": self._record(tensor), "text": self.text(one)}

    def text(self, one: Expression) -> str:
        """How a part is computed."""
        return write(one, "text", self._letters.spell("text"))

    def placed(self, move: Move, way: _Way, shape: Shape) -> _Way:
        """The same behind a move that only places cells."""
        if not is_writable(way.own):
            raise NoMoves
        return self.add(move, [way.value], shape)

    def add(self, move: Move, tensors: Sequence[Tensor], shape: Shape) -> _Way:
        """Adds a move, and starts from what it makes."""
        if len(self.moves) == MOST_MOVES:
            raise NoMoves
        made = make(move, tensors, shape)
        self.moves.append({**move, "value": self._record(made)})
        return _start({"move": len(self.moves) - 1}, made)


def has_v(one: Expression) -> bool:
    return any(map(is_seed, symbols_of(one)))


def _start(source: MoveSource, value: Tensor, own: Shape | None = None) -> _Way:
    axes = tuple(ascii_lowercase[8 : 8 + value.dim()])
    shape = tuple(value.shape)
    return _Way(source, shape if own is None else own, value, axes, axes, shape)


def _read_as(way: _Way) -> MoveSource:
    shape = [*way.value.shape]
    return way.source if shape == [*way.own] else {**way.source, "shape": shape}


def widened(way: _Way, shape: Shape) -> _Way:
    """Repeated along dims of size 1, and along new ones in front."""
    fresh = _letters_beside(way.of, way.now, way.other_of)
    return replace(way, now=(*(next(fresh) for _ in range(len(shape) - len(way.shape))), *way.now), shape=shape)


def _letters_beside(*taken: Axes) -> Iterator[str]:
    used = "".join(axis for axes in taken for axis in axes)
    return (letter for letter in ascii_lowercase[8:] + ascii_lowercase[:8] if letter not in used)


def _without_ones(shape: Shape) -> Shape:
    return tuple(size for size in shape if size != 1)


def _joined(axes: Axes) -> str:
    return "".join(axis if len(axis) == 1 else f"({axis})" for axis in axes)


def _verb(way: _Way, tensors: Sequence[Tensor]) -> Verb:
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


# What moves make.

_AXIS = re.compile(r"\(([^)]*)\)|([a-z])")
_TERM = re.compile(r"([+-]?\d*)([a-z]?)")


def make(move: Move, tensors: Sequence[Tensor], shape: Shape) -> Tensor:
    """What a move makes of its tables, cell by cell."""
    first = tensors[0].reshape(-1)
    made = first.new_zeros(math.prod(shape))
    if "source" in move:
        source = torch.tensor(move["source"])
        made = torch.where(source < 0, 0, first[source.clamp(min=0)])
        return (made if len(tensors) == 1 else made * tensors[1].reshape(-1)).reshape(shape)
    if "goal" in move:
        goal = torch.tensor(move["goal"])
        return made.index_add(0, goal[goal >= 0], first[goal >= 0]).reshape(shape)
    tables, result = move["axes"].split("->")
    axes = [_AXIS.findall(one) for one in (*tables.split(","), result)]
    shapes = [*(tuple(one.shape) for one in tensors), shape]
    sizes: dict[str, int] = {}
    for indices, dims in zip(axes, shapes, strict=True):
        for (_, letter), size in zip(indices, dims, strict=True):
            if letter:
                sizes[letter] = max(size, sizes.get(letter, 1))
    if math.prod(sizes.values()) > MOST_TERMS:
        raise NoMoves
    nothing = torch.zeros([*sizes.values()], dtype=torch.long)
    grids = {
        letter: nothing + torch.arange(size).reshape([-1 if one == letter else 1 for one in sizes])
        for letter, size in sizes.items()
    }
    places = [_places(indices, dims, grids, nothing) for indices, dims in zip(axes, shapes, strict=True)]
    if move["verb"] == "subtract":
        less = first[places[0]] - tensors[1].reshape(-1)[places[1]]
        return made.index_copy(0, places[2].reshape(-1), less.reshape(-1)).reshape(shape)
    inside = torch.stack([one >= 0 for one in places]).all(0)
    product = torch.ones_like(nothing[inside], dtype=first.dtype)
    for tensor, place in zip(tensors, places, strict=False):
        product = product * tensor.reshape(-1)[place[inside]]
    return made.index_add(0, places[-1][inside], product).reshape(shape)


def _places(indices: Sequence[tuple[str, str]], dims: Shape, grids: Mapping[str, Tensor], nothing: Tensor) -> Tensor:
    """For each place of the letters the flat place in a table, -1 where it is outside."""
    flat, outside = nothing, nothing < 0
    for (window, letter), size in zip(indices, dims, strict=True):
        index = nothing
        if window:
            for factor, name in _TERM.findall(window):
                if factor or name:
                    whole = int(factor) if factor.strip("+-") else -1 if factor == "-" else 1
                    index = index + whole * (grids[name] if name else 1)
        elif size > 1:
            index = grids[letter]
        outside = outside | (index < 0) | (index >= size)
        flat = flat * size + index
    return torch.where(outside, -1, flat)


# The rules: what becomes of v at an operation.


def _multiplied(reading: _Reading, one: Apply) -> _Way:
    way, (factor,) = reading.only(one)
    if isinstance(factor, Apply) and factor.operation == "ones":
        return widened(way, tuple(reading.tensor(one).shape))
    return reading.scaled(way, factor)


def _divided(reading: _Reading, one: Apply) -> _Way:
    value, divisor = one.arguments
    if has_v(divisor):
        raise NoMoves
    return reading.scaled(reading.way(value), divisor, "div")


def _negated(reading: _Reading, one: Apply) -> _Way:
    return reading.negated(reading.way(one.arguments[0]))


def _cases(reading: _Reading, one: Apply) -> _Way:
    condition, *cases = one.arguments
    ways = [reading.way(case) if has_v(case) else None for case in cases]
    start = next(way for way in ways if way is not None)
    if has_v(condition) or not all(
        _is_factor(way, start, reading.tensor(case)) for way, case in zip(ways, cases, strict=True)
    ):
        raise NoMoves
    factors = [0 if way is None else way.other or 1 for way in ways]
    chosen = reading.part("where", condition, *factors)
    way = widened(start, tuple(reading.tensor(one).shape))
    return replace(way, other=chosen, other_of=way.now[len(way.now) - reading.tensor(chosen).dim() :])


def _is_factor(way: _Way | None, start: _Way, value: Tensor) -> bool:
    """Whether a case is a factor times the same table as another, or 0."""
    if way is None:
        return not bool(value.any())
    return way.is_scaled and (way.source, way.of, way.now, way.shape) == (
        start.source,
        start.of,
        start.now,
        start.shape,
    )


def _subtracted(reading: _Reading, one: Apply) -> _Way:
    shared = _class_minus_shares(reading, one)
    if shared is not None:
        return shared
    ways = [reading.settled(reading.way(argument)) for argument in one.arguments]
    shape = tuple(reading.tensor(one).shape)
    letters = tuple(ascii_lowercase[8 : 8 + len(shape)])
    axes = ",".join(_joined(letters[len(letters) - len(way.shape) :]) for way in ways)
    move: Move = {"verb": "subtract", "of": [*map(_read_as, ways)], "axes": f"{axes}->{_joined(letters)}"}
    move["text"] = reading.text(one)
    return reading.add(move, [way.value for way in ways], shape)


def _class_minus_shares(reading: _Reading, one: Apply) -> _Way | None:
    """`v - p * sum(v)` where a row of v has one entry: it is dealt out, times 1 at its own place and less p at all."""
    v, taken = one.arguments
    if not isinstance(taken, Apply) or taken.operation != "mul":
        return None
    totals = [
        part for part in taken.parts if isinstance(part, Apply) and part.operation == "sum" and part.parts[0] is v
    ]
    shares = [part for part in taken.parts if part not in totals]
    way = reading.way(v)
    if len(totals) != 1 or not way.is_plain or way.own != way.shape or not is_writable(way.own):
        return None
    is_class = way.value != 0
    dims = tuple(dict(totals[0].options)["dim"] or range(is_class.dim()))
    if not bool((is_class.sum(dims) == 1).all()):
        return None
    cells = (torch.arange(is_class.numel()).reshape(way.shape) * is_class).sum(dims, keepdim=True).expand(way.shape)
    factors = is_class.to(way.value.dtype) - reading.tensor(shares[0])
    source = reading.written(shares[0], factors)
    source["classes_minus"] = True
    move: Move = {"verb": "deal", "of": [way.source, source], "source": cells.reshape(-1).tolist()}
    return reading.add(move, [way.value, factors], way.shape)


def _same(reading: _Reading, one: Apply) -> _Way:
    return reading.way(one.arguments[0])


def _reshaped(reading: _Reading, one: Apply) -> _Way:
    return reading.reshaped(reading.way(one.arguments[0]), tuple(reading.tensor(one).shape))


def _turned(reading: _Reading, one: Apply) -> _Way:
    way = reading.way(one.arguments[0])
    order = _TURNING[one.operation](len(way.shape), dict(one.options))
    return replace(way, now=tuple(way.now[dim] for dim in order), shape=tuple(way.shape[dim] for dim in order))


def _swapped(rank: int, dim0: int, dim1: int) -> list[int]:
    order = [*range(rank)]
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return order


_TURNING: Mapping[str, Callable[[int, Mapping[str, Any]], Sequence[int]]] = {
    "transpose": lambda rank, _: _swapped(rank, -1, -2),
    "swapdims": lambda rank, options: _swapped(rank, options["dim0"], options["dim1"]),
    "permute": lambda rank, options: [dim % rank for dim in options["dims"]],
}
"""By operation, which dim of the argument each dim of the result is."""


def _summed(reading: _Reading, one: Apply) -> _Way:
    way = reading.way(one.arguments[0])
    dims = dict(one.options)["dim"]
    dims = range(len(way.shape)) if dims is None else [dim % len(way.shape) for dim in dims]
    if one.operation == "mean":
        way = reading.scaled(way, expressed(math.prod(way.shape[dim] for dim in dims)), "div")
    if not way.is_scaled:
        way = reading.settled(way)
    fresh = _letters_beside(way.of, way.now, way.other_of)
    now = tuple(next(fresh) if dim in dims else axis for dim, axis in enumerate(way.now))
    return replace(way, now=now, shape=tuple(1 if dim in dims else size for dim, size in enumerate(way.shape)))


def _matrices(reading: _Reading, one: Apply) -> _Way:
    way, (other,) = reading.only(one)
    ranks = [reading.tensor(argument).dim() for argument in one.arguments]
    batch = tuple(ascii_lowercase[: max(*ranks, 2) - 2])
    left = ("k",) if ranks[0] == 1 else (*batch[len(batch) - ranks[0] + 2 :], "i", "k")
    right = ("k",) if ranks[1] == 1 else (*batch[len(batch) - ranks[1] + 2 :], "k", "j")
    result = (*batch, *left[-2:-1], *(right[-1:] if ranks[1] > 1 else ()))
    mine, theirs = (left, right) if has_v(one.arguments[0]) else (right, left)
    return reading.product(way, other, (mine, theirs, result), tuple(reading.tensor(one).shape))


def _outer(reading: _Reading, one: Apply) -> _Way:
    way, (other,) = reading.only(one)
    mine, theirs = "ij" if has_v(one.arguments[0]) else "ji"
    return reading.product(way, other, ((mine,), (theirs,), ("i", "j")), tuple(reading.tensor(one).shape))


def _windows(rank: int, options: Mapping[str, Any]) -> Axes:
    """Per dim where the window stands and what of it: `2y+k-1` for a stride of 2 and a padding of 1."""
    stride, dilation, padding = (
        (value,) * rank if isinstance(value := options.get(name, plain), int) else value
        for name, plain in (("stride", 1), ("dilation", 1), ("padding", 0))
    )
    return tuple(
        f"{_times(stride[dim])}{y}+{_times(dilation[dim])}{k}" + (f"-{padding[dim]}" if padding[dim] else "")
        for dim, (y, k) in enumerate(zip("xyz"[3 - rank :], "klm"[:rank], strict=True))
    )


def _times(factor: int) -> str:
    return "" if factor == 1 else str(factor)


def _convolved(reading: _Reading, one: Apply) -> _Way:
    options, rank = dict(one.options), reading.tensor(one).dim() - 2
    if options.get("groups", 1) != 1 or len(one.arguments) > 2:
        raise NoMoves
    way, (other,) = reading.only(one)
    whole, windows, kernel = _windows(rank, options), tuple("xyz"[3 - rank :]), tuple("klm"[:rank])
    first, result = (("n", "c", *whole), ("n", "o", *windows))
    if "transpose" in one.operation:
        first, result = ("n", "o", *windows), ("n", "c", *whole)
    weight = ("o", "c", *kernel)
    mine, theirs = (first, weight) if has_v(one.arguments[0]) else (weight, first)
    return reading.product(way, other, (mine, theirs, result), tuple(reading.tensor(one).shape))


def _pooled(reading: _Reading, one: Apply) -> _Way:
    """A share of v to every place in its window; where windows are of several sizes, the shares are wrong and no move holds."""
    way, _ = reading.only(one)
    options, shape = dict(one.options), tuple(reading.tensor(one).shape)
    rank = len(options["input_size"])
    whole = [size // windows for size, windows in zip(shape[-rank:], way.shape[-rank:], strict=True)]
    kernel = options.get("kernel_size", whole)
    kernel = (kernel,) * rank if isinstance(kernel, int) else tuple(kernel)
    lead = tuple(ascii_lowercase[: len(shape) - rank])
    share = reading.part("div", 1, options.get("divisor_override") or math.prod(kernel))
    reading.repeat(share, kernel)
    axes = (*lead, *"xyz"[3 - rank :]), tuple("klm"[:rank]), (*lead, *_windows(rank, {"stride": kernel, **options}))
    return reading.product(way, share, axes, shape)


def _narrowed(reading: _Reading, one: Apply) -> _Way:
    """What falls outside of the result is left out; along an axis of size 1 nothing falls outside."""
    way, options = reading.way(one.arguments[0]), dict(one.options)
    if way.is_plain or options["start"] != 0 or options["length"] == 1:
        return _arranged(reading, one)
    return replace(way, shape=tuple(reading.tensor(one).shape))


def _arranged(reading: _Reading, one: Apply) -> _Way:
    """An operation that only copies cells says of their numbers where each comes from."""
    way, _ = reading.only(one)
    way = reading.settled(way)
    numbers = torch.arange(1, way.value.numel() + 1, dtype=way.value.dtype).reshape(way.shape)
    arguments = [numbers if has_v(argument) else reading.tensor(argument) for argument in one.arguments]
    copied = OPERATIONS[one.operation].evaluate(*arguments, **dict(one.options))
    source = (copied.reshape(-1).long() - 1).tolist()
    return _travelled(reading, way, source, tuple(copied.shape))


def _travelled(reading: _Reading, way: _Way, source: list[int], shape: Shape, verb: Verb = "travel") -> _Way:
    found = [place for place in source if place >= 0]
    verb = verb if len(found) == len({*found}) else "deal"
    return reading.placed({"verb": verb, "of": [_read_as(way)], "source": source}, way, shape)


def _added(reading: _Reading, one: Apply) -> _Way:
    """An operation that adds cells at places says of the result's numbers which each place is."""
    way, others = reading.only(one)
    way, shape, options = reading.settled(way), tuple(reading.tensor(one).shape), dict(one.options)
    numbers = torch.arange(math.prod(shape)).reshape(shape)
    if one.operation in ("scatter_add", "index_add", "put") and bool(reading.tensor(others[0]).any()):
        raise NoMoves
    indices = [reading.tensor(other) for other in others]
    places = _PLACES[one.operation](numbers, indices, options)
    if places.numel() != way.value.numel():
        raise NoMoves
    goal = places.reshape(-1).tolist()
    if len({*goal}) < len(goal):
        return reading.placed({"verb": "fold", "of": [_read_as(way)], "goal": goal}, way, shape)
    source = [-1] * math.prod(shape)
    for cell, place in enumerate(goal):
        source[place] = cell
    is_picked = any(isinstance(one, Symbol) and one.name in _PICKED for other in others for one in walk(other))
    return _travelled(reading, way, source, shape, "win" if is_picked and len(goal) < len(source) else "travel")


_PICKED = frozenset({"indices", "result1"})
"""Saved by nodes whose forward pass chose cells."""
_PLACES: Mapping[str, Callable[[Tensor, list[Tensor], Mapping[str, Any]], Tensor]] = {
    "scatter_add": lambda numbers, indices, options: numbers.gather(options["dim"], indices[1]),
    "index_add": lambda numbers, indices, options: numbers.index_select(options["dim"], indices[1]),
    "put": lambda numbers, indices, _: numbers.take(indices[1]),
    "added_at": lambda numbers, indices, options: OPERATIONS["taken_at"].evaluate(
        numbers, *indices, dims=options["dims"]
    ),
}
_COPYING = (
    "blocks block_diag cat diag_embed diagonal diagonal_scatter flip gather index_fill index_select into_zeros "
    "masked_scatter masked_select pad padded_to part pixel_shuffle pixel_unshuffle roll rot90 scatter select "
    "stack take taken_at tile tril triu windows with_zeros zeroed_at"
)
_RULES: Mapping[str, Callable[[_Reading, Apply], _Way]] = {
    "mul": _multiplied,
    "div": _divided,
    "neg": _negated,
    "where": _cases,
    "sub": _subtracted,
    "real": _same,
    "conj": _same,
    "reshape": _reshaped,
    "narrow": _narrowed,
    **dict.fromkeys(_TURNING, _turned),
    "sum": _summed,
    "mean": _summed,
    "matmul": _matrices,
    "outer": _outer,
    **{f"{convolution}{rank}d": _convolved for convolution in ("conv", "conv_transpose") for rank in (1, 2, 3)},
    **{f"{pooling}_pool{rank}d_transposed": _pooled for pooling in ("avg", "adaptive_avg") for rank in (2, 3)},
    **dict.fromkeys(_COPYING.split(), _arranged),
    **dict.fromkeys(_PLACES, _added),
}
