"""What an entry is: the mathematics of one op, as expressions that are built when the node's options are known.

A formula is a function of `Given`, what a node knows: `lambda n: n.v * conj(n.other)`. Tensors of the node are symbols there,
everything else it saved (dims, flags, numbers) is the plain value, so a formula chooses by it with an ordinary `if`, and what
comes out holds for this node only.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from gradwalk.formulas.expression import Expression, Number, Scalar, Symbol, conj, reshape
from gradwalk.protocol.fact_kinds import FactKind
from gradwalk.protocol.facts import Fact, Filling, number
from gradwalk.protocol.graph import UnwrittenReason

Shape = tuple[int, ...]


class NotWritten(NotImplementedError):
    """No exact formula is written for a node with these options."""

    def __init__(self, reason: UnwrittenReason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known of a tensor before its values are."""

    shape: Shape
    dtype: torch.dtype

    @staticmethod
    def of(tensor: Tensor) -> "Kind":
        """The kind of a tensor."""
        return Kind(tuple(tensor.shape), tensor.dtype)

    def symbol(self, name: str) -> Symbol:
        """A symbol for such a tensor."""
        return Symbol(name, self.shape, self.dtype.is_complex)


class Given:
    """What a formula may look at: the node's saved values as attributes, v, its operands, and the operand it is for."""

    def __init__(
        self,
        saved: Mapping[str, Any],
        seeds: Sequence[Kind | None],
        operands: Mapping[str, Kind | None],
        argnum: int = 0,
        member: int = 0,
    ) -> None:
        """`saved` without the `_saved_` prefix, a `Kind` in the place of each tensor.

        Args:
            seeds: per grad_output its kind, None where nothing arrived.
            operands: by name (`self`, `tensors[1]`) in the order of `next_functions`; None where the kind is not known.
            argnum: the position of the operand that the vjp is for.
            member: its position inside a tensor list.
        """
        self._saved = saved
        self._operands = tuple(operands.items())
        self.argnum = argnum
        self.member = member
        names = [f"v{position}" if len(seeds) > 1 else "v" for position in range(len(seeds))]
        self._seeds = {name: kind for name, kind in zip(names, seeds, strict=True) if kind is not None}
        self.seeds: tuple[Symbol | None, ...] = tuple(
            None if kind is None else kind.symbol(name) for name, kind in zip(names, seeds, strict=True)
        )
        """Per grad_output its symbol, None where nothing arrived."""

    def __getattr__(self, name: str) -> Any:
        try:
            return _symbolic(name, self._saved[name])
        except KeyError:
            raise AttributeError(f"this node saved no {name!r}") from None

    @cached_property
    def v(self) -> Symbol:
        """The first grad_output that arrived; the only one of most nodes."""
        return next(seed for seed in self.seeds if seed is not None)

    @cached_property
    def shape(self) -> Shape:
        """The shape of the operand this vjp is for."""
        return self.operand_shape(self.argnum)

    def operand_shape(self, argnum: int) -> Shape:
        """The shape of an operand. AttributeError where it is not known."""
        kind = self._operands[argnum][1]
        if kind is None:
            raise AttributeError("the operand's shape is not known")
        return kind.shape

    @property
    def operand_shapes(self) -> tuple[Shape | None, ...]:
        """The shapes of all operands, None where one is not known."""
        return tuple(None if kind is None else kind.shape for _, kind in self._operands)

    def operand(self, name: str) -> Symbol:
        """An operand by its name, whether or not the node saved it. AttributeError where nothing is known of it."""
        kind = dict(self._operands).get(name)
        if kind is None:
            kind = self._saved.get(name)
        if not isinstance(kind, Kind):
            raise AttributeError(f"nothing is known of the operand {name!r}")
        return kind.symbol(name)

    def kinds(self) -> dict[str, Kind]:
        """The kind of every tensor that a symbol may stand for, by the symbol's name."""
        found = {name: kind for name, kind in self._operands if kind is not None}
        for name, value in self._saved.items():
            if isinstance(value, Kind):
                found[name] = value
            elif isinstance(value, tuple):
                found |= {f"{name}[{place}]": one for place, one in enumerate(value) if isinstance(one, Kind)}
        return found | self._seeds

    def has(self, name: str) -> bool:
        """Whether this node type saves such a value at all; overloads can be told apart by that."""
        return name in self._saved

    def saved_or(self, name: str, default: Any) -> Any:
        """A saved value, or `default` where the node saved none."""
        value = self._saved.get(name)
        return default if value is None else _symbolic(name, value)


def _symbolic(name: str, value: Any) -> Any:
    if isinstance(value, Kind):
        return value.symbol(name)
    if isinstance(value, tuple) and any(isinstance(one, Kind) for one in value):
        return tuple(
            one.symbol(f"{name}[{place}]") if isinstance(one, Kind) else one for place, one in enumerate(value)
        )
    return value


Formula = Callable[[Given], Expression]


@dataclass(frozen=True, slots=True)
class Reason:
    """A message of the catalogues, in which operands have the names that the formula beside it gives them."""

    kind: FactKind
    symbols: tuple[tuple[str, str | Scalar], ...]
    """By operand of the message, the symbol that it names, or a number."""

    def told(self, written: Callable[[str], str]) -> Fact:
        """The fact, with symbols written as in the formula."""
        operands = {name: _filling(one, written) for name, one in self.symbols}
        return {"kind": self.kind, "operands": operands} if operands else {"kind": self.kind}


def why(kind: FactKind, *symbols: str, **others: str | Scalar) -> Reason:
    """A reason whose message calls the symbols by their own names, and `others` by the names given here."""
    return Reason(kind, (*((name, name) for name in symbols), *others.items()))


def _filling(one: str | Scalar, written: Callable[[str], str]) -> Filling:
    if isinstance(one, str):
        return written(one)
    return number([one.real, one.imag] if isinstance(one, complex) else one)


@dataclass(frozen=True, slots=True)
class Vjp:
    """The vector-Jacobian product for one operand."""

    operand: str
    """As derivatives.yaml names it; a list operand stands for all its members."""
    formula: Formula
    """Before it is brought to the operand's shape and dtype: sums over broadcast dims and real parts are added."""
    because: Reason | Callable[[Given], Reason]
    """The reason, or how it is chosen by the node's options, for someone who meets it for the first time."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The mathematics of one op."""

    op: str
    nodes: tuple[str, ...]
    """The node names it covers. A node without some of the operands simply uses fewer of the vjps."""
    forward: Formula | None
    """The result, of `n.operand("self")` and the options; None where it cannot be written exactly."""
    vjps: tuple[Vjp, ...]
    special_cases: tuple[Reason, ...] = ()
    letters: Mapping[str, str] = field(default_factory=dict)
    """Other letters than those of `letters.LETTERS`, as LaTeX."""
    roughness: float = 1.0
    """How many times less exact than usual torch's own kernel is; the check allows for it."""

    def vjp_for(self, operand: str) -> Vjp | None:
        """The vjp of an operand, None for one that this entry does not treat."""
        return next((vjp for vjp in self.vjps if vjp.operand == operand), None)


BROADCAST = why("case-broadcast")


def unary(
    op: str,
    nodes: tuple[str, ...],
    forward: Callable[[Symbol], Expression] | None,
    formula: Formula,
    because: Reason,
    special_cases: tuple[Reason, ...] = (),
) -> Entry:
    """An entry for a function of one operand; `forward` is the function of that operand, `formula` its vjp."""
    result = None if forward is None else (lambda n: forward(n.operand("self")))
    return Entry(op, nodes, result, (Vjp("self", formula, because),), special_cases)


def elementwise(
    op: str,
    nodes: tuple[str, ...],
    forward: Callable[[Symbol], Expression] | None,
    slope: Formula,
    because: Reason,
    special_cases: tuple[Reason, ...] = (),
) -> Entry:
    """An entry for a function applied to every element by itself: its Jacobian is the diagonal of slopes.

    `forward` is f of the operand, `slope` is f'(x), not yet conjugated nor times v.
    """
    return unary(op, nodes, forward, lambda n: n.v * conj(slope(n)), because, special_cases)


def zero(_: Given) -> Expression:
    """No gradient at all: the op is flat."""
    return Number(0)


def value_of(n: Given, name: str) -> Any:
    """An operand as a symbol, or the number that stands in its place."""
    saved = n.saved_or(name, None)
    return n.operand(name) if saved is None else saved


def normal_dims(dim: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Dims as a sorted tuple of positions from the front; None or none given means all of them."""
    if isinstance(dim, int):
        dim = (dim,)
    if not dim:
        return tuple(range(rank))
    return tuple(sorted(axis % max(rank, 1) for axis in dim)) if rank else ()


def restored(value: Expression, dim: int | Sequence[int] | None, keepdim: bool, shape: Shape) -> Expression:
    """A reduced value with its reduced dims back as size 1, so that it broadcasts against an operand of `shape`."""
    if keepdim or not shape:
        return value
    dims = normal_dims(dim, len(shape))
    kept = tuple(1 if axis in dims else size for axis, size in enumerate(shape))
    return value if all(size == 1 for size in kept) else reshape(value, kept)


def per_axis(value: Sequence[int], rank: int) -> tuple[int, ...]:
    """A setting per spatial dim; one number stands for all of them."""
    return tuple(value) * rank if len(value) == 1 else tuple(value)
