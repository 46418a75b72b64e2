"""Sums, products, quotients, powers, and the choice between two values, element by element."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

from collections.abc import Callable
from typing import Any

from gradwalk.formulas.entry import BROADCAST, Entry, Formula, Given, Reason, Vjp, unary, value_of, why, zero
from gradwalk.formulas.expression import (
    Expression,
    Number,
    apply,
    conj,
    divided,
    expressed,
    number,
    product,
    symbols_of,
    times,
    where,
)

_PASSES = why("why-add", "self")
_POWER = why("why-pow")


def _added(n: Given) -> Reason:
    """Of the second operand of a sum, which may have a factor."""
    if n.alpha == 1:
        return why("why-added", "other")
    return why("why-added-times", "other", factor=n.alpha)


def _multiplied(n: Given, first: str, second: str) -> Reason:
    """Of a factor of a product that is added."""
    if n.value == 1:
        return why("why-factor-added", first=first, second=second)
    return why("why-factor-added-times", first=first, second=second, factor=n.value)


def _divided(n: Given) -> Reason:
    """Of the dividend of a quotient that is added."""
    if n.value == 1:
        return why("why-quotient-added", "tensor1", "tensor2")
    return why("why-quotient-added-times", "tensor1", "tensor2", factor=n.value)


def _power(n: Given) -> Expression:
    """v times p x^(p-1) for a number p."""
    exponent = int(n.exponent) if isinstance(n.exponent, bool) else n.exponent
    if exponent == 0:
        return Number(0)
    if exponent == 1:
        return n.v
    base = n.self if exponent == 2 else n.self ** (exponent - 1)
    return times(exponent, n.v) * conj(base)


def _power_of_tensor(n: Given) -> Expression:
    """The same for a tensor p, with the limit that torch takes where p is 0."""
    return where(n.exponent.equals(0), 0, n.v * conj(n.exponent) * conj(n.self ** (n.exponent - 1)))


def _is_not_negative(exponent: Expression) -> Expression:
    if not exponent.is_complex:
        return exponent >= 0
    return apply("imag", exponent).equals(0) & (apply("real", exponent) >= 0)


def _exponent(n: Given) -> Expression:
    """v times x^p log x, with 0 where x is 0 and p is not negative."""
    # A negative number has a logarithm among the complex numbers only.
    base = n.self + 0j if n.exponent.is_complex and not n.self.is_complex else n.self
    rate = conj(n.result * apply("log", base))
    return n.v * where(n.self.equals(0) & _is_not_negative(n.exponent), 0, rate)


def _exponent_of_number(n: Given) -> Expression:
    base = n.self
    if n.exponent.is_complex and not isinstance(base, complex) and base < 0:
        base = complex(base)
    product = n.v * conj(n.result) * conj(apply("log", number(base)))
    return where(_is_not_negative(n.exponent), 0, product) if base == 0 else product


def _quotient(n: Given) -> Expression:
    divisor = value_of(n, "other")
    return n.v / conj(divisor) if isinstance(divisor, Expression) else divided(n.v, divisor.conjugate())


def _quotient_other(n: Given) -> Expression:
    return -(n.v * conj(n.self) / conj(n.other) ** 2)


def _rounded(rounding_mode: str | None, dividend: Expression, divisor: Any) -> Expression:
    if rounding_mode == "floor":
        return apply("floor_divide", dividend, divisor)
    quotient = dividend / divisor
    return quotient if rounding_mode is None else apply(rounding_mode, quotient)


def _remainder(rounding_mode: str) -> Formula:
    """What is left of a dividend after the rounded quotient."""

    def result(n: Given) -> Expression:
        dividend, divisor = n.operand("self"), n.operand("other")
        return dividend - divisor * _rounded(rounding_mode, dividend, divisor)

    return result


def _share(loses: Expression, ties: Expression, v: Expression) -> Expression:
    return where(loses, 0, where(ties, v / 2, v))


def _first_is_largest(n: Given) -> Expression:
    return (n.self >= n.other) | apply("isnan", n.other)


def _first_is_smallest(n: Given) -> Expression:
    return (n.self <= n.other) | apply("isnan", n.other)


def _weighted(n: Given, weight: Any) -> Expression:
    """v times a share; one that is a number stands first."""
    share = expressed(weight)
    return n.v * conj(share) if symbols_of(share) else times(share, n.v)


def _mixed(n: Given) -> Expression:
    weight = value_of(n, "weight")
    return (1 - expressed(weight)) * n.operand("self") + weight * n.operand("end")


def _taken_away(rounding_mode: str) -> Vjp:
    """For the divisor of a remainder."""
    return Vjp(
        "other",
        lambda n: -(n.v * _rounded(rounding_mode, n.self, n.other)),
        why("why-remainder-other", "other"),
    )


_BETWEEN_JUMPS = why("why-remainder", "self")
_LARGER = why("why-maximum")
_SMALLER = why("why-minimum")
_TIE = why("case-maximum")
_NAN_LOSES = why("case-fmax")
_QUOTIENT = why("why-div", "self")
_DIVISOR = why("why-div-other")


def _divided_or_flat(kept: Reason) -> Callable[[Given], Reason]:
    """Of a quotient that may be rounded."""
    return lambda n: kept if n.rounding_mode is None else why("why-div-rounded")


ARITHMETIC: tuple[Entry, ...] = (
    Entry(
        "add",
        ("AddBackward0", "AddBackward1"),
        lambda n: n.operand("self") + product(n.alpha, n.operand("other")),
        (
            Vjp("self", lambda n: n.v, _PASSES),
            Vjp(
                "other",
                lambda n: times(n.alpha, n.v),
                _added,
            ),
        ),
        (BROADCAST,),
    ),
    Entry(
        "sub",
        ("SubBackward0", "SubBackward1"),
        lambda n: n.operand("self") - product(n.alpha, n.operand("other")),
        (
            Vjp("self", lambda n: n.v, _PASSES),
            Vjp(
                "other",
                lambda n: -times(n.alpha, n.v),
                why("why-sub-other", "other"),
            ),
        ),
        (BROADCAST,),
    ),
    Entry(
        "rsub",
        ("RsubBackward0", "RsubBackward1"),
        lambda n: n.operand("other") - product(n.alpha, n.operand("self")),
        (
            Vjp(
                "self",
                lambda n: -times(n.alpha, n.v),
                why("why-rsub", "self"),
            ),
            Vjp("other", lambda n: n.v, why("why-rsub-other", "other")),
        ),
        (BROADCAST, why("case-rsub")),
    ),
    Entry(
        "mul",
        ("MulBackward0",),
        lambda n: n.operand("self") * n.operand("other"),
        (
            Vjp(
                "self",
                lambda n: n.v * conj(n.other),
                why("why-mul", "other", "self"),
            ),
            Vjp(
                "other",
                lambda n: n.v * conj(n.self),
                why("why-mul-other", "self", "other"),
            ),
        ),
        (BROADCAST, why("case-same-operand")),
    ),
    Entry(
        "mul",
        ("MulBackward1",),
        lambda n: product(n.other, n.operand("self")),
        (
            Vjp(
                "self",
                lambda n: times(n.other, n.v),
                why("why-mul-number", "self"),
            ),
        ),
    ),
    Entry(
        "div",
        ("DivBackward0", "DivBackward1"),
        lambda n: divided(n.operand("self"), value_of(n, "other")),
        (
            Vjp(
                "self",
                _quotient,
                _QUOTIENT,
            ),
            Vjp(
                "other",
                _quotient_other,
                _DIVISOR,
            ),
        ),
        (BROADCAST, why("case-div")),
    ),
    Entry(
        "div",
        ("DivBackward2", "DivBackward3"),
        lambda n: _rounded(n.rounding_mode, n.operand("self"), value_of(n, "other")),
        (
            Vjp("self", lambda n: _quotient(n) if n.rounding_mode is None else zero(n), _divided_or_flat(_QUOTIENT)),
            Vjp(
                "other",
                lambda n: _quotient_other(n) if n.rounding_mode is None else zero(n),
                _divided_or_flat(_DIVISOR),
            ),
        ),
        (BROADCAST, why("case-div-unrounded")),
    ),
    Entry(
        "remainder",
        ("RemainderBackward0", "RemainderBackward1"),
        _remainder("floor"),
        (Vjp("self", lambda n: n.v, _BETWEEN_JUMPS), _taken_away("floor")),
        (why("case-remainder", "self"), BROADCAST),
    ),
    Entry(
        "fmod",
        ("FmodBackward0", "FmodBackward1"),
        _remainder("trunc"),
        (Vjp("self", lambda n: n.v, _BETWEEN_JUMPS), _taken_away("trunc")),
        (why("case-fmod", "self"), BROADCAST),
    ),
    unary(
        "neg",
        ("NegBackward0", "NegViewBackward0"),
        lambda x: -x,
        lambda n: -n.v,
        why("why-neg", "self"),
    ),
    unary(
        "reciprocal",
        ("ReciprocalBackward0",),
        lambda x: 1 / x,
        lambda n: -(n.v * conj(n.result**2)),
        why("why-reciprocal"),
        (why("case-reciprocal", "self"),),
    ),
    Entry(
        "pow",
        ("PowBackward0",),
        lambda n: n.operand("self") ** n.exponent,
        (Vjp("self", _power, _POWER),),
        (
            why("case-pow", "self"),
            why("case-pow-root"),
        ),
    ),
    Entry(
        "pow",
        ("PowBackward1",),
        lambda n: n.operand("self") ** n.operand("exponent"),
        (
            Vjp("self", _power_of_tensor, _POWER),
            Vjp(
                "exponent",
                _exponent,
                why("why-pow-exponent"),
            ),
        ),
        (
            BROADCAST,
            why("case-pow-base-0"),
            why("case-pow-negative-base"),
        ),
    ),
    Entry(
        "pow",
        ("PowBackward2",),
        lambda n: number(n.self) ** n.operand("exponent"),
        (
            Vjp(
                "exponent",
                _exponent_of_number,
                why("why-pow-exponent"),
            ),
        ),
        (why("case-pow-constant-base-0"),),
    ),
    Entry(
        "addcmul",
        ("AddcmulBackward0",),
        lambda n: n.operand("self") + product(n.value, n.operand("tensor1")) * n.operand("tensor2"),
        (
            Vjp("self", lambda n: n.v, _PASSES),
            Vjp(
                "tensor1",
                lambda n: times(n.value, n.v) * conj(n.tensor2),
                lambda n: _multiplied(n, "tensor1", "tensor2"),
            ),
            Vjp(
                "tensor2",
                lambda n: times(n.value, n.v) * conj(n.tensor1),
                lambda n: _multiplied(n, "tensor2", "tensor1"),
            ),
        ),
        (BROADCAST,),
    ),
    Entry(
        "addcdiv",
        ("AddcdivBackward0",),
        lambda n: n.operand("self") + product(n.value, n.operand("tensor1")) / n.operand("tensor2"),
        (
            Vjp("self", lambda n: n.v, _PASSES),
            Vjp(
                "tensor1",
                lambda n: times(n.value, n.v) / conj(n.tensor2),
                _divided,
            ),
            Vjp(
                "tensor2",
                lambda n: -(times(n.value, n.v) * conj(n.tensor1) / conj(n.tensor2) ** 2),
                why("why-addcdiv-tensor2"),
            ),
        ),
        (BROADCAST,),
    ),
    Entry(
        "lerp",
        ("LerpBackward0", "LerpBackward1"),
        _mixed,
        (
            Vjp(
                "self",
                lambda n: _weighted(n, 1 - expressed(n.weight)),
                why("why-lerp", "self"),
            ),
            Vjp("end", lambda n: _weighted(n, n.weight), why("why-lerp-end", "end")),
            Vjp(
                "weight",
                lambda n: n.v * conj(n.end - n.self),
                why("why-lerp-weight", "weight", "self", "end"),
            ),
        ),
        (BROADCAST,),
        {"weight": "w"},
    ),
    Entry(
        "maximum",
        ("MaximumBackward0",),
        lambda n: apply("max", n.operand("self"), n.operand("other")),
        (
            Vjp("self", lambda n: _share(n.self < n.other, n.self.equals(n.other), n.v), _LARGER),
            Vjp("other", lambda n: _share(n.other < n.self, n.other.equals(n.self), n.v), _LARGER),
        ),
        (_TIE, BROADCAST),
    ),
    Entry(
        "minimum",
        ("MinimumBackward0",),
        lambda n: apply("min", n.operand("self"), n.operand("other")),
        (
            Vjp("self", lambda n: _share(n.self > n.other, n.self.equals(n.other), n.v), _SMALLER),
            Vjp("other", lambda n: _share(n.other > n.self, n.other.equals(n.self), n.v), _SMALLER),
        ),
        (_TIE, BROADCAST),
    ),
    Entry(
        "fmax",
        ("FmaxBackward0",),
        lambda n: apply("fmax", n.operand("self"), n.operand("other")),
        (
            Vjp("self", lambda n: where(_first_is_largest(n), n.v, 0), why("why-fmax")),
            Vjp("other", lambda n: where(_first_is_largest(n), 0, n.v), why("why-fmax")),
        ),
        (_NAN_LOSES, BROADCAST),
    ),
    Entry(
        "fmin",
        ("FminBackward0",),
        lambda n: apply("fmin", n.operand("self"), n.operand("other")),
        (
            Vjp(
                "self",
                lambda n: where(_first_is_smallest(n), n.v, 0),
                why("why-fmin"),
            ),
            Vjp(
                "other",
                lambda n: where(_first_is_smallest(n), 0, n.v),
                why("why-fmin"),
            ),
        ),
        (_NAN_LOSES, BROADCAST),
    ),
    Entry(
        "where",
        ("WhereBackward0",),
        lambda n: where(n.condition, n.operand("self"), n.operand("other")),
        (
            Vjp(
                "self",
                lambda n: where(n.condition, n.v, 0),
                why("why-where", "self"),
            ),
            Vjp(
                "other",
                lambda n: where(n.condition, 0, n.v),
                why("why-where-other", "other"),
            ),
        ),
        (
            BROADCAST,
            why("case-where"),
            why("case-where-nan"),
        ),
    ),
    Entry(
        "hypot",
        ("HypotBackward0",),
        lambda n: apply("sqrt", n.operand("self") ** 2 + n.operand("other") ** 2),
        (
            Vjp(
                "self",
                lambda n: n.v * n.self / n.result,
                why("why-hypot", "self"),
            ),
            Vjp(
                "other",
                lambda n: n.v * n.other / n.result,
                why("why-hypot-other", "other"),
            ),
        ),
        (BROADCAST, why("case-hypot")),
    ),
    Entry(
        "copysign",
        ("CopysignBackward0", "CopysignBackward1"),
        None,
        (
            Vjp(
                "self",
                lambda n: n.v * where(n.self.equals(0), 0, n.result / n.self),
                why("why-copysign", "self"),
            ),
            Vjp("other", zero, why("why-copysign-other", "other")),
        ),
        (why("case-copysign", "self"), BROADCAST),
    ),
)
