"""Sums, products, quotients, powers, and the choice between two values, element by element."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

from typing import Any

from gradwalk.formulas.entry import BROADCAST, Entry, Formula, Given, Sentence, Vjp, unary, value_of, zero
from gradwalk.formulas.expression import (
    Expression,
    Number,
    Scalar,
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

_PASSES = "A nudge of `{self}` moves the result by the same nudge, so v passes unchanged."
_POWER = "The power rule: the exponent comes down in front and drops by one."


def _added(operand: str) -> Sentence:
    """Of the second operand of a sum, which may have a factor."""

    def because(n: Given) -> str:
        if n.alpha == 1:
            return f"A nudge of `{operand}` moves the result by the same nudge, so v passes unchanged."
        return f"`{operand}` is multiplied by {n.alpha} before it is added, so its nudge is, too."

    return because


def _and_by(factor: Scalar, joined: str = "by") -> str:
    return "" if factor == 1 else f" and {joined} {factor}"


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
        "`{other}` is taken away as often as the rounded quotient says, so each nudge of it counts that often.",
    )


_BETWEEN_JUMPS = "Between two jumps the remainder moves exactly as `{self}` does."
_LARGER = "Only the larger of the two decides the result, so only it gets v; equal ones get half each."
_SMALLER = "Only the smaller of the two decides the result, so only it gets v; equal ones get half each."
_TIE = "Where both are equal each gets half of v; where one is NaN both get all of it."
_NAN_LOSES = "A NaN loses: the other operand gets all of v. Equal values: the first operand gets all of it."
_STAIRCASE = "A rounded quotient is a staircase, flat almost everywhere: no nudge gets through."

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
                _added("{other}"),
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
                "More of `{other}` means less of the difference, so the sign turns.",
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
                "`{self}` is what is taken away, so a nudge upwards moves the result down.",
            ),
            Vjp("other", lambda n: n.v, "A nudge of `{other}` moves the result by the same nudge."),
        ),
        (BROADCAST, "A number minus a tensor is written this way round: the number has no gradient."),
    ),
    Entry(
        "mul",
        ("MulBackward0",),
        lambda n: n.operand("self") * n.operand("other"),
        (
            Vjp(
                "self",
                lambda n: n.v * conj(n.other),
                "`{other}` scales `{self}`, so a nudge of `{self}` moves the product `{other}` times as much.",
            ),
            Vjp(
                "other",
                lambda n: n.v * conj(n.self),
                "`{self}` scales `{other}`, so a nudge of `{other}` moves the product `{self}` times as much.",
            ),
        ),
        (BROADCAST, "A product of a tensor with itself has two operands that are the same: what each gets adds up."),
    ),
    Entry(
        "mul",
        ("MulBackward1",),
        lambda n: product(n.other, n.operand("self")),
        (
            Vjp(
                "self",
                lambda n: times(n.other, n.v),
                "The number scales `{self}`, so a nudge of `{self}` moves the product that many times as much.",
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
                "A nudge of `{self}` is divided like `{self}` itself.",
            ),
            Vjp(
                "other",
                _quotient_other,
                "A larger divisor makes the quotient smaller, in proportion to the quotient, which is divided once more.",
            ),
        ),
        (BROADCAST, "Where the divisor is 0 the gradients are infinite or NaN, as the quotient is."),
    ),
    Entry(
        "div",
        ("DivBackward2", "DivBackward3"),
        lambda n: _rounded(n.rounding_mode, n.operand("self"), value_of(n, "other")),
        (
            Vjp("self", lambda n: _quotient(n) if n.rounding_mode is None else zero(n), _STAIRCASE),
            Vjp("other", lambda n: _quotient_other(n) if n.rounding_mode is None else zero(n), _STAIRCASE),
        ),
        (BROADCAST, "With rounding_mode=None it is an ordinary division."),
    ),
    Entry(
        "remainder",
        ("RemainderBackward0", "RemainderBackward1"),
        _remainder("floor"),
        (Vjp("self", lambda n: n.v, _BETWEEN_JUMPS), _taken_away("floor")),
        ("At the jumps, where `{self}` is a multiple of the divisor, torch uses the slope beside the jump.", BROADCAST),
    ),
    Entry(
        "fmod",
        ("FmodBackward0", "FmodBackward1"),
        _remainder("trunc"),
        (Vjp("self", lambda n: n.v, _BETWEEN_JUMPS), _taken_away("trunc")),
        ("fmod keeps the sign of `{self}`, remainder that of the divisor: trunc here, floor there.", BROADCAST),
    ),
    unary(
        "neg",
        ("NegBackward0", "NegViewBackward0"),
        lambda x: -x,
        lambda n: -n.v,
        "The result moves as much as `{self}`, the other way.",
    ),
    unary(
        "reciprocal",
        ("ReciprocalBackward0",),
        lambda x: 1 / x,
        lambda n: -(n.v * conj(n.result**2)),
        "The slope of the reciprocal is minus its square; the result is saved, so it is squared instead of dividing again.",
        ("Where `{self}` is 0 the result is infinite, and so is the gradient.",),
    ),
    Entry(
        "pow",
        ("PowBackward0",),
        lambda n: n.operand("self") ** n.exponent,
        (Vjp("self", _power, _POWER),),
        (
            "With exponent 0 the result is constant, so the gradient is 0 even where `{self}` is 0.",
            "An exponent between 0 and 1 has infinite slope at 0.",
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
                "In the exponent a power is an exponential whose rate is the logarithm of its base.",
            ),
        ),
        (
            BROADCAST,
            "Where the base is 0 and the exponent is not negative the exponent's gradient is 0, not 0 times minus infinity.",
            "A negative base has no real logarithm: the exponent's gradient is NaN there.",
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
                "In the exponent a power is an exponential whose rate is the logarithm of its base.",
            ),
        ),
        ("With base 0 the gradient is 0 for exponents that are not negative.",),
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
                lambda n: f"`{{tensor1}}` is multiplied by `{{tensor2}}`{_and_by(n.value)} before it is added.",
            ),
            Vjp(
                "tensor2",
                lambda n: times(n.value, n.v) * conj(n.tensor1),
                lambda n: f"`{{tensor2}}` is multiplied by `{{tensor1}}`{_and_by(n.value)} before it is added.",
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
                lambda n: (
                    f"`{{tensor1}}` is divided by `{{tensor2}}`{_and_by(n.value, 'multiplied by')} before it is added."
                ),
            ),
            Vjp(
                "tensor2",
                lambda n: -(times(n.value, n.v) * conj(n.tensor1) / conj(n.tensor2) ** 2),
                "A larger divisor makes the added quotient smaller: the quotient rule.",
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
                "`{self}` has the share 1 - weight in the mixture.",
            ),
            Vjp("end", lambda n: _weighted(n, n.weight), "`{end}` has the share weight in the mixture."),
            Vjp(
                "weight",
                lambda n: n.v * conj(n.end - n.self),
                "Moving `{weight}` from 0 to 1 moves the result all the way from `{self}` to `{end}`.",
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
            Vjp(
                "self", lambda n: where(_first_is_largest(n), n.v, 0), "Only the larger of the two decides the result."
            ),
            Vjp(
                "other", lambda n: where(_first_is_largest(n), 0, n.v), "Only the larger of the two decides the result."
            ),
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
                "Only the smaller of the two decides the result.",
            ),
            Vjp(
                "other",
                lambda n: where(_first_is_smallest(n), 0, n.v),
                "Only the smaller of the two decides the result.",
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
                "`{self}` is copied where the condition holds, and ignored elsewhere.",
            ),
            Vjp(
                "other",
                lambda n: where(n.condition, 0, n.v),
                "`{other}` is copied where the condition fails, and ignored elsewhere.",
            ),
        ),
        (
            BROADCAST,
            "The condition gets no gradient: it is true or false, nothing in between.",
            "A NaN or infinite slope further back in the branch that was not chosen still spoils the gradient: 0 times infinity is NaN.",
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
                "The length grows with `{self}` by the cosine of the angle, `{self}` divided by the length.",
            ),
            Vjp(
                "other",
                lambda n: n.v * n.other / n.result,
                "The length grows with `{other}` by the sine of the angle, `{other}` divided by the length.",
            ),
        ),
        (BROADCAST, "Where both are 0 the gradient is 0 / 0 = NaN."),
    ),
    Entry(
        "copysign",
        ("CopysignBackward0", "CopysignBackward1"),
        None,
        (
            Vjp(
                "self",
                lambda n: n.v * where(n.self.equals(0), 0, n.result / n.self),
                "The sign was kept (slope 1) or turned (slope -1); the result divided by `{self}` says which.",
            ),
            Vjp("other", zero, "Only the sign of `{other}` is used, and a sign does not change with a nudge."),
        ),
        ("Where `{self}` is 0 the gradient is 0.", BROADCAST),
    ),
)
