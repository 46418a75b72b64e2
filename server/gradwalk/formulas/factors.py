"""What a vjp multiplies v by, where it multiplies entry by entry: the derivative, as a student writes it."""

from functools import lru_cache

from gradwalk.formulas.expression import (
    Apply,
    Expression,
    Named,
    Number,
    Symbol,
    number,
    product,
    symbols_of,
    walk,
    where,
)
from gradwalk.formulas.letters import is_seed

_ONE = number(1)
_CONDITIONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"})


@lru_cache(maxsize=8_192)
def factor_of(expression: Expression) -> Expression | None:
    """D where the expression is v * D for every v, so that D is the diagonal of the local Jacobian; else None.

    A derivative with parts that have letters of their own is none that can be said in a sentence. Of complex numbers the engine's v is multiplied by a conjugate, which is not what people call the derivative.
    """
    factor = None if expression.is_complex else _factor(expression)
    if factor is None or any(isinstance(one, Named) for one in walk(factor)):
        return None
    is_condition = isinstance(factor, Apply) and factor.operation in _CONDITIONS
    return where(factor, 1, 0) if is_condition else factor


def _factor(one: Expression) -> Expression | None:
    match one:
        case Symbol():
            return _ONE if is_seed(one.name) else None
        case Named():
            return _factor(one.meaning)
        case Apply("neg", (inner,)):
            return _negated(_factor(inner))
        case Apply("mul", (left, right)):
            return _times(left, right)
        case Apply("div", (left, right)) if not _has_seed(right):
            return _per(_factor(left), right)
        case Apply("where", (condition, then, otherwise)) if not _has_seed(condition):
            return _where(condition, then, otherwise)
    return None


def _times(left: Expression, right: Expression) -> Expression | None:
    if _has_seed(left) == _has_seed(right):
        return None
    factor = _factor(left if _has_seed(left) else right)
    match factor, right if _has_seed(left) else left:
        case None, _:
            return None
        case Number(1), other:
            return other
        case Number(-1), other:
            return -other
        case _, other:
            return product(factor, other) if _has_seed(left) else product(other, factor)


def _per(factor: Expression | None, divisor: Expression) -> Expression | None:
    return None if factor is None else factor / divisor


def _negated(factor: Expression | None) -> Expression | None:
    match factor:
        case None:
            return None
        case Number(value):
            return number(-value)
    return -factor


def _where(condition: Expression, then: Expression, otherwise: Expression) -> Expression | None:
    """A case without v is part of such a rule only as 0."""
    found = [_ZERO if _is_zero(one) else _factor(one) for one in (then, otherwise)]
    return None if None in found else where(condition, *[one for one in found if one is not None])


_ZERO = number(0)


def _is_zero(one: Expression) -> bool:
    return isinstance(one, Number) and one.value == 0


def _has_seed(one: Expression) -> bool:
    return any(map(is_seed, symbols_of(one)))
