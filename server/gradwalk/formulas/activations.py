"""Activation functions, clamping and softmax."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

from typing import Any

import torch

from gradwalk.formulas.entry import BROADCAST, Entry, Given, Vjp, elementwise, unary, value_of, why
from gradwalk.formulas.expression import Expression, Named, Scalar, apply, conj, divided, number, product, total, where

_GATE = why("why-hardtanh", "self")
_EXACT_BOUND = why("case-clamp")
_BOUND = why("why-clamp-min", "self")
_SOFTMAX = why("why-softmax")


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


def _bell(x: Expression) -> Expression:
    """The bell curve at x."""
    return Named("phi", apply("exp", -(x**2 / 2)) / apply("sqrt", 2 * apply("pi")))


def gelu_slope(n: Given) -> Expression:
    """The derivative of gelu at `self`."""
    x = n.self
    if n.approximate == "tanh":
        bent = _bent(x)
        return (1 + bent) / 2 + x / 2 * (1 - bent**2) * _steepness(x)
    return _area(x) + x * _bell(x)


def gelu_bend(n: Given) -> Expression:
    """The second derivative of gelu at `self`."""
    x = n.self
    if n.approximate == "tanh":
        bent, steepness = _bent(x), _steepness(x)
        return (1 - bent**2) * (steepness - x * bent * steepness**2 + _ROOT * 3 * number(0.044715) * x**2)
    return _bell(x) * (2 - x**2)


def _steepness(x: Expression) -> Expression:
    """How fast what stands in the tanh of the approximation grows."""
    return _ROOT * (1 + 3 * number(0.044715) * x**2)


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
            why("case-softmax", "self"),
            why("case-softmax-rows"),
        ),
    )


ACTIVATIONS: tuple[Entry, ...] = (
    unary(
        "relu",
        ("ReluBackward0",),
        lambda x: apply("max", 0, x),
        lambda n: n.v * (n.result > 0),
        why("why-relu", "self"),
        (
            why("case-abs"),
            why("case-relu"),
        ),
    ),
    elementwise(
        "threshold",
        ("ThresholdBackward0", "ThresholdBackward1"),
        # What takes the place of small values is not saved.
        None,
        lambda n: n.self > n.threshold,
        why("why-threshold", "self"),
        (why("case-threshold"),),
    ),
    Entry(
        "leaky_relu",
        ("LeakyReluBackward0", "LeakyReluBackward1"),
        lambda n: _leaky(n.operand("self"), n.negative_slope),
        (
            Vjp(
                "self",
                lambda n: n.v * where(_kept(n) > 0, 1, n.negative_slope),
                why("why-leaky-relu"),
            ),
        ),
        (why("case-leaky-relu"),),
    ),
    Entry(
        "elu",
        ("EluBackward0", "EluBackward1"),
        _elu,
        (
            Vjp(
                "self",
                lambda n: n.v * _elu_slope(n),
                why("why-elu"),
            ),
        ),
        (why("case-elu"), why("case-elu-kink")),
    ),
    Entry(
        "celu",
        ("CeluBackward0", "CeluBackward1"),
        _celu,
        (
            Vjp(
                "self",
                lambda n: n.v * _celu_slope(n),
                why("why-celu"),
            ),
        ),
        (why("case-celu"),),
    ),
    Entry(
        "gelu",
        ("GeluBackward0",),
        _gelu,
        (
            Vjp(
                "self",
                lambda n: n.v * gelu_slope(n),
                why("why-gelu", "self"),
            ),
        ),
    ),
    elementwise(
        "silu",
        ("SiluBackward0",),
        lambda x: x * apply("sigmoid", x),
        _silu_slope,
        why("why-silu", "self"),
    ),
    elementwise(
        "mish",
        ("MishBackward0",),
        lambda x: x * apply("tanh", apply("softplus", x)),
        _mish_slope,
        why("why-mish"),
    ),
    unary(
        "sigmoid",
        ("SigmoidBackward0",),
        lambda x: apply("sigmoid", x),
        lambda n: n.v * conj(n.result) * conj(1 - n.result),
        why("why-sigmoid"),
    ),
    elementwise(
        "log_sigmoid",
        ("LogSigmoidBackward0",),
        lambda x: apply("log", apply("sigmoid", x)),
        lambda n: apply("sigmoid", -n.self),
        why("why-log-sigmoid", "self"),
    ),
    Entry(
        "softplus",
        ("SoftplusBackward0",),
        _softplus,
        (
            Vjp(
                "self",
                lambda n: n.v * _softplus_slope(n),
                why("why-softplus"),
            ),
        ),
        (why("case-softplus"),),
    ),
    Entry(
        "hardtanh",
        ("HardtanhBackward0",),
        lambda n: _clamped(n.operand("self"), n.min_val, n.max_val),
        (Vjp("self", lambda n: n.v * ((n.self > n.min_val) & (n.self < n.max_val)), _GATE),),
        (why("case-hardtanh"), why("case-relu6")),
    ),
    unary(
        "hardsigmoid",
        ("HardsigmoidBackward0",),
        lambda x: _ramp(x) / 6,
        lambda n: _single(n, number(1) / 6) * n.v * ((n.self > -3) & (n.self < 3)),
        why("why-hardsigmoid"),
        (why("case-hardsigmoid"), why("case-hardsigmoid-sixth")),
    ),
    elementwise(
        "hardswish",
        ("HardswishBackward0",),
        lambda x: x * _ramp(x) / 6,
        lambda n: where(n.self <= -3, 0, where(n.self < 3, n.self / 3 + number(1) / 2, 1)),
        why("why-hardswish", "self"),
    ),
    Entry(
        "softshrink",
        ("SoftshrinkBackward0",),
        _shrunk,
        (
            Vjp(
                "self",
                lambda n: n.v * _outside(n.self, n.lambd),
                why("why-softshrink"),
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
                why("why-hardshrink", "self"),
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
                why("why-rrelu"),
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
                why("why-prelu", "weight"),
            ),
            Vjp(
                "weight",
                lambda n: n.v * where(n.self > 0, 0, n.self),
                why("why-prelu-weight", "weight", "self"),
            ),
        ),
        (why("case-leaky-relu"), BROADCAST),
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
                why("why-glu"),
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
                why("why-log-softmax"),
            ),
        ),
        (why("case-log-softmax"),),
    ),
    Entry(
        "clamp",
        ("ClampBackward0", "ClampBackward1"),
        lambda n: _clamped(n.operand("self"), n.saved_or("min", None), n.saved_or("max", None)),
        (Vjp("self", _inside, _GATE), Vjp("min", _at_min, _BOUND), Vjp("max", _at_max, _BOUND)),
        (
            _EXACT_BOUND,
            BROADCAST,
            why("case-clamp-crossed"),
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
