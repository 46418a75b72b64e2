"""Activation functions, clamping and softmax."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

from typing import Any

import torch

from gradwalk.formulas.entry import BROADCAST, Entry, Given, Vjp, elementwise, unary, value_of
from gradwalk.formulas.expression import Expression, Named, Scalar, apply, conj, divided, number, product, total, where

_GATE = "Inside the range the result moves with `{self}`, outside it is stuck."
_EXACT_BOUND = "Exactly at a bound torch lets v pass."
_BOUND = "Where `{self}` was cut off, the bound itself is the result, so the bound gets v."
_SOFTMAX = "Raising one score raises its own share and lowers all others, because the shares always add up to 1."


def _kept(n: Given) -> Any:
    """The operand, or the result where the in-place variant overwrote it; both are positive at the same places."""
    return n.saved_or("self", n.saved_or("result", None))


def _single(n: Given, constant: Expression) -> Expression:
    """A constant that torch's kernel keeps in single precision whatever the dtype."""
    return apply("float32", constant) if n.kinds()["v"].dtype == torch.float64 else constant


def _leaky(x: Expression, slope: Scalar | Expression) -> Expression:
    return where(x > 0, x, slope * x)


def _elu(n: Given) -> Expression:
    x = n.operand("self")
    curve = apply("exp", product(n.input_scale, x)) - 1
    return where(x > 0, product(n.scale, x), product(n.scale, n.alpha, curve))


def _elu_slope(n: Given) -> Expression:
    kept = _kept(n)
    if n.has("self"):
        curve = product(n.input_scale, n.alpha, n.scale, apply("exp", product(n.input_scale, kept)))
    else:
        curve = product(n.input_scale, kept + product(n.alpha, n.scale))
    return where(kept > 0, n.scale, curve)


def _celu(n: Given) -> Expression:
    x = n.operand("self")
    return where(x > 0, x, product(n.alpha, apply("exp", divided(x, n.alpha)) - 1))


def _celu_slope(n: Given) -> Expression:
    kept = _kept(n)
    is_exact = float(torch.tensor(n.alpha, dtype=torch.float32)) == n.alpha
    divisor = n.alpha if is_exact else _single(n, number(n.alpha))
    if not n.has("self"):
        return where(kept > 0, 1, divided(kept + n.alpha, divisor))
    curve = apply("exp", divided(kept, divisor))
    return where(kept > 0, 1, curve if is_exact else n.alpha / divisor * curve)


_ROOT = apply("sqrt", 2 / apply("pi"))


def _bent(x: Expression) -> Expression:
    """The tanh in the approximation of gelu."""
    return Named("T", apply("tanh", _ROOT * (x + 0.044715 * x**3)))


def _area(x: Expression) -> Expression:
    """The area under the bell curve up to x."""
    return Named("Phi", (1 + apply("erf", x / apply("sqrt", 2))) / 2)


def _gelu(n: Given) -> Expression:
    x = n.operand("self")
    return x / 2 * (1 + _bent(x)) if n.approximate == "tanh" else x * _area(x)


def _gelu_slope(n: Given) -> Expression:
    x = n.self
    if n.approximate == "tanh":
        bent = _bent(x)
        return (1 + bent) / 2 + x / 2 * (1 - bent**2) * _ROOT * (1 + 3 * number(0.044715) * x**2)
    bell = Named("phi", apply("exp", -(x**2 / 2)) / apply("sqrt", 2 * apply("pi")))
    return _area(x) + x * bell


def _silu_slope(n: Given) -> Expression:
    gate = apply("sigmoid", n.self)
    return gate * (1 + n.self * (1 - gate))


def _mish_slope(n: Given) -> Expression:
    bent = Named("T", apply("tanh", apply("softplus", n.self)))
    return bent + n.self * apply("sigmoid", n.self) * (1 - bent**2)


def _softplus(n: Given) -> Expression:
    x = n.operand("self")
    scaled = product(n.beta, x)
    curve = apply("log", 1 + apply("exp", scaled))
    return where(scaled > n.threshold, x, divided(curve, n.beta))


def _softplus_slope(n: Given) -> Expression:
    scaled = product(n.beta, n.self)
    return where(scaled > n.threshold, 1, apply("sigmoid", scaled))


def _clamped(x: Expression, low: Any, high: Any) -> Expression:
    raised = x if low is None else apply("max", x, low)
    return raised if high is None else apply("min", raised, high)


def _ramp(x: Expression) -> Expression:
    return _clamped(x + 3, 0, 6)


def _shrunk(n: Given) -> Expression:
    x = n.operand("self")
    return apply("sign", x) * apply("max", apply("abs", x) - n.lambd, 0)


def _outside(x: Expression, bound: Scalar) -> Expression:
    return apply("abs", x) > bound


def _mean_slope(n: Given) -> Expression:
    return (number(n.lower) + n.upper) / 2


def _rrelu(n: Given) -> Expression:
    if n.training:
        raise NotImplementedError("in training the node does not tell whether its noise is the one that was drawn")
    return _leaky(n.operand("self"), _mean_slope(n))


def _rrelu_slope(n: Given) -> Expression:
    if n.training and n.upper - n.lower > 1e-6:
        return n.noise
    return where(_kept(n) > 0, 1, _mean_slope(n))


def _halves(x: Any, dim: int) -> tuple[Expression, Expression]:
    half = x.shape[dim] // 2
    return (
        Named("a", apply("narrow", x, dim=dim, start=0, length=half)),
        Named("b", apply("narrow", x, dim=dim, start=half, length=half)),
    )


def _glu(n: Given) -> Expression:
    first, second = _halves(n.operand("self"), n.dim)
    return first * apply("sigmoid", second)


def _glu_vjp(n: Given) -> Expression:
    first, second = _halves(n.self, n.dim)
    gate = apply("sigmoid", second)
    return apply("cat", n.v * gate, n.v * first * gate * (1 - gate), dim=n.dim)


def _along(n: Given, value: Expression) -> Expression:
    """The sum over dim; a tensor without dims has nothing to sum."""
    return total(value, [n.dim] if n.operand("self").shape else [])


def _shares(n: Given) -> Expression:
    powers = apply("exp", n.operand("self"))
    return powers / _along(n, powers)


def _inside(n: Given) -> Expression:
    low, high = n.saved_or("min", None), n.saved_or("max", None)
    if high is None:
        return where(n.self >= low, n.v, 0)
    return where(n.self <= high if low is None else (n.self >= low) & (n.self <= high), n.v, 0)


def _at_min(n: Given) -> Expression:
    high = n.saved_or("max", None)
    below = n.self < n.min
    return where(below if high is None else below & (n.min < high), n.v, 0)


def _at_max(n: Given) -> Expression:
    low = n.saved_or("min", None)
    above = n.self > n.max
    return where(above if low is None else above | (n.max < low), n.v, 0)


def _softmax(op: str, node: str, forward: Any) -> Entry:
    return Entry(
        op,
        (node,),
        forward,
        (Vjp("self", lambda n: n.result * (n.v - _along(n, n.v * n.result)), _SOFTMAX),),
        (
            "v all ones gives 0: the sum of the shares is 1 whatever `{self}` is.",
            "The sum runs over dim only; along other dims are independent rows.",
        ),
    )


ACTIVATIONS: tuple[Entry, ...] = (
    unary(
        "relu",
        ("ReluBackward0",),
        lambda x: apply("max", 0, x),
        lambda n: n.v * (n.result > 0),
        "Where `{self}` is positive the result is `{self}` itself and v passes; where it is negative the result is stuck at 0.",
        (
            "At 0 there is a corner; torch uses 0.",
            "A unit that is negative for every input gets no gradient: a dead relu.",
        ),
    ),
    elementwise(
        "threshold",
        ("ThresholdBackward0", "ThresholdBackward1"),
        # What takes the place of small values is not saved.
        None,
        lambda n: n.self > n.threshold,
        "Above the threshold the result is `{self}` itself, below it the result is a constant.",
        ("Exactly at the threshold torch uses 0.",),
    ),
    Entry(
        "leaky_relu",
        ("LeakyReluBackward0", "LeakyReluBackward1"),
        lambda n: _leaky(n.operand("self"), n.negative_slope),
        (
            Vjp(
                "self",
                lambda n: n.v * where(_kept(n) > 0, 1, n.negative_slope),
                "Slope 1 on the right; on the left a slope of its own instead of none, so that no unit dies.",
            ),
        ),
        ("At 0 torch uses the left slope.",),
    ),
    Entry(
        "elu",
        ("EluBackward0", "EluBackward1"),
        _elu,
        (
            Vjp(
                "self",
                lambda n: n.v * _elu_slope(n),
                "A straight line on the right, an exponential that levels out on the left.",
            ),
        ),
        ("selu is this op with fixed alpha and scale.", "At 0 the left slope is used."),
    ),
    Entry(
        "celu",
        ("CeluBackward0", "CeluBackward1"),
        _celu,
        (
            Vjp(
                "self",
                lambda n: n.v * _celu_slope(n),
                "The exponential on the left is stretched by alpha so that both sides meet with slope 1.",
            ),
        ),
        ("torch divides by alpha in single precision, whatever the dtype.",),
    ),
    Entry(
        "gelu",
        ("GeluBackward0",),
        _gelu,
        (
            Vjp(
                "self",
                lambda n: n.v * _gelu_slope(n),
                "The product rule: `{self}` times an area under the bell curve (or its approximation), whose slope is the bell curve.",
            ),
        ),
    ),
    elementwise(
        "silu",
        ("SiluBackward0",),
        lambda x: x * apply("sigmoid", x),
        _silu_slope,
        "The product rule: `{self}` times its own sigmoid, which has the slope sigmoid times 1 minus sigmoid.",
    ),
    elementwise(
        "mish",
        ("MishBackward0",),
        lambda x: x * apply("tanh", apply("softplus", x)),
        _mish_slope,
        "The product rule, with the slope of tanh and of softplus inside.",
    ),
    unary(
        "sigmoid",
        ("SigmoidBackward0",),
        lambda x: apply("sigmoid", x),
        lambda n: n.v * conj(n.result) * conj(1 - n.result),
        "The slope is at most 1/4 for real numbers, and nearly 0 where the result is near 0 or 1: in a deep chain gradients vanish.",
    ),
    elementwise(
        "log_sigmoid",
        ("LogSigmoidBackward0",),
        lambda x: apply("log", apply("sigmoid", x)),
        lambda n: apply("sigmoid", -n.self),
        "The slope of the logarithm times that of the sigmoid leaves 1 minus the sigmoid, which is the sigmoid of the negative of `{self}`.",
    ),
    Entry(
        "softplus",
        ("SoftplusBackward0",),
        _softplus,
        (
            Vjp(
                "self",
                lambda n: n.v * _softplus_slope(n),
                "A relu with a round corner; its slope goes smoothly from 0 to 1 as the sigmoid does.",
            ),
        ),
        ("Above the threshold torch takes the straight line, with slope 1.",),
    ),
    Entry(
        "hardtanh",
        ("HardtanhBackward0",),
        lambda n: _clamped(n.operand("self"), n.min_val, n.max_val),
        (Vjp("self", lambda n: n.v * ((n.self > n.min_val) & (n.self < n.max_val)), _GATE),),
        ("Exactly at a bound torch uses 0 here (clamp lets v pass).", "relu6 is this op with the bounds 0 and 6."),
    ),
    unary(
        "hardsigmoid",
        ("HardsigmoidBackward0",),
        lambda x: _ramp(x) / 6,
        lambda n: _single(n, number(1) / 6) * n.v * ((n.self > -3) & (n.self < 3)),
        "A straight ramp between -3 and 3, flat outside.",
        ("Exactly at -3 and 3 torch uses 0.", "torch keeps 1/6 in single precision here, whatever the dtype."),
    ),
    elementwise(
        "hardswish",
        ("HardswishBackward0",),
        lambda x: x * _ramp(x) / 6,
        lambda n: where(n.self <= -3, 0, where(n.self < 3, n.self / 3 + number(1) / 2, 1)),
        "0 on the left, `{self}` itself on the right, a parabola between.",
    ),
    Entry(
        "softshrink",
        ("SoftshrinkBackward0",),
        _shrunk,
        (
            Vjp(
                "self",
                lambda n: n.v * _outside(n.self, n.lambd),
                "Small values are stuck at 0; the others are shifted, which keeps slope 1.",
            ),
        ),
    ),
    Entry(
        "hardshrink",
        ("HardshrinkBackward0",),
        lambda n: n.operand("self") if n.lambd < 0 else n.operand("self") * _outside(n.operand("self"), n.lambd),
        (
            Vjp(
                "self",
                lambda n: n.v if n.lambd < 0 else n.v * _outside(n.self, n.lambd),
                "Small values are replaced by 0; the others are `{self}` itself.",
            ),
        ),
    ),
    Entry(
        "rrelu",
        ("RreluWithNoiseBackward0", "RreluWithNoiseBackward1", "RreluWithNoiseFunctionalBackward0"),
        _rrelu,
        (
            Vjp(
                "self",
                lambda n: n.v * _rrelu_slope(n),
                "The slope of the forward pass is used again: drawn by chance in training, the middle of the bounds in evaluation.",
            ),
        ),
    ),
    Entry(
        "prelu",
        ("PreluKernelBackward0",),
        lambda n: _leaky(n.operand("self"), n.operand("weight")),
        (
            Vjp(
                "self",
                lambda n: n.v * where(n.self > 0, 1, n.weight),
                "Slope 1 on the right, the learned slope `{weight}` on the left.",
            ),
            Vjp(
                "weight",
                lambda n: n.v * where(n.self > 0, 0, n.self),
                "`{weight}` multiplies `{self}` where that is negative, and does nothing elsewhere.",
            ),
        ),
        ("At 0 torch uses the left slope.", BROADCAST),
        {"weight": "w"},
    ),
    Entry(
        "glu",
        ("GluBackward0",),
        _glu,
        (
            Vjp(
                "self",
                _glu_vjp,
                "The product rule: the first half is scaled by the gate, the second half moves the gate.",
            ),
        ),
    ),
    _softmax("softmax", "SoftmaxBackward0", _shares),
    # Rows of nothing but minus infinity give 0 here, where a softmax would give NaN.
    _softmax("safe_softmax", "SafeSoftmaxBackward0", None),
    Entry(
        "log_softmax",
        ("LogSoftmaxBackward0",),
        lambda n: n.operand("self") - apply("log", _along(n, apply("exp", n.operand("self")))),
        (
            Vjp(
                "self",
                lambda n: n.v - apply("exp", n.result) * _along(n, n.v),
                "Every result moves with its own score (v), and all are lowered by the common logarithm, whose slope is the softmax.",
            ),
        ),
        ("Where v is -1 at the target and 0 elsewhere, as under cross entropy, this is softmax minus one-hot.",),
    ),
    Entry(
        "clamp",
        ("ClampBackward0", "ClampBackward1"),
        lambda n: _clamped(n.operand("self"), n.saved_or("min", None), n.saved_or("max", None)),
        (Vjp("self", _inside, _GATE), Vjp("min", _at_min, _BOUND), Vjp("max", _at_max, _BOUND)),
        (
            _EXACT_BOUND,
            BROADCAST,
            "If the lower bound is above the upper one, the result is the upper one, and that gets v.",
        ),
    ),
    Entry(
        "clamp_min",
        ("ClampMinBackward0", "ClampMinBackward1"),
        lambda n: _clamped(n.operand("self"), value_of(n, "min"), None),
        (
            Vjp("self", lambda n: where(n.self >= n.min, n.v, 0), _GATE),
            Vjp("min", lambda n: where(n.self < n.min, n.v, 0), _BOUND),
        ),
        (_EXACT_BOUND, BROADCAST),
    ),
    Entry(
        "clamp_max",
        ("ClampMaxBackward0", "ClampMaxBackward1"),
        lambda n: _clamped(n.operand("self"), None, value_of(n, "max")),
        (
            Vjp("self", lambda n: where(n.self <= n.max, n.v, 0), _GATE),
            Vjp("max", lambda n: where(n.self > n.max, n.v, 0), _BOUND),
        ),
        (_EXACT_BOUND, BROADCAST),
    ),
)
