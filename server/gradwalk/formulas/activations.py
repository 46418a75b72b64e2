"""Activation functions, clamping and softmax."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import math

import torch
from torch import Tensor

from gradwalk.formulas.formula import BROADCAST, Entry, NodeView, Vjp, elementwise

_GATE = "Inside the range the result moves with x, outside it is stuck."
_EXACT_BOUND = "Exactly at a bound torch lets v pass."


_ONE_SIXTH = float(torch.tensor(1 / 6, dtype=torch.float32))
"""torch's hardsigmoid kernel keeps the slope in single precision for every dtype."""


def _pick(choose: Tensor, then: float | Tensor, otherwise: float | Tensor, like: Tensor) -> Tensor:
    """Two slopes, one where `choose` holds and the other elsewhere, in v's dtype."""
    yes = torch.as_tensor(then, dtype=like.dtype, device=like.device)
    no = torch.as_tensor(otherwise, dtype=like.dtype, device=like.device)
    return torch.where(choose, yes, no)


def _elu_slope(n: NodeView, alpha: float, scale: float, input_scale: float) -> Tensor:
    """From x, or from the result where the in-place variant overwrote x."""
    x, z = n.saved_or("self", None), n.saved_or("result", None)
    curve = (z + alpha * scale) if x is None else alpha * scale * (x * input_scale).exp()
    return _pick((z if x is None else x) > 0, scale, input_scale * curve, n.v)


def _gelu_slope(n: NodeView) -> Tensor:
    x = n.self
    if n.approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3))
        inner_slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x.pow(2))
        return 0.5 * (1 + inner.tanh()) + 0.5 * x * (1 - inner.tanh().pow(2)) * inner_slope
    area = 0.5 * (1 + (x / math.sqrt(2)).erf())
    bell = (-0.5 * x.pow(2)).exp() / math.sqrt(2 * math.pi)
    return area + x * bell


def _softplus_slope(n: NodeView) -> Tensor:
    scaled = n.self * n.beta
    return _pick(scaled > n.threshold, 1.0, scaled.sigmoid(), n.v)


def _mish_slope(n: NodeView) -> Tensor:
    gate = torch.nn.functional.softplus(n.self).tanh()
    return gate + n.self * n.self.sigmoid() * (1 - gate * gate)


def _hardswish_slope(n: NodeView) -> Tensor:
    middle = n.self / 3 + 0.5
    return _pick(n.self >= 3, 1.0, _pick(n.self > -3, middle, 0.0, n.v), n.v)


def _rrelu_slope(n: NodeView) -> Tensor:
    if n.training and n.upper - n.lower > 1e-6:
        return torch.as_tensor(n.noise)
    known = n.saved_or("self", n.saved_or("result", None))
    return _pick(known > 0, 1.0, (n.lower + n.upper) / 2, n.v)


def _glu(n: NodeView) -> Tensor:
    first, second = n.self.chunk(2, n.dim)
    gate = second.sigmoid()
    return torch.cat([n.v * gate, n.v * first * gate * (1 - gate)], n.dim)


def _softmax(n: NodeView) -> Tensor:
    mean = (n.v * n.result).sum(n.dim, keepdim=True)
    return torch.as_tensor(n.result * (n.v - mean))


def _log_softmax(n: NodeView) -> Tensor:
    return n.v - n.result.exp() * n.v.sum(n.dim, keepdim=True)


def _inside(n: NodeView) -> Tensor:
    low, high = n.saved_or("min", -math.inf), n.saved_or("max", math.inf)
    return n.v.masked_fill(~((n.self >= low) & (n.self <= high)), 0)


def _at_min(n: NodeView) -> Tensor:
    high = n.saved_or("max", None)
    at_bound = n.self < n.min if high is None else (n.self < n.min) & (n.min < high)
    return torch.where(at_bound, n.v, torch.zeros_like(n.v))


def _at_max(n: NodeView) -> Tensor:
    low = n.saved_or("min", None)
    at_bound = n.self > n.max if low is None else (n.self > n.max) | (n.max < low)
    return torch.where(at_bound, n.v, torch.zeros_like(n.v))


_BOUND = "Where x was cut off, the bound itself is the result, so the bound gets v."
_SOFTMAX = "Raising one score raises its own share and lowers all others, because the shares always add up to 1."

ACTIVATIONS: tuple[Entry, ...] = (
    elementwise(
        "relu",
        ("ReluBackward0",),
        r"\max(0, @self)",
        r"[@result > 0]",
        "(1 where x > 0, else 0)",
        "Where x is positive the result is x itself and v passes; where it is negative the result is stuck at 0.",
        lambda n: (n.result > 0).to(n.v.dtype),
        (
            "At x = 0 there is a corner; torch uses 0.",
            "A unit that is negative for every input gets no gradient: a dead relu.",
        ),
    ),
    elementwise(
        "threshold",
        ("ThresholdBackward0", "ThresholdBackward1"),
        r"@self \text{ where } @self > @threshold, \text{ else } @value",
        r"[@self > @threshold]",
        "(1 where x > threshold, else 0)",
        "Above the threshold the result is x itself, below it is a constant.",
        lambda n: (n.self > n.threshold).to(n.v.dtype),
        ("Exactly at the threshold torch uses 0.",),
    ),
    elementwise(
        "leaky_relu",
        ("LeakyReluBackward0", "LeakyReluBackward1"),
        r"\max(0, @self) + @{negative_slope} \min(0, @self)",
        r"\begin{cases} 1 & @self > 0 \\ @{negative_slope} & \text{else} \end{cases}",
        "(1 where x > 0, else negative_slope)",
        "Slope 1 on the right; on the left a small slope instead of none, so that no unit dies.",
        lambda n: _pick(n.saved_or("self", n.saved_or("result", None)) > 0, 1.0, n.negative_slope, n.v),
        ("At x = 0 torch uses the left slope.",),
    ),
    elementwise(
        "elu",
        ("EluBackward0", "EluBackward1"),
        r"\begin{cases} @scale @self & @self > 0 \\ @scale @alpha (e^{@{input_scale} @self} - 1) & \text{else} \end{cases}",
        r"\begin{cases} @scale & @self > 0 \\ @scale @alpha @{input_scale} e^{@{input_scale} @self} & \text{else} \end{cases}",
        "(scale where x > 0, else scale * alpha * exp(x))",
        "A straight line on the right, an exponential that levels out at -alpha on the left.",
        lambda n: _elu_slope(n, n.alpha, n.scale, n.input_scale),
        (
            "selu is this op with alpha = 1.6733 and scale gamma = 1.0507; plain elu has gamma = kappa = 1.",
            "At x = 0 the left slope is used.",
        ),
    ),
    elementwise(
        "celu",
        ("CeluBackward0", "CeluBackward1"),
        r"\max(0, @self) + \min(0, @alpha (e^{@self / @alpha} - 1))",
        r"\begin{cases} 1 & @self > 0 \\ e^{@self / @alpha} & \text{else} \end{cases}",
        "(1 where x > 0, else exp(x / alpha))",
        "The exponential on the left is stretched by alpha so that both sides meet with slope 1.",
        lambda n: _elu_slope(n, n.alpha, 1.0, 1.0 / n.alpha),
    ),
    elementwise(
        "gelu",
        ("GeluBackward0",),
        r"@self \, \Phi(@self)",
        r"(\Phi(@self) + @self \, \varphi(@self))",
        "(Phi(x) + x * phi(x))",
        "The product rule: x times the bell curve's area Phi, whose slope is the bell curve phi.",
        _gelu_slope,
        ("approximate='tanh' replaces Phi by 0.5 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))); the product rule stays.",),
    ),
    elementwise(
        "silu",
        ("SiluBackward0",),
        r"@self \, \sigma(@self)",
        r"\sigma(@self) (1 + @self (1 - \sigma(@self)))",
        "sigmoid(x) * (1 + x * (1 - sigmoid(x)))",
        "The product rule: x times its own sigmoid, whose slope is sigma (1 - sigma).",
        lambda n: n.self.sigmoid() * (1 + n.self * (1 - n.self.sigmoid())),
    ),
    elementwise(
        "mish",
        ("MishBackward0",),
        r"@self \tanh(\log(1 + e^{@self}))",
        r"\left(w + @self \, \sigma(@self) (1 - w^2)\right), \; w = \tanh \log(1 + e^{@self})",
        "(w + x * sigmoid(x) * (1 - w^2)), w = tanh(softplus(x))",
        "The product rule, with the slope of tanh and of softplus inside.",
        _mish_slope,
    ),
    elementwise(
        "sigmoid",
        ("SigmoidBackward0",),
        r"\sigma(@self) = \frac{1}{1 + e^{-@self}}",
        r"@result (1 - @result)",
        "z * (1 - z)",
        "Never more than 1/4, and nearly 0 where the result z is near 0 or 1: in a deep chain gradients vanish.",
        lambda n: (1 - n.result) * n.result,
    ),
    elementwise(
        "log_sigmoid",
        ("LogSigmoidBackward0",),
        r"\log \sigma(@self)",
        r"\sigma(-@self)",
        "sigmoid(-x)",
        "The slope of the logarithm (1 / sigma) times that of the sigmoid (sigma (1 - sigma)) leaves 1 - sigma(x).",
        lambda n: (-n.self).sigmoid(),
    ),
    elementwise(
        "softplus",
        ("SoftplusBackward0",),
        r"\tfrac{1}{@beta} \log(1 + e^{@beta @self})",
        r"\sigma(@beta @self)",
        "sigmoid(beta * x)",
        "A relu with a round corner; its slope goes smoothly from 0 to 1 as the sigmoid does.",
        _softplus_slope,
        ("Where beta x is above the threshold (20 unless given) torch takes the straight line, with slope 1.",),
    ),
    elementwise(
        "hardtanh",
        ("HardtanhBackward0",),
        r"\min(\max(@self, \ell), u)",
        r"[\ell < @self < u]",
        "(1 where min < x < max, else 0)",
        _GATE,
        lambda n: ((n.self > n.min_val) & (n.self < n.max_val)).to(n.v.dtype),
        ("Exactly at a bound torch uses 0 here (clamp lets v pass).", "relu6 is this op with the bounds 0 and 6."),
    ),
    elementwise(
        "hardsigmoid",
        ("HardsigmoidBackward0",),
        r"\min(\max(\tfrac{1}{6} @self + \tfrac{1}{2}, 0), 1)",
        r"\tfrac{1}{6} [-3 < @self < 3]",
        "(1/6 where -3 < x < 3, else 0)",
        "A straight ramp between -3 and 3, flat outside.",
        lambda n: _pick((n.self > -3) & (n.self < 3), _ONE_SIXTH, 0.0, n.v),
        ("Exactly at -3 and 3 torch uses 0.",),
    ),
    elementwise(
        "hardswish",
        ("HardswishBackward0",),
        r"@self \cdot \min(\max(\tfrac{1}{6} @self + \tfrac{1}{2}, 0), 1)",
        r"\begin{cases} 0 & @self \le -3 \\ \tfrac{1}{3} @self + \tfrac{1}{2} & -3 < @self < 3 \\ 1 & @self \ge 3 \end{cases}",
        "(0, x / 3 + 1/2, or 1)",
        "0 on the left, x itself on the right, a parabola between.",
        _hardswish_slope,
    ),
    elementwise(
        "softshrink",
        ("SoftshrinkBackward0",),
        r"\operatorname{sign}(@self) \max(|@self| - @lambd, 0)",
        r"[|@self| > @lambd]",
        "(1 where |x| > lambda, else 0)",
        "Small values are stuck at 0; the others are shifted, which keeps slope 1.",
        lambda n: (n.self.abs() > n.lambd).to(n.v.dtype),
    ),
    elementwise(
        "hardshrink",
        ("HardshrinkBackward0",),
        r"@self \, [|@self| > @lambd]",
        r"[|@self| > @lambd]",
        "(1 where |x| > lambda, else 0)",
        "Small values are replaced by 0; the others are x itself.",
        lambda n: (n.self.abs() > n.lambd).to(n.v.dtype),
    ),
    elementwise(
        "rrelu",
        ("RreluWithNoiseBackward0", "RreluWithNoiseBackward1", "RreluWithNoiseFunctionalBackward0"),
        r"@self \odot r, \; r = 1 \text{ where } @self > 0, \text{ else a random slope}",
        r"r",
        "r",
        "The slope that was drawn in the forward pass is used again in the backward pass.",
        _rrelu_slope,
        ("In evaluation the slope on the left is the middle of the two bounds.",),
    ),
    Entry(
        "prelu",
        ("PreluKernelBackward0",),
        r"@result = \max(0, @self) + @weight \min(0, @self)",
        (
            Vjp(
                "self",
                r"@v \odot \begin{cases} 1 & @self > 0 \\ @weight & \text{else} \end{cases}",
                "v where x > 0, else w * v",
                "Slope 1 on the right, the learned slope w on the left.",
                lambda n: torch.where(n.self > 0, n.v, n.weight * n.v),
            ),
            Vjp(
                "weight",
                r"@v \odot \min(0, @self)",
                "v * min(0, x)",
                "w multiplies x where x is negative, and does nothing elsewhere.",
                lambda n: torch.where(n.self > 0, torch.zeros_like(n.v), n.self * n.v),
            ),
        ),
        ("At x = 0 torch uses the left slope w.", BROADCAST),
        {"weight": "w"},
    ),
    Entry(
        "glu",
        ("GluBackward0",),
        r"@result = a \odot \sigma(b), \; (a, b) = \text{halves of } @self",
        (
            Vjp(
                "self",
                r"\left(@v \odot \sigma(b), \; @v \odot a \odot \sigma(b) (1 - \sigma(b))\right)",
                "(v * sigmoid(b), v * a * sigmoid(b) * (1 - sigmoid(b)))",
                "The product rule: the first half is scaled by the gate, the second half moves the gate.",
                _glu,
            ),
        ),
    ),
    Entry(
        "softmax",
        ("SoftmaxBackward0", "SafeSoftmaxBackward0"),
        r"@result_i = \frac{e^{@{self}_i}}{\sum_j e^{@{self}_j}}",
        (
            Vjp(
                "self",
                r"@result \odot \left(@v - \textstyle\sum_j @{v}_j \, @{result}_j\right)",
                "z * (v - sum(v * z))",
                _SOFTMAX,
                _softmax,
            ),
        ),
        (
            "v all ones gives 0: the sum of the shares is 1 whatever x is.",
            "The sum runs over dim only; other axes are independent rows.",
        ),
    ),
    Entry(
        "log_softmax",
        ("LogSoftmaxBackward0",),
        r"@{result}_i = @{self}_i - \log \textstyle\sum_j e^{@{self}_j}",
        (
            Vjp(
                "self",
                r"@v - e^{@result} \textstyle\sum_j @{v}_j",
                "v - exp(z) * sum(v)",
                "Every result moves with its own score (v), and all are lowered by the common logarithm, whose slope is the softmax e^z.",
                _log_softmax,
            ),
        ),
        ("With cross entropy v is -1/N at the target and 0 elsewhere, and this becomes (softmax - one-hot) / N.",),
    ),
    Entry(
        "clamp",
        ("ClampBackward0", "ClampBackward1"),
        r"@result = \min(\max(@self, @min), @max)",
        (
            Vjp("self", r"@v \odot [@min \le @self \le @max]", "v where min <= x <= max, else 0", _GATE, _inside),
            Vjp("min", r"@v \odot [@self < @min]", "v where x < min, else 0", _BOUND, _at_min),
            Vjp("max", r"@v \odot [@self > @max]", "v where x > max, else 0", _BOUND, _at_max),
        ),
        (_EXACT_BOUND, BROADCAST, "If min is above max, the result is max, and max gets v."),
    ),
    Entry(
        "clamp_min",
        ("ClampMinBackward0", "ClampMinBackward1"),
        r"@result = \max(@self, @min)",
        (
            Vjp(
                "self",
                r"@v \odot [@self \ge @min]",
                "v where x >= min, else 0",
                _GATE,
                lambda n: n.v.masked_fill(~(n.self >= n.min), 0),
            ),
            Vjp(
                "min",
                r"@v \odot [@self < @min]",
                "v where x < min, else 0",
                _BOUND,
                lambda n: n.v.masked_fill(~(n.self < n.min), 0),
            ),
        ),
        (_EXACT_BOUND, BROADCAST),
    ),
    Entry(
        "clamp_max",
        ("ClampMaxBackward0", "ClampMaxBackward1"),
        r"@result = \min(@self, @max)",
        (
            Vjp(
                "self",
                r"@v \odot [@self \le @max]",
                "v where x <= max, else 0",
                _GATE,
                lambda n: n.v.masked_fill(~(n.self <= n.max), 0),
            ),
            Vjp(
                "max",
                r"@v \odot [@self > @max]",
                "v where x > max, else 0",
                _BOUND,
                lambda n: n.v.masked_fill(~(n.self > n.max), 0),
            ),
        ),
        (_EXACT_BOUND, BROADCAST),
    ),
)
