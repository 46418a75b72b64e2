"""One symbolic expression per vjp: data from which evaluator, LaTeX, text and substitutions are computed.

An expression is built by an entry's formula with ordinary operators (`n.v * conj(n.other)`), after the node's options
are known: it holds no condition on an option, only what applies to this node. What it is made of:

    Symbol   a tensor that the node knows: v, an operand, a saved tensor, the result
    Number   a constant, kept as it was written (`number(2) / 3` stays a fraction)
    Apply    an operation of the list in `operations.py`, with its options (dims, shapes, flags)
    Named    a part that gets a letter of its own and is explained after the formula: `(g - mean(g)) / s, where g = ...`

`*` and `/` work element by element, `@` is the matrix product. Sums and means keep the dims they reduce, with size 1;
the value of a whole formula is brought to the operand's shape at the end, so no formula has to squeeze.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import mul
from typing import Any

from torch import Tensor

from gradwalk.formulas.operations import OPERATIONS

Scalar = int | float | complex | bool


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """What all of them can do: arithmetic that builds larger expressions."""

    def __add__(self, other: "Expression | Scalar") -> "Expression":
        return apply("add", self, other)

    def __radd__(self, other: Scalar) -> "Expression":
        return apply("add", other, self)

    def __sub__(self, other: "Expression | Scalar") -> "Expression":
        return apply("sub", self, other)

    def __rsub__(self, other: Scalar) -> "Expression":
        return apply("sub", other, self)

    def __mul__(self, other: "Expression | Scalar") -> "Expression":
        return apply("mul", self, other)

    def __rmul__(self, other: Scalar) -> "Expression":
        return apply("mul", other, self)

    def __truediv__(self, other: "Expression | Scalar") -> "Expression":
        return apply("div", self, other)

    def __rtruediv__(self, other: Scalar) -> "Expression":
        return apply("div", other, self)

    def __pow__(self, exponent: "Expression | Scalar") -> "Expression":
        return apply("pow", self, exponent)

    def __rpow__(self, base: Scalar) -> "Expression":
        return apply("pow", base, self)

    def __matmul__(self, other: "Expression") -> "Expression":
        return apply("matmul", self, other)

    def __neg__(self) -> "Expression":
        return apply("neg", self)

    def __lt__(self, other: "Expression | Scalar") -> "Expression":
        return apply("lt", self, other)

    def __le__(self, other: "Expression | Scalar") -> "Expression":
        return apply("le", self, other)

    def __gt__(self, other: "Expression | Scalar") -> "Expression":
        return apply("gt", self, other)

    def __ge__(self, other: "Expression | Scalar") -> "Expression":
        return apply("ge", self, other)

    def __and__(self, other: "Expression") -> "Expression":
        return apply("and", self, other)

    def __or__(self, other: "Expression") -> "Expression":
        return apply("or", self, other)

    def __invert__(self) -> "Expression":
        return apply("not", self)

    def equals(self, other: "Expression | Scalar") -> "Expression":
        """True at the elements that are equal."""
        return apply("eq", self, other)

    def differs(self, other: "Expression | Scalar") -> "Expression":
        """True at the elements that are not equal."""
        return apply("ne", self, other)

    @property
    def is_complex(self) -> bool:
        """Whether its values may have an imaginary part."""
        raise NotImplementedError

    @property
    def is_scalar(self) -> bool:
        """Whether it is one number; a product with it is written with a dot."""
        raise NotImplementedError

    @property
    def parts(self) -> "tuple[Expression, ...]":
        """The expressions it is made of, in order."""
        return ()


@dataclass(frozen=True, slots=True, eq=False)
class Symbol(Expression):
    """A tensor that the node knows, by the name derivatives.yaml gives it; `v`, or `v0`, `v1`, ... for grad_outputs."""

    name: str
    shape: tuple[int, ...]
    has_imaginary_part: bool = False

    @property
    def is_complex(self) -> bool:
        return self.has_imaginary_part

    @property
    def is_scalar(self) -> bool:
        return not self.shape

    @property
    def rank(self) -> int:
        """The number of its dims."""
        return len(self.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Number(Expression):
    """A constant."""

    value: Scalar

    @property
    def is_complex(self) -> bool:
        return isinstance(self.value, complex)

    @property
    def is_scalar(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, eq=False)
class Apply(Expression):
    """An operation of `operations.OPERATIONS` and what it is applied to."""

    operation: str
    arguments: tuple[Expression, ...]
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def is_complex(self) -> bool:
        is_real = OPERATIONS[self.operation].is_real
        return not is_real and any(argument.is_complex for argument in self.arguments)

    @property
    def is_scalar(self) -> bool:
        return OPERATIONS[self.operation].is_elementwise and all(argument.is_scalar for argument in self.arguments)

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.arguments


@dataclass(frozen=True, slots=True, eq=False)
class Named(Expression):
    """A part with a letter of its own."""

    letter: str
    """As a key of `letters.LETTERS`: `g`, `xhat`, `s`."""
    meaning: Expression

    @property
    def is_complex(self) -> bool:
        return self.meaning.is_complex

    @property
    def is_scalar(self) -> bool:
        return self.meaning.is_scalar

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.meaning,)


def expressed(value: Expression | Scalar) -> Expression:
    """A constant as an expression; an expression as it is. TypeError for what is neither, as a tensor that was not saved."""
    if isinstance(value, Expression):
        return value
    if not isinstance(value, int | float | complex):
        raise TypeError(f"{value!r} is no part of a formula")
    return Number(value)


def number(value: Scalar) -> Expression:
    """A constant that stays as it is written: `number(1) / 3` is a fraction, not 0.3333."""
    return Number(value)


def apply(operation: str, *arguments: Expression | Scalar, **options: Any) -> Expression:
    """An operation by name. KeyError for one that `operations.py` does not list."""
    _ = OPERATIONS[operation]
    return Apply(operation, tuple(map(expressed, arguments)), tuple(options.items()))


@lru_cache(maxsize=8_192)
def walk(expression: Expression) -> tuple[Expression, ...]:
    """The expression and all its parts, parts first; a part that stands twice comes once."""
    found: dict[int, Expression] = {}
    waiting = [(expression, False)]
    while waiting:
        one, are_parts_found = waiting.pop()
        if id(one) in found:
            continue
        if are_parts_found:
            found[id(one)] = one
        else:
            waiting.append((one, True))
            waiting += [(part, False) for part in reversed(one.parts)]
    return tuple(found.values())


@lru_cache(maxsize=8_192)
def names_of(expression: Expression) -> tuple[str, ...]:
    """What has to be called something in it: its symbols, and its parts with a letter of their own."""
    parts = (one for one in walk(expression) if isinstance(one, Symbol | Named))
    return tuple(dict.fromkeys(one.name if isinstance(one, Symbol) else one.letter for one in parts))


@lru_cache(maxsize=8_192)
def symbols_of(expression: Expression) -> tuple[str, ...]:
    """The names it needs, each once."""
    return tuple(dict.fromkeys(one.name for one in walk(expression) if isinstance(one, Symbol)))


def evaluate(
    expression: Expression, values: Mapping[str, Tensor], round_part: Callable[[Any], Any] | None = None
) -> Any:
    """Its value: a tensor, or a Python number where there is no tensor in it.

    `round_part` gives the value of a part with a letter of its own as it is printed, for a formula that is read with
    the numbers on the screen.

    Raises:
        KeyError: a symbol without a value.
        RuntimeError, ValueError, ...: whatever torch says of values that do not fit.
    """
    return evaluate_all(expression, values, round_part)[id(expression)]


def evaluate_all(
    expression: Expression, values: Mapping[str, Tensor], round_part: Callable[[Any], Any] | None = None
) -> dict[int, Any]:
    """The value of the expression and of every part of it, by `id`."""
    found: dict[int, Any] = {}
    for one in walk(expression):
        match one:
            case Symbol():
                found[id(one)] = values[one.name]
            case Number():
                found[id(one)] = one.value
            case Named():
                meaning = found[id(one.meaning)]
                found[id(one)] = meaning if round_part is None else round_part(meaning)
            case Apply():
                arguments = [found[id(argument)] for argument in one.arguments]
                found[id(one)] = OPERATIONS[one.operation].evaluate(*arguments, **dict(one.options))
    return found


def with_parts(one: Expression, parts: tuple[Expression, ...]) -> Expression:
    """The same with other parts; itself where none is another."""
    if all(part is known for part, known in zip(parts, one.parts, strict=True)):
        return one
    match one:
        case Apply():
            return Apply(one.operation, parts, one.options)
        case Named():
            return Named(one.letter, parts[0])
    return one


# What entries write where an operator does not do. Each is one operation of the list.


def conj(value: Expression | Scalar) -> Expression:
    """The complex conjugate; what is real stays as it is, so that a printed formula has no idle bar."""
    value = expressed(value)
    if isinstance(value, Number) and isinstance(value.value, complex):
        return Number(value.value.conjugate())
    return apply("conj", value) if value.is_complex else value


def real(value: Expression) -> Expression:
    """The real part; what is real stays as it is."""
    return apply("real", value) if value.is_complex else value


def adjoint(matrix: Expression) -> Expression:
    """Transposed over the last two dims, conjugated where complex."""
    return apply("adjoint" if matrix.is_complex else "transpose", matrix)


def transpose(matrix: Expression) -> Expression:
    """Transposed over the last two dims."""
    return apply("transpose", matrix)


def times(factor: Scalar | Expression, value: Expression) -> Expression:
    """`value` times the conjugate of a scalar factor; of 1 and -1 no more than the sign is written."""
    if not isinstance(factor, Expression) and factor in (1, -1):
        return value if factor == 1 else -value
    return conj(factor) * value


def product(*factors: Scalar | Expression) -> Expression:
    """Factors in their order; those of 1 are not written."""
    written = [expressed(factor) for factor in factors if isinstance(factor, Expression) or factor != 1]
    return reduce(mul, written) if written else Number(1)


def divided(value: Expression, divisor: Scalar | Expression) -> Expression:
    """A quotient; a divisor of 1 is not written."""
    return value if not isinstance(divisor, Expression) and divisor == 1 else value / divisor


def where(condition: Expression, then: Expression | Scalar, otherwise: Expression | Scalar) -> Expression:
    """Cases, element by element."""
    return apply("where", condition, then, otherwise)


def ones(shape: Sequence[int]) -> Expression:
    """Ones of a shape, to repeat a value with."""
    return apply("ones", shape=tuple(shape))


def total(value: Expression, dims: Sequence[int] | None = None) -> Expression:
    """The sum over `dims` (kept, with size 1), over all of them unless given; none to sum over: the value itself."""
    if dims is not None and not dims:
        return value
    return apply("sum", value, dim=None if dims is None else tuple(dims))


def mean(value: Expression, dims: Sequence[int] | None = None) -> Expression:
    """The mean over `dims` (kept, with size 1), over all of them unless given; none to average over: the value itself."""
    if dims is not None and not dims:
        return value
    return apply("mean", value, dim=None if dims is None else tuple(dims))


def reshape(value: Expression, shape: Sequence[int]) -> Expression:
    """The same elements in another shape."""
    return apply("reshape", value, shape=tuple(shape))


def zeros(shape: Sequence[int]) -> Expression:
    """Zeros of a shape."""
    return apply("zeros", shape=tuple(shape))
