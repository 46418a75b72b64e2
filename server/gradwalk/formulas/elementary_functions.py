"""Roots, exponentials, logarithms, angles, hyperbolics, rounding and the error function."""

import math
from collections.abc import Callable

from gradwalk.formulas.entry import BROADCAST, Entry, Given, Vjp, elementwise, unary, value_of, zero
from gradwalk.formulas.expression import Expression, Named, Symbol, apply, conj, expressed, number, product, where

_STAIRCASE = "A staircase is flat between its jumps, so a nudge changes nothing: the gradient is 0 everywhere."
_PI = apply("pi")


def _flat(op: str, node: str, forward: Callable[[Symbol], Expression] | None) -> Entry:
    return unary(op, (node,), forward, zero, _STAIRCASE, ("Also at the jumps, where there is no slope at all.",))


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


_SHARED = "The gradient is shared in the proportion of the two exponentials: a softmax of two."

ELEMENTARY_FUNCTIONS: tuple[Entry, ...] = (
    unary(
        "sqrt",
        ("SqrtBackward0",),
        lambda x: apply("sqrt", x),
        lambda n: n.v / (2 * conj(n.result)),
        "The square of the root is `{self}`, so its slope is one over twice the root, which is saved and used again.",
        ("The slope is infinite at 0, and NaN for negative numbers.",),
    ),
    unary(
        "rsqrt",
        ("RsqrtBackward0",),
        lambda x: 1 / apply("sqrt", x),
        lambda n: -(n.v * conj(n.result) ** 3 / 2),
        "The power rule for the exponent -1/2: the power -3/2 is the cube of the result, which is saved.",
    ),
    elementwise(
        "exp",
        ("ExpBackward0",),
        lambda x: apply("exp", x),
        lambda n: n.result,
        "The exponential is its own slope, so the result is saved and used again.",
    ),
    unary(
        "exp2",
        ("Exp2Backward0",),
        lambda x: number(2) ** x,
        lambda n: apply("log", 2) * n.v * conj(n.result),
        "A power of 2 is an exponential with the rate log 2, which comes down in front.",
    ),
    elementwise(
        "expm1",
        ("Expm1Backward0",),
        lambda x: apply("exp", x) - 1,
        lambda n: n.result + 1,
        "The exponential is its own slope, and that is the saved result plus 1.",
    ),
    unary(
        "log",
        ("LogBackward0",),
        lambda x: apply("log", x),
        lambda n: n.v / conj(n.self),
        "The logarithm counts factors: the same nudge is a smaller factor of a larger `{self}`.",
        ("At 0 the slope is infinite; for negative numbers the value is NaN though the gradient is finite.",),
    ),
    unary(
        "log2",
        ("Log2Backward0",),
        lambda x: apply("log", x) / apply("log", 2),
        lambda n: n.v / (apply("log", 2) * conj(n.self)),
        "The logarithm to base 2 is the natural logarithm divided by log 2.",
    ),
    unary(
        "log10",
        ("Log10Backward0",),
        lambda x: apply("log", x) / apply("log", 10),
        lambda n: n.v / (apply("log", 10) * conj(n.self)),
        "The logarithm to base 10 is the natural logarithm divided by log 10.",
    ),
    unary(
        "log1p",
        ("Log1PBackward0",),
        lambda x: apply("log", 1 + x),
        lambda n: n.v / conj(1 + n.self),
        "The slope of the logarithm, one over what it is taken of: 1 + `{self}`.",
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
            Vjp(
                "self", lambda n: n.v / (1 + 2 ** (n.other - n.self)), "The gradient is shared as the powers of 2 are."
            ),
            Vjp(
                "other", lambda n: n.v / (1 + 2 ** (n.self - n.other)), "The gradient is shared as the powers of 2 are."
            ),
        ),
        (BROADCAST,),
    ),
    Entry(
        "xlogy",
        ("XlogyBackward0", "XlogyBackward1", "XlogyBackward2"),
        lambda n: apply("xlogy", value_of(n, "self"), value_of(n, "other")),
        (
            Vjp("self", _logged, "`{self}` is scaled by a logarithm, so its nudges are, too."),
            Vjp("other", _to_logarithm, "The slope of the logarithm is one over `{other}`."),
        ),
        (BROADCAST, "0 times any logarithm counts as 0; xlogy is a product with a logarithm under this rule."),
    ),
    elementwise(
        "sin",
        ("SinBackward0",),
        lambda x: apply("sin", x),
        lambda n: apply("cos", n.self),
        "The slope of the sine is the cosine: steepest at 0, flat at its peaks.",
    ),
    unary(
        "cos",
        ("CosBackward0",),
        lambda x: apply("cos", x),
        lambda n: -(n.v * conj(apply("sin", n.self))),
        "The cosine falls where the sine is positive.",
    ),
    elementwise(
        "tan",
        ("TanBackward0",),
        lambda x: apply("tan", x),
        lambda n: 1 + n.result**2,
        "One over the square of the cosine is the same as 1 plus the square of the tangent, which is saved.",
    ),
    unary(
        "asin",
        ("AsinBackward0",),
        lambda x: apply("asin", x),
        lambda n: n.v / conj(apply("sqrt", 1 - n.self**2)),
        "The inverse of the sine has the inverse slope: one over the cosine of the result, written with `{self}`.",
        ("The slope is infinite at -1 and 1.",),
    ),
    unary(
        "acos",
        ("AcosBackward0",),
        lambda x: apply("acos", x),
        lambda n: -(n.v / conj(apply("sqrt", 1 - n.self**2))),
        "The arccosine is a right angle minus the arcsine, so its slope is the negative of that one.",
        ("The slope is infinite at -1 and 1.",),
    ),
    unary(
        "atan",
        ("AtanBackward0",),
        lambda x: apply("atan", x),
        lambda n: n.v / conj(1 + n.self**2),
        "The inverse of the tangent has the inverse slope.",
    ),
    Entry(
        "atan2",
        ("Atan2Backward0",),
        lambda n: apply("atan2", n.operand("self"), n.operand("other")),
        (
            Vjp(
                "self",
                lambda n: _turned(n, n.v * n.other),
                "The angle turns fastest when the point is nudged across the line of sight, and less the farther out it is.",
            ),
            Vjp(
                "other",
                lambda n: _turned(n, -(n.v * n.self)),
                "The angle turns fastest when the point is nudged across the line of sight, and less the farther out it is.",
            ),
        ),
        (BROADCAST, "Where both are 0 there is no angle; torch uses 0."),
    ),
    elementwise(
        "sinh",
        ("SinhBackward0",),
        lambda x: apply("sinh", x),
        lambda n: apply("cosh", n.self),
        "The slope of the hyperbolic sine is the hyperbolic cosine.",
    ),
    elementwise(
        "cosh",
        ("CoshBackward0",),
        lambda x: apply("cosh", x),
        lambda n: apply("sinh", n.self),
        "The slope of the hyperbolic cosine is the hyperbolic sine.",
    ),
    elementwise(
        "tanh",
        ("TanhBackward0",),
        lambda x: apply("tanh", x),
        lambda n: 1 - n.result**2,
        "The slope is 1 minus the square of the result: nearly 0 where that is near -1 or 1, and there gradients vanish.",
        ("Far from 0 the result is exactly -1 or 1 in floating point, and the gradient exactly 0.",),
    ),
    unary(
        "asinh",
        ("AsinhBackward0",),
        lambda x: apply("asinh", x),
        lambda n: n.v / conj(apply("sqrt", n.self**2 + 1)),
        "The inverse of sinh has the inverse slope: one over cosh of the result, written with `{self}`.",
    ),
    unary(
        "acosh",
        ("AcoshBackward0",),
        lambda x: apply("acosh", x),
        _acosh,
        "The inverse of cosh has the inverse slope: one over sinh of the result, written with `{self}`.",
        ("The slope is infinite at 1.",),
    ),
    unary(
        "atanh",
        ("AtanhBackward0",),
        lambda x: apply("atanh", x),
        lambda n: n.v / conj(1 - n.self**2),
        "The inverse of tanh has the inverse slope.",
        ("The slope is infinite at -1 and 1.",),
    ),
    unary(
        "abs",
        ("AbsBackward0",),
        lambda x: apply("abs", x),
        lambda n: n.v * apply("sgn" if n.self.is_complex else "sign", n.self),
        "Moving away from 0 makes the result larger, moving towards 0 smaller.",
        ("At 0 there is a corner; torch uses 0.",),
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
        "Between the jumps the fractional part moves exactly as `{self}` does.",
    ),
    unary(
        "erf",
        ("ErfBackward0",),
        lambda x: apply("erf", x),
        _bell,
        "The error function is the area under the bell curve, so its slope is the bell curve.",
    ),
    unary(
        "erfc",
        ("ErfcBackward0",),
        lambda x: apply("erfc", x),
        lambda n: -_bell(n),
        "What is left of the area under the bell curve shrinks as the curve is high.",
    ),
    unary(
        "erfinv",
        ("ErfinvBackward0",),
        lambda x: apply("erfinv", x),
        lambda n: apply("sqrt", _PI) / 2 * n.v * apply("exp", apply("erfinv", n.self) ** 2),
        "The inverse of the error function has the inverse slope.",
        ("The slope is infinite at -1 and 1.",),
    ),
    elementwise(
        "lgamma",
        ("LgammaBackward0",),
        lambda x: apply("lgamma", x),
        lambda n: apply("digamma", n.self),
        "The slope of the logarithm of the gamma function has its own name, digamma.",
    ),
    elementwise(
        "digamma",
        ("DigammaBackward0",),
        lambda x: apply("digamma", x),
        lambda n: apply("polygamma", 1, n.self),
        "The slope of digamma is the trigamma function, polygamma of order 1.",
    ),
    elementwise(
        "sinc",
        ("SincBackward0",),
        _sinc,
        _sinc_slope,
        "The quotient rule for the sine of an angle over that angle.",
        ("At 0 the slope is 0, the limit of the quotient.",),
    ),
    Entry(
        "logit",
        ("LogitBackward0",),
        _logit,
        (Vjp("self", _logit_vjp, "The inverse of the sigmoid has the inverse slope."),),
        ("With eps, `{self}` is clamped first and the gradient outside is 0; without, it is NaN outside of [0, 1].",),
    ),
    unary(
        "deg2rad",
        ("Deg2RadBackward0",),
        lambda x: _PI / 180 * x,
        lambda n: _PI / 180 * n.v,
        "A degree is pi / 180 radians.",
    ),
    unary(
        "rad2deg",
        ("Rad2DegBackward0",),
        lambda x: 180 / _PI * x,
        lambda n: 180 / _PI * n.v,
        "A radian is 180 / pi degrees.",
    ),
    # What NaN and the infinities are replaced with is not saved, so the result is not written.
    unary(
        "nan_to_num",
        ("NanToNumBackward0",),
        None,
        lambda n: where(apply("isfinite", n.self), n.v, 0),
        "What was replaced no longer depends on `{self}`; all else passes unchanged.",
    ),
    elementwise(
        "i0",
        ("I0Backward0",),
        lambda x: apply("i0", x),
        lambda n: apply("i1", n.self),
        "The slope of the modified Bessel function of order 0 is that of order 1.",
    ),
)
