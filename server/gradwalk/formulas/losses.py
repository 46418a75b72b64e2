"""Loss functions. Most compare a prediction x with a target t element by element, then average or add up."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import torch
from torch import Tensor
from torch.nn import functional

from gradwalk.formulas.formula import Entry, Evaluate, NodeView, Vjp

_MEAN = 1
"""torch's number for reduction='mean'."""
_REDUCTION = "reduction='mean' divides by the number of elements n, 'sum' does not, 'none' keeps a v for every element."
_TARGET = "The same the other way round: moving the target towards x helps as much as moving x towards the target."


def _reduced(n: NodeView, slope: Tensor) -> Tensor:
    """v times the slope of each term, divided by the count where the terms are averaged."""
    return n.v * slope / slope.numel() if n.reduction == _MEAN else n.v * slope


def _weighted(n: NodeView, slope: Tensor) -> Tensor:
    weight = n.saved_or("weight", None)
    return _reduced(n, slope if weight is None else slope * weight)


def _pairwise(  # noqa: PLR0913 - a loss has this many things to say
    op: str,
    node_name: str,
    forward: str,
    latex: str,
    text: str,
    because: str,
    slope: Evaluate,
    special_cases: tuple[str, ...],
) -> Entry:
    """A loss of the difference x - t: both operands have the same slope with opposite signs."""
    return Entry(
        op,
        (node_name,),
        rf"@result = \tfrac{{1}}{{@count}} \textstyle\sum_i {forward}",
        (
            Vjp(
                "self",
                rf"\tfrac{{1}}{{@count}} @v \odot {latex}",
                f"v * {text} / n",
                because,
                lambda n: _reduced(n, slope(n)),
            ),
            Vjp(
                "target",
                rf"-\tfrac{{1}}{{@count}} @v \odot {latex}",
                f"-v * {text} / n",
                _TARGET,
                lambda n: _reduced(n, -slope(n)),
            ),
        ),
        (*special_cases, _REDUCTION),
    )


def _smooth_l1(n: NodeView) -> Tensor:
    difference = n.self - n.target
    if n.beta == 0:
        return difference.sign()
    return torch.where(difference.abs() < n.beta, difference / n.beta, difference.sign())


def _huber(n: NodeView) -> Tensor:
    difference = n.self - n.target
    return difference.clamp(-n.delta, n.delta)


def _cross_entropy(n: NodeView) -> Tensor:
    x, t = n.self, n.target
    return _weighted(n, (x - t) / (x * (1 - x)).clamp_min(1e-12))


def _cross_entropy_target(n: NodeView) -> Tensor:
    return _weighted(n, (-n.self).log1p() - n.self.log())


def _logits(n: NodeView) -> Tensor:
    positive = n.saved_or("pos_weight", None)
    hits = n.target if positive is None else positive * n.target
    return _weighted(n, (hits + 1 - n.target) * n.self.sigmoid() - hits)


def _logits_target(n: NodeView) -> Tensor:
    positive = n.saved_or("pos_weight", None)
    if positive is None:
        return _weighted(n, -n.self)
    return _weighted(n, functional.logsigmoid(-n.self) - positive * functional.logsigmoid(n.self))


def _nll(n: NodeView) -> Tensor:
    """Minus the class weight at the target class, 0 at all other classes and at ignored places."""
    x = n.self
    axis = 0 if x.dim() == 1 else 1
    ignored = n.target == n.ignore_index
    classes = n.target.masked_fill(ignored, 0)
    weight = n.saved_or("weight", None)
    share = torch.ones_like(classes, dtype=n.v.dtype) if weight is None else weight.to(n.v.dtype)[classes]
    v = n.v / n.total_weight if n.reduction == _MEAN else n.v
    terms = (-v * share).masked_fill(ignored, 0)
    return torch.zeros_like(x).scatter(axis, classes.unsqueeze(axis), terms.unsqueeze(axis))


def _soft_margin(n: NodeView) -> Tensor:
    return _reduced(n, -n.target * (-n.target * n.self).sigmoid())


def _multi_margin(n: NodeView) -> Tensor:
    x = n.self if n.self.dim() > 1 else n.self.reshape(1, -1)
    target = n.target.reshape(-1, 1)
    violation = n.margin - x.gather(1, target) + x
    slope = (violation > 0).to(x.dtype) if n.p == 1 else 2 * violation.clamp_min(0)
    slope = slope.scatter(1, target, 0) / x.shape[1]
    weight = n.saved_or("weight", None)
    slope = slope if weight is None else slope * weight[target]
    slope = slope.scatter(1, target, -slope.sum(1, keepdim=True))
    v = n.v / x.shape[0] if n.reduction == _MEAN else n.v
    return (v.reshape(-1, 1) * slope).reshape(n.shape)


_NLL = Vjp(
    "self",
    r"-\frac{@v \, w_t}{\sum w} \text{ at class } @target, \; 0 \text{ elsewhere}",
    "-v * w[t] / sum(w) at the target class, 0 elsewhere",
    "Only the log-probability of the right class is looked at, and more of it means less loss.",
    _nll,
)
_NLL_CASES = (
    "The target gets no gradient: it is a class number.",
    "Places with target ignore_index (-100 unless given) get 0 and do not count in the mean.",
    "reduction='mean' divides by the sum of the class weights met, 'sum' does not, 'none' keeps a v for every element.",
)

LOSSES: tuple[Entry, ...] = (
    _pairwise(
        "mse_loss",
        "MseLossBackward0",
        r"(@{self}_i - @{target}_i)^2",
        r"2 (@self - @target)",
        "2 * (x - t)",
        "The square's slope: the farther off, the harder it pulls back.",
        lambda n: 2 * (n.self - n.target),
        (),
    ),
    _pairwise(
        "smooth_l1_loss",
        "SmoothL1LossBackward0",
        r"\begin{cases} \tfrac{1}{2 @beta} (x_i - t_i)^2 & |x_i - t_i| < @beta \\ |x_i - t_i| - \tfrac{@beta}{2} & \text{else} \end{cases}",
        r"\begin{cases} (@self - @target) / @beta & |@self - @target| < @beta \\ \operatorname{sign}(@self - @target) & \text{else} \end{cases}",
        "((x - t) / beta near the target, sign(x - t) far from it)",
        "Near the target a parabola, far from it a straight line, so outliers pull with a constant force.",
        _smooth_l1,
        ("beta = 0 is the plain l1 loss.",),
    ),
    _pairwise(
        "huber_loss",
        "HuberLossBackward0",
        r"\begin{cases} \tfrac{1}{2} (x_i - t_i)^2 & |x_i - t_i| \le @delta \\ @delta (|x_i - t_i| - \tfrac{@delta}{2}) & \text{else} \end{cases}",
        r"\operatorname{clamp}(@self - @target, -@delta, @delta)",
        "clamp(x - t, -delta, delta)",
        "As for the square, but the pull is capped at delta: that is gradient clipping, built into the loss.",
        _huber,
        (),
    ),
    Entry(
        "binary_cross_entropy",
        ("BinaryCrossEntropyBackward0",),
        r"@result = -\tfrac{1}{@count} \textstyle\sum_i w_i \left(@{target}_i \log @{self}_i + (1 - @{target}_i) \log(1 - @{self}_i)\right)",
        (
            Vjp(
                "self",
                r"\tfrac{1}{@count} @v \odot w \odot \frac{@self - @target}{@self (1 - @self)}",
                "v * w * (x - t) / (x * (1 - x)) / n",
                "The error x - t, blown up where x is close to 0 or 1: there the logarithm is steep.",
                _cross_entropy,
            ),
            Vjp(
                "target",
                r"\tfrac{1}{@count} @v \odot w \odot \left(\log(1 - @self) - \log @self\right)",
                "v * w * (log(1 - x) - log(x)) / n",
                "The target mixes the two logarithms.",
                _cross_entropy_target,
            ),
        ),
        ("The divisor x (1 - x) is kept at 1e-12 or more.", _REDUCTION, "Without weights w is 1."),
    ),
    Entry(
        "binary_cross_entropy_with_logits",
        ("BinaryCrossEntropyWithLogitsBackward0",),
        r"@result = -\tfrac{1}{@count} \textstyle\sum_i w_i \left(@{target}_i \log \sigma(@{self}_i) + (1 - @{target}_i) \log \sigma(-@{self}_i)\right)",
        (
            Vjp(
                "self",
                r"\tfrac{1}{@count} @v \odot w \odot (\sigma(@self) - @target)",
                "v * w * (sigmoid(x) - t) / n",
                "What the sigmoid makes steep in the logarithm it makes flat itself; only the error is left.",
                _logits,
            ),
            Vjp(
                "target",
                r"-\tfrac{1}{@count} @v \odot w \odot @self",
                "-v * w * x / n",
                "The difference of the two logarithms is x itself.",
                _logits_target,
            ),
        ),
        ("pos_weight p scales the terms of the positives: (p t + 1 - t) sigma(x) - p t.", _REDUCTION),
    ),
    Entry(
        "nll_loss",
        ("NllLossBackward0",),
        r"@result = -\frac{\sum_i w_{@{target}_i} \, @{self}_{i, @{target}_i}}{\sum_i w_{@{target}_i}}",
        (_NLL,),
        _NLL_CASES,
    ),
    Entry(
        "nll_loss2d",
        ("NllLoss2DBackward0",),
        r"@result = -\frac{\sum_p w_{@{target}_p} \, @{self}_{p, @{target}_p}}{\sum_p w_{@{target}_p}} \quad (p \text{ over images and pixels})",
        (_NLL,),
        _NLL_CASES,
    ),
    Entry(
        "soft_margin_loss",
        ("SoftMarginLossBackward0",),
        r"@result = \tfrac{1}{@count} \textstyle\sum_i \log(1 + e^{-@{target}_i @{self}_i})",
        (
            Vjp(
                "self",
                r"-\tfrac{1}{@count} @v \odot @target \odot \sigma(-@target \odot @self)",
                "-v * t * sigmoid(-t * x) / n",
                "A wrong sign is pulled with almost full force, a clear right one hardly at all.",
                _soft_margin,
            ),
        ),
        (_REDUCTION,),
    ),
    Entry(
        "multi_margin_loss",
        ("MultiMarginLossBackward0",),
        r"@result = \tfrac{1}{C} \textstyle\sum_{j \ne @target} w_{@target} \max(0, m - @{self}_{@target} + @{self}_j)^p",
        (
            Vjp(
                "self",
                r"\tfrac{1}{C} @v \, w_{@target} [m - @{self}_{@target} + @{self}_j > 0] \text{ at } j, \text{ minus their sum at } @target",
                "v * w[t] / C at every class that comes too close, minus their sum at the target",
                "Each class that comes closer than the margin is pushed down, and the right class up by as much.",
                _multi_margin,
            ),
        ),
        ("Written for p = 1; p = 2 scales each push with twice the violation.", _REDUCTION),
    ),
)
