"""Loss functions. Most compare a prediction x with a target t element by element, then average or add up."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import math
from collections.abc import Callable

import torch

from gradwalk.formulas.entry import Entry, Given, Reason, Vjp, why, zero
from gradwalk.formulas.expression import Expression, Named, apply, mean, number, reshape, total, where

_MEAN, _SUM = 1, 2
"""torch's numbers for reduction='mean' and 'sum'."""
_HALF = number(1) / 2
_TARGET = why("why-mse-loss-target", "target", "self")


def _averaged(n: Given, sent: Expression) -> Expression:
    """What is sent to each element, divided by their count where the terms are averaged."""
    count = math.prod(n.self.shape)
    return sent / count if n.reduction == _MEAN and count != 1 else sent


def _gathered(n: Given, terms: Expression) -> Expression:
    """What becomes of the terms: their mean, their sum, or each for itself."""
    return mean(terms) if n.reduction == _MEAN else total(terms) if n.reduction == _SUM else terms


def _weighted(n: Given, value: Expression) -> Expression:
    weight = n.saved_or("weight", None)
    return value if weight is None else value * weight


def _pairwise(  # noqa: PLR0913 - a loss has this many things to say
    op: str,
    node_name: str,
    term: Callable[[Given, Expression], Expression],
    sent: Callable[[Given, Expression], Expression],
    because: Reason,
    special_cases: tuple[Reason, ...] = (),
) -> Entry:
    """A loss of the difference x - t: both operands have the same slope with opposite signs."""
    return Entry(
        op,
        (node_name,),
        lambda n: _gathered(n, term(n, n.operand("self") - n.operand("target"))),
        (
            Vjp("self", lambda n: _averaged(n, sent(n, n.self - n.target)), because),
            Vjp("target", lambda n: _averaged(n, sent(n, n.target - n.self)), _TARGET),
        ),
        special_cases,
    )


def _smooth_l1(n: Given, difference: Expression) -> Expression:
    size = apply("abs", difference)
    if n.beta == 0:
        return size
    near = _HALF * difference**2 if n.beta == 1 else difference**2 / (number(2) * n.beta)
    return where(size < n.beta, near, size - number(n.beta) / 2)


def _smooth_l1_sent(n: Given, difference: Expression) -> Expression:
    sign = apply("sign", difference)
    if n.beta == 0:
        return n.v * sign
    near = difference if n.beta == 1 else difference / n.beta
    return n.v * where(apply("abs", difference) < n.beta, near, sign)


def _huber(n: Given, difference: Expression) -> Expression:
    size = apply("abs", difference)
    far = size - number(n.delta) / 2
    return where(size <= n.delta, _HALF * difference**2, far if n.delta == 1 else n.delta * far)


def _cross_entropy(n: Given) -> Expression:
    x, t = n.operand("self"), n.operand("target")
    return -_gathered(n, _weighted(n, t * _bounded_log(x) + (1 - t) * _bounded_log(1 - x)))


def _bounded_log(x: Expression) -> Expression:
    """torch keeps both logarithms at -100 or more, so that a sure and wrong answer costs 100 and not infinity."""
    return apply("max", apply("log", x), number(-100))


def _cross_entropy_sent(n: Given) -> Expression:
    x, t = n.self, n.target
    # torch keeps this constant in single precision.
    least = apply("float32", 1e-12) if n.kinds()["v"].dtype == torch.float64 else number(1e-12)
    return _averaged(n, _weighted(n, n.v) * (x - t) / apply("max", x * (1 - x), least))


def _logits(n: Given) -> Expression:
    x, t, positive = n.operand("self"), n.operand("target"), n.saved_or("pos_weight", None)
    hits = t if positive is None else positive * t
    return _gathered(n, _weighted(n, hits * apply("softplus", -x) + (1 - t) * apply("softplus", x)))


def _logits_sent(n: Given) -> Expression:
    chance, t, positive = apply("sigmoid", n.self), n.target, n.saved_or("pos_weight", None)
    slope = chance - t if positive is None else (positive * t + 1 - t) * chance - positive * t
    return _averaged(n, _weighted(n, n.v) * slope)


def _logits_sent_to_target(n: Given) -> Expression:
    x, positive = n.self, n.saved_or("pos_weight", None)
    if positive is None:
        return -_averaged(n, _weighted(n, n.v) * x)
    return _averaged(n, _weighted(n, n.v) * (positive * apply("softplus", -x) - apply("softplus", x)))


def _per_class(n: Given, value: Expression) -> Expression:
    """The value times the class weight at the target class, 0 at all other classes."""
    shape, weight = n.operand("self").shape, n.saved_or("weight", None)
    classes = shape[0] if len(shape) == 1 else shape[1]
    if weight is not None:
        value = value * (reshape(weight, (classes, *[1] * (len(shape) - 2))) if len(shape) > 2 else weight)
    hits = apply("one_hot", n.operand("target"), num_classes=classes)
    if len(shape) > 2:
        hits = apply("permute", hits, dims=(0, len(shape) - 1, *range(1, len(shape) - 1)))
    return value * hits


def _leaves_out_a_class(n: Given) -> bool:
    """Whether ignore_index is the number of a class; what is none, as -100, has no place among the classes anyway."""
    shape = n.operand("self").shape
    return 0 <= n.ignore_index < (shape[0] if len(shape) == 1 else shape[1])


def _beside_classes(value: Expression, shape: tuple[int, ...]) -> Expression:
    """A value per target, so that it broadcasts over the classes of that target."""
    return reshape(value, (shape[0], 1, *shape[1:])) if shape else value


def _nll(n: Given) -> Expression:
    x, target = n.operand("self"), n.operand("target")
    terms = _per_class(n, x)
    if _leaves_out_a_class(n):
        terms = terms * _beside_classes(target.differs(n.ignore_index), target.shape)
    if n.reduction == _MEAN:
        return -(total(terms) / n.total_weight)
    return -total(terms, None if n.reduction == _SUM else (0 if x.rank == 1 else 1,))


def _nll_sent(n: Given) -> Expression:
    target, v = n.operand("target"), n.v
    if n.reduction == _MEAN and (target.shape or n.saved_or("weight", None) is not None):
        v = v / n.total_weight
    if not _leaves_out_a_class(n):
        return -_per_class(n, _beside_classes(v, n.v.shape))
    return -_per_class(n, _beside_classes(where(target.equals(n.ignore_index), 0, v), target.shape))


def _hits(n: Given) -> Expression:
    return apply("one_hot", n.operand("target"), num_classes=n.operand("self").shape[-1])


def _class_weighted(n: Given, value: Expression) -> Expression:
    """The value times the weight of each example's target class."""
    weight = n.saved_or("weight", None)
    return value if weight is None else value * total(weight * _hits(n), (-1,))


def _excess(n: Given) -> Expression:
    """How far each class is over the line: the right class's score less the margin."""
    x = n.operand("self")
    return n.margin - total(x * _hits(n), (-1,)) + x


def _multi_margin(n: Given) -> Expression:
    over = apply("max", _excess(n), 0)
    costs = _class_weighted(n, (1 - _hits(n)) * (over if n.p == 1 else over**2))
    return _gathered(n, total(costs, (-1,)) / n.operand("self").shape[-1])


def _multi_margin_sent(n: Given) -> Expression:
    if not n.self.shape:
        # A single class, which is the right one.
        return zero(n)
    over, hits = _excess(n), _hits(n)
    # The right class is pushed as well, by its margin to itself; that cancels in the difference.
    pushes = Named("P", _class_weighted(n, where(over > 0, 1, 0) if n.p == 1 else 2 * apply("max", over, 0)))
    v = reshape(n.v, (*n.v.shape, 1)) if n.v.shape else n.v
    count = math.prod(n.self.shape) if n.reduction == _MEAN else n.self.shape[-1]
    return v * (pushes - hits * total(pushes, (-1,))) / count


def _of_log_probabilities(op: str, node_name: str) -> Entry:
    because = why("why-nll-loss")
    return Entry(
        op,
        (node_name,),
        _nll,
        (Vjp("self", _nll_sent, because),),
        (
            why("case-nll-loss", "target"),
            why("case-nll-ignored"),
        ),
        {"weight": "w", "total_weight": r"\Omega"},
    )


LOSSES: tuple[Entry, ...] = (
    _pairwise(
        "mse_loss",
        "MseLossBackward0",
        lambda _, difference: difference**2,
        lambda n, difference: 2 * n.v * difference,
        why("why-mse-loss"),
    ),
    _pairwise(
        "smooth_l1_loss",
        "SmoothL1LossBackward0",
        _smooth_l1,
        _smooth_l1_sent,
        why("why-smooth-l1-loss"),
        (why("case-smooth-l1-loss"),),
    ),
    _pairwise(
        "huber_loss",
        "HuberLossBackward0",
        _huber,
        lambda n, difference: n.v * apply("clamp", difference, min=-n.delta, max=n.delta),
        why("why-huber-loss"),
    ),
    Entry(
        "binary_cross_entropy",
        ("BinaryCrossEntropyBackward0",),
        _cross_entropy,
        (
            Vjp(
                "self",
                _cross_entropy_sent,
                why("why-binary-cross-entropy", "self", "target"),
            ),
            Vjp(
                "target",
                lambda n: _averaged(n, _weighted(n, n.v) * (apply("log", 1 - n.self) - apply("log", n.self))),
                why("why-binary-cross-entropy-target"),
            ),
        ),
        (why("case-binary-cross-entropy"),),
        {"weight": "w"},
    ),
    Entry(
        "binary_cross_entropy_with_logits",
        ("BinaryCrossEntropyWithLogitsBackward0",),
        _logits,
        (
            Vjp(
                "self",
                _logits_sent,
                why("why-binary-cross-entropy-with-logits"),
            ),
            Vjp("target", _logits_sent_to_target, why("why-binary-cross-entropy-with-logits-target")),
        ),
        letters={"weight": "w"},
    ),
    _of_log_probabilities("nll_loss", "NllLossBackward0"),
    _of_log_probabilities("nll_loss2d", "NllLoss2DBackward0"),
    Entry(
        "soft_margin_loss",
        ("SoftMarginLossBackward0",),
        lambda n: _gathered(n, apply("softplus", -(n.operand("target") * n.operand("self")))),
        (
            Vjp(
                "self",
                lambda n: -_averaged(n, n.v * n.target * apply("sigmoid", -(n.target * n.self))),
                why("why-soft-margin-loss"),
            ),
        ),
    ),
    Entry(
        "multi_margin_loss",
        ("MultiMarginLossBackward0",),
        _multi_margin,
        (
            Vjp(
                "self",
                _multi_margin_sent,
                why("why-multi-margin-loss"),
            ),
        ),
        letters={"weight": "w"},
    ),
)
