"""Roots, exponentials, logarithms, angles, hyperbolics, rounding and the error function."""

import math
from collections.abc import Callable

from gradwalk.formulas.entry import BROADCAST, Entry, Given, Vjp, elementwise, unary, value_of, why, zero
from gradwalk.formulas.expression import Expression, Named, Symbol, apply, conj, expressed, number, product, where

_STAIRCASE = why("why-sign")
_PI = apply("pi")


def _flat(op: str, node: str, forward: Callable[[Symbol], Expression] | None) -> Entry:
    return unary(op, (node,), forward, zero, _STAIRCASE, (why("case-sign"),))


def _bell(n: Given) -> Expression:
    """v times the slope of the error function."""
    return 2 / apply("sqrt", _PI) * n.v * apply("exp", -(n.self**2))


def _logged(n: Given) -> Expression:
    """v log y where x is multiplied by log y; `xlogy` says that 0 times any logarithm is 0."""
    if isinstance(n.other, Expression):
        is_zero = n.self.equals(0) & (n.other <= 0)
    elif n.other > 0:
        return apply("log", n.other) * n.v
    else:
        is_zero = n.self.equals(0)
    return where(is_zero, 0, apply("xlogy", n.v, n.other))


def _to_logarithm(n: Given) -> Expression:
    scaled: Expression = n.v * n.self if isinstance(n.self, Expression) else product(n.self, n.v)
    return scaled / expressed(n.other)


def _log_of_sum(n: Given) -> Expression:
    powers = apply("exp", n.operand("self")) + apply("exp", n.operand("other"))
    if powers.is_complex:
        raise NotImplementedError("torch's imaginary part may differ from the logarithm's by multiples of 2 pi")
    return apply("log", powers)


def _turned(n: Given, across: Expression) -> Expression:
    """`across` divided by the square of the distance from 0, with 0 for no distance."""
    return where(n.self.equals(0) & n.other.equals(0), 0, across / (n.self**2 + n.other**2))


def _sinc(x: Expression) -> Expression:
    return where(x.equals(0), 1, apply("sin", _PI * x) / (_PI * x))


def _sinc_slope(n: Given) -> Expression:
    angle = _PI * n.self
    return where(n.self.equals(0), 0, (angle * apply("cos", angle) - apply("sin", angle)) / (_PI * n.self**2))


def _acosh(n: Given) -> Expression:
    if not n.self.is_complex:
        return n.v / apply("sqrt", n.self**2 - 1)
    return n.v / conj(apply("sqrt", n.self + 1) * apply("sqrt", n.self - 1))


def _logit(n: Given) -> Expression:
    x = n.operand("self")
    if n.eps is None:
        return apply("log", x / (1 - x))
    clamped = Named("c", apply("min", apply("max", x, n.eps), 1 - number(n.eps)))
    return apply("log", clamped / (1 - clamped))


def _logit_vjp(n: Given) -> Expression:
    product = n.v / (n.self * (1 - n.self))
    if n.eps is None:
        return where((n.self < 0) | (n.self > 1), math.nan, product)
    return where((n.self < n.eps) | (n.self > 1 - number(n.eps)), 0, product)


_SHARED = why("why-logaddexp")

ELEMENTARY_FUNCTIONS: tuple[Entry, ...] = (
    unary(
        "sqrt",
        ("SqrtBackward0",),
        lambda x: apply("sqrt", x),
        lambda n: n.v / (2 * conj(n.result)),
        why("why-sqrt", "self"),
        (why("case-sqrt"),),
    ),
    unary(
        "rsqrt",
        ("RsqrtBackward0",),
        lambda x: 1 / apply("sqrt", x),
        lambda n: -(n.v * conj(n.result) ** 3 / 2),
        why("why-rsqrt"),
    ),
    elementwise(
        "exp",
        ("ExpBackward0",),
        lambda x: apply("exp", x),
        lambda n: n.result,
        why("why-exp"),
    ),
    unary(
        "exp2",
        ("Exp2Backward0",),
        lambda x: number(2) ** x,
        lambda n: apply("log", 2) * n.v * conj(n.result),
        why("why-exp2"),
    ),
    elementwise(
        "expm1",
        ("Expm1Backward0",),
        lambda x: apply("exp", x) - 1,
        lambda n: n.result + 1,
        why("why-expm1"),
    ),
    unary(
        "log",
        ("LogBackward0",),
        lambda x: apply("log", x),
        lambda n: n.v / conj(n.self),
        why("why-log", "self"),
        (why("case-log"),),
    ),
    unary(
        "log2",
        ("Log2Backward0",),
        lambda x: apply("log", x) / apply("log", 2),
        lambda n: n.v / (apply("log", 2) * conj(n.self)),
        why("why-log2"),
    ),
    unary(
        "log10",
        ("Log10Backward0",),
        lambda x: apply("log", x) / apply("log", 10),
        lambda n: n.v / (apply("log", 10) * conj(n.self)),
        why("why-log10"),
    ),
    unary(
        "log1p",
        ("Log1PBackward0",),
        lambda x: apply("log", 1 + x),
        lambda n: n.v / conj(1 + n.self),
        why("why-log1p", "self"),
    ),
    Entry(
        "logaddexp",
        ("LogaddexpBackward0",),
        _log_of_sum,
        (
            Vjp("self", lambda n: n.v / conj(1 + apply("exp", n.other - n.self)), _SHARED),
            Vjp("other", lambda n: n.v / conj(1 + apply("exp", n.self - n.other)), _SHARED),
        ),
        (BROADCAST,),
    ),
    Entry(
        "logaddexp2",
        ("Logaddexp2Backward0",),
        lambda n: (
            apply("log", number(2) ** n.operand("self") + number(2) ** n.operand("other")) / apply("log", number(2))
        ),
        (
            Vjp("self", lambda n: n.v / (1 + 2 ** (n.other - n.self)), why("why-logaddexp2")),
            Vjp("other", lambda n: n.v / (1 + 2 ** (n.self - n.other)), why("why-logaddexp2")),
        ),
        (BROADCAST,),
    ),
    Entry(
        "xlogy",
        ("XlogyBackward0", "XlogyBackward1", "XlogyBackward2"),
        lambda n: apply("xlogy", value_of(n, "self"), value_of(n, "other")),
        (
            Vjp("self", _logged, why("why-xlogy", "self")),
            Vjp("other", _to_logarithm, why("why-xlogy-other", "other")),
        ),
        (BROADCAST, why("case-xlogy")),
    ),
    elementwise(
        "sin",
        ("SinBackward0",),
        lambda x: apply("sin", x),
        lambda n: apply("cos", n.self),
        why("why-sin"),
    ),
    unary(
        "cos",
        ("CosBackward0",),
        lambda x: apply("cos", x),
        lambda n: -(n.v * conj(apply("sin", n.self))),
        why("why-cos"),
    ),
    elementwise(
        "tan",
        ("TanBackward0",),
        lambda x: apply("tan", x),
        lambda n: 1 + n.result**2,
        why("why-tan"),
    ),
    unary(
        "asin",
        ("AsinBackward0",),
        lambda x: apply("asin", x),
        lambda n: n.v / conj(apply("sqrt", 1 - n.self**2)),
        why("why-asin", "self"),
        (why("case-asin"),),
    ),
    unary(
        "acos",
        ("AcosBackward0",),
        lambda x: apply("acos", x),
        lambda n: -(n.v / conj(apply("sqrt", 1 - n.self**2))),
        why("why-acos"),
        (why("case-asin"),),
    ),
    unary(
        "atan",
        ("AtanBackward0",),
        lambda x: apply("atan", x),
        lambda n: n.v / conj(1 + n.self**2),
        why("why-atan"),
    ),
    Entry(
        "atan2",
        ("Atan2Backward0",),
        lambda n: apply("atan2", n.operand("self"), n.operand("other")),
        (
            Vjp(
                "self",
                lambda n: _turned(n, n.v * n.other),
                why("why-atan2"),
            ),
            Vjp(
                "other",
                lambda n: _turned(n, -(n.v * n.self)),
                why("why-atan2"),
            ),
        ),
        (BROADCAST, why("case-atan2")),
    ),
    elementwise(
        "sinh",
        ("SinhBackward0",),
        lambda x: apply("sinh", x),
        lambda n: apply("cosh", n.self),
        why("why-sinh"),
    ),
    elementwise(
        "cosh",
        ("CoshBackward0",),
        lambda x: apply("cosh", x),
        lambda n: apply("sinh", n.self),
        why("why-cosh"),
    ),
    elementwise(
        "tanh",
        ("TanhBackward0",),
        lambda x: apply("tanh", x),
        lambda n: 1 - n.result**2,
        why("why-tanh"),
        (why("case-tanh"),),
    ),
    unary(
        "asinh",
        ("AsinhBackward0",),
        lambda x: apply("asinh", x),
        lambda n: n.v / conj(apply("sqrt", n.self**2 + 1)),
        why("why-asinh", "self"),
    ),
    unary(
        "acosh",
        ("AcoshBackward0",),
        lambda x: apply("acosh", x),
        _acosh,
        why("why-acosh", "self"),
        (why("case-acosh"),),
    ),
    unary(
        "atanh",
        ("AtanhBackward0",),
        lambda x: apply("atanh", x),
        lambda n: n.v / conj(1 - n.self**2),
        why("why-atanh"),
        (why("case-asin"),),
    ),
    unary(
        "abs",
        ("AbsBackward0",),
        lambda x: apply("abs", x),
        lambda n: n.v * apply("sgn" if n.self.is_complex else "sign", n.self),
        why("why-abs"),
        (why("case-abs"),),
    ),
    _flat("sign", "SignBackward0", lambda x: apply("sign", x)),
    _flat("floor", "FloorBackward0", lambda x: apply("floor", x)),
    _flat("ceil", "CeilBackward0", lambda x: apply("ceil", x)),
    _flat("round", "RoundBackward0", lambda x: apply("round", x)),
    # The node does not save how many decimals it kept.
    _flat("round", "RoundBackward1", None),
    _flat("trunc", "TruncBackward0", lambda x: apply("trunc", x)),
    unary(
        "frac",
        ("FracBackward0",),
        lambda x: x - apply("trunc", x),
        lambda n: n.v,
        why("why-frac", "self"),
    ),
    unary(
        "erf",
        ("ErfBackward0",),
        lambda x: apply("erf", x),
        _bell,
        why("why-erf"),
    ),
    unary(
        "erfc",
        ("ErfcBackward0",),
        lambda x: apply("erfc", x),
        lambda n: -_bell(n),
        why("why-erfc"),
    ),
    unary(
        "erfinv",
        ("ErfinvBackward0",),
        lambda x: apply("erfinv", x),
        lambda n: apply("sqrt", _PI) / 2 * n.v * apply("exp", apply("erfinv", n.self) ** 2),
        why("why-erfinv"),
        (why("case-asin"),),
    ),
    elementwise(
        "lgamma",
        ("LgammaBackward0",),
        lambda x: apply("lgamma", x),
        lambda n: apply("digamma", n.self),
        why("why-lgamma"),
    ),
    elementwise(
        "digamma",
        ("DigammaBackward0",),
        lambda x: apply("digamma", x),
        lambda n: apply("polygamma", 1, n.self),
        why("why-digamma"),
    ),
    elementwise(
        "sinc",
        ("SincBackward0",),
        _sinc,
        _sinc_slope,
        why("why-sinc"),
        (why("case-sinc"),),
    ),
    Entry(
        "logit",
        ("LogitBackward0",),
        _logit,
        (Vjp("self", _logit_vjp, why("why-logit")),),
        (why("case-logit", "self"),),
    ),
    unary(
        "deg2rad",
        ("Deg2RadBackward0",),
        lambda x: _PI / 180 * x,
        lambda n: _PI / 180 * n.v,
        why("why-deg2rad"),
    ),
    unary(
        "rad2deg",
        ("Rad2DegBackward0",),
        lambda x: 180 / _PI * x,
        lambda n: 180 / _PI * n.v,
        why("why-rad2deg"),
    ),
    # What NaN and the infinities are replaced with is not saved, so the result is not written.
    unary(
        "nan_to_num",
        ("NanToNumBackward0",),
        None,
        lambda n: where(apply("isfinite", n.self), n.v, 0),
        why("why-nan-to-num", "self"),
    ),
    elementwise(
        "i0",
        ("I0Backward0",),
        lambda x: apply("i0", x),
        lambda n: apply("i1", n.self),
        why("why-i0"),
    ),
)
