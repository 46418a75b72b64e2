"""Loss functions. Most compare a prediction x with a target t element by element, then average or add up."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import math
from collections.abc import Callable
from functools import partial

import torch

from gradwalk.formulas.entry import Entry, Formula, Given, Reason, Vjp, why, zero
from gradwalk.formulas.expression import Expression, Named, apply, mean, number, reshape, total, where

_MEAN, _SUM = 1, 2
"""torch's numbers for reduction='mean' and 'sum'."""
_HALF = number(1) / 2
_TARGET = why("why-mse-loss-target", "target", "self")


def averaged(n: Given, sent: Expression) -> Expression:
    """What is sent to each element, divided by their count where the terms are averaged."""
    count = math.prod(n.self.shape)
    return sent / count if n.reduction == _MEAN and count != 1 else sent


def gathered(n: Given, terms: Expression) -> Expression:
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
        lambda n: gathered(n, term(n, n.operand("self") - n.operand("target"))),
        (
            Vjp("self", lambda n: averaged(n, sent(n, n.self - n.target)), because),
            Vjp("target", lambda n: averaged(n, sent(n, n.target - n.self)), _TARGET),
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
    return -gathered(n, _weighted(n, t * _bounded_log(x) + (1 - t) * _bounded_log(1 - x)))


def _bounded_log(x: Expression) -> Expression:
    """torch keeps both logarithms at -100 or more, so that a sure and wrong answer costs 100 and not infinity."""
    return apply("max", apply("log", x), number(-100))


def _cross_entropy_sent(n: Given) -> Expression:
    x, t = n.self, n.target
    # torch keeps this constant in single precision.
    least = apply("float32", 1e-12) if n.kinds()["v"].dtype == torch.float64 else number(1e-12)
    return averaged(n, _weighted(n, n.v) * (x - t) / apply("max", x * (1 - x), least))


def _logits(n: Given) -> Expression:
    x, t, positive = n.operand("self"), n.operand("target"), n.saved_or("pos_weight", None)
    hits = t if positive is None else positive * t
    return gathered(n, _weighted(n, hits * apply("softplus", -x) + (1 - t) * apply("softplus", x)))


def _logits_sent(n: Given) -> Expression:
    chance, t, positive = apply("sigmoid", n.self), n.target, n.saved_or("pos_weight", None)
    slope = chance - t if positive is None else (positive * t + 1 - t) * chance - positive * t
    return averaged(n, _weighted(n, n.v) * slope)


def _logits_sent_to_target(n: Given) -> Expression:
    x, positive = n.self, n.saved_or("pos_weight", None)
    if positive is None:
        return -averaged(n, _weighted(n, n.v) * x)
    return averaged(n, _weighted(n, n.v) * (positive * apply("softplus", -x) - apply("softplus", x)))


def _class_dim(n: Given) -> int:
    return 0 if n.operand("self").rank == 1 else 1


def _per_class(n: Given, value: Expression) -> Expression:
    """The value times the class weight at the target class, 0 at all other classes."""
    weights = _class_weights(n)
    return (value if weights is None else value * weights) * _target_classes(n)


def _class_weights(n: Given) -> Expression | None:
    """Where there are any, so that they broadcast over what stands beside the classes."""
    shape, weight = n.operand("self").shape, n.saved_or("weight", None)
    if weight is None or len(shape) <= 2:
        return weight
    return reshape(weight, (shape[1], *[1] * (len(shape) - 2)))


def _target_classes(n: Given) -> Expression:
    """1 at the target class, 0 at all other classes."""
    shape, target = n.operand("self").shape, n.operand("target")
    hits = apply("one_hot", target, shape[_class_dim(n)])
    if len(shape) > 2:
        hits = apply("permute", hits, dims=(0, target.rank, *range(1, target.rank)))
    # Of images that are a row each, torch saves targets with a dim of size 1 more.
    return reshape(hits, shape) if target.rank >= len(shape) else hits


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
    return -total(terms, None if n.reduction == _SUM else (_class_dim(n),))


def _divided_by_weights(n: Given, value: Expression) -> Expression:
    """Where losses are averaged, divided by the weights of the targets; a single one of weight 1 is its own mean."""
    is_divided = n.reduction == _MEAN and (n.operand("target").shape or n.saved_or("weight", None) is not None)
    return value / n.total_weight if is_divided else value


def _nll_sent(n: Given) -> Expression:
    target, v = n.operand("target"), _divided_by_weights(n, n.v)
    if not _leaves_out_a_class(n):
        return -_per_class(n, _beside_classes(v, n.v.shape))
    return -_per_class(n, _beside_classes(where(target.equals(n.ignore_index), 0, v), target.shape))


def _counted(n: Given, value: Expression) -> Expression:
    """The value, 0 where the target is one to ignore."""
    counts, shape = n.operand("target").differs(n.ignore_index), n.operand("self").shape
    return value * (reshape(counts, (shape[0], 1, *shape[2:])) if len(shape) > 1 else counts)


def _is_distribution(n: Given) -> bool:
    """Whether the target says how likely each class is; else it is the number of one."""
    return n.kinds()["target"].dtype.is_floating_point


def _smoothed(n: Given) -> Expression:
    """The target as a distribution over the classes, some of which label smoothing deals out to all of them."""
    target = n.operand("target") if _is_distribution(n) else _target_classes(n)
    share = n.saved_or("label_smoothing", 0)
    if not share:
        return target
    return _left_by(share) * target + number(share) / n.operand("self").shape[_class_dim(n)]


def _left_by(share: float) -> float:
    """The rest of 1, without the last digits of a float: 0.9 is written as that."""
    return round(1 - share, 12)


def _wanted(n: Given) -> Expression:
    """That, times the class weights: what v meets the shares of the softmax with."""
    weights = _class_weights(n)
    return _smoothed(n) if weights is None else Named("q", _smoothed(n) * weights)


def _averaged_targets(n: Given, value: Expression) -> Expression:
    """Divided by the weights of the targets, or by the number of distributions."""
    if not _is_distribution(n):
        return _divided_by_weights(n, value)
    shape = n.operand("self").shape
    count = math.prod(shape) // shape[_class_dim(n)]
    return value / count if n.reduction == _MEAN and count != 1 else value


def _scores(n: Given, *, has_ignored: bool) -> Expression:
    logs = apply("log_softmax", n.operand("self"), dim=_class_dim(n))
    terms = _per_class(n, logs) if _is_plain(n) else _wanted(n) * logs
    terms = _counted(n, terms) if has_ignored else terms
    if n.reduction in (_MEAN, _SUM):
        return -_averaged_targets(n, total(terms))
    return -total(terms, (_class_dim(n),))


def _scores_sent(n: Given, *, has_ignored: bool) -> Expression:
    """To each class its likelihood, to the target class 1 less."""
    weights, sent = _class_weights(n), _beside_classes(n.v, n.v.shape)
    if weights is not None:
        sent = sent * total(weights * _target_classes(n), (_class_dim(n),))
    sent = _counted(n, sent) if has_ignored else sent
    return _divided_by_weights(n, sent * (_likelihoods(n) - _target_classes(n)))


def _likelihoods(n: Given) -> Expression:
    return apply("softmax", n.operand("self"), dim=_class_dim(n))


def _smoothly_sent(n: Given, *, has_ignored: bool = False, adds_up: bool = False) -> Expression:
    """To each class its likelihood less what is wanted of it; `adds_up` where that is 1 in all."""
    wanted, sent = _wanted(n), _beside_classes(n.v, n.v.shape)
    sent = _counted(n, sent) if has_ignored else sent
    likelihoods = _likelihoods(n) if adds_up else _likelihoods(n) * total(wanted, (_class_dim(n),))
    return _averaged_targets(n, sent * (likelihoods - wanted))


def _distribution_sent(n: Given) -> Expression:
    """To what was wanted of each class, what it costs."""
    weights, sent = _class_weights(n), _beside_classes(n.v, n.v.shape)
    share = n.saved_or("label_smoothing", 0)
    costs = apply("log_softmax", n.operand("self"), dim=_class_dim(n))
    costs = costs if weights is None else costs * weights
    return -_averaged_targets(n, sent * (costs if not share else _left_by(share) * costs))


def _hits(n: Given) -> Expression:
    return apply("one_hot", n.operand("target"), n.operand("self").shape[-1])


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
    return gathered(n, total(costs, (-1,)) / n.operand("self").shape[-1])


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


def _cross_entropy_of(
    node_names: tuple[str, ...], sent: Formula, because: Reason, *, has_ignored: bool = False
) -> Entry:
    """log_softmax and what follows as one call. Nothing that the nodes saved says whether some targets are ignored, or
    whether a target adds up to 1: of several entries the first that holds is told."""
    ignored = (why("case-nll-ignored"),) if has_ignored else ()
    return Entry(
        "cross_entropy",
        node_names,
        partial(_scores, has_ignored=has_ignored),
        (Vjp("self", sent, because), Vjp("target", _distribution_sent, why("why-cross-entropy-target"))),
        (why("case-nll-loss", "target"), *ignored),
        {"weight": "w", "total_weight": "N"},
    )


def _only(is_meant: Callable[[Given], bool], sent: Formula) -> Formula:
    """A formula for some options; for others it is not written."""

    def chosen(n: Given) -> Expression:
        if not is_meant(n):
            raise NotImplementedError
        return sent(n)

    return chosen


def _is_plain(n: Given) -> bool:
    return not n.saved_or("label_smoothing", 0) and not _is_distribution(n)


def _is_smoothed(n: Given) -> bool:
    return bool(n.saved_or("label_smoothing", 0)) and not _is_distribution(n)


_CLASSES = why("why-cross-entropy")
_WANTED = why("why-cross-entropy-smoothed")

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
                lambda n: averaged(n, _weighted(n, n.v) * (apply("log", 1 - n.self) - apply("log", n.self))),
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
    _cross_entropy_of(("CrossEntropyBackward0",), _only(_is_plain, partial(_scores_sent, has_ignored=False)), _CLASSES),
    _cross_entropy_of(
        ("CrossEntropyBackward1",),
        _only(_is_plain, partial(_scores_sent, has_ignored=True)),
        _CLASSES,
        has_ignored=True,
    ),
    # Smoothed labels without and with class weights, with some that are ignored, and distributions.
    _cross_entropy_of(("CrossEntropyBackward2",), _only(_is_smoothed, partial(_smoothly_sent, adds_up=True)), _WANTED),
    _cross_entropy_of(("CrossEntropyBackward3",), _only(_is_smoothed, _smoothly_sent), _WANTED),
    _cross_entropy_of(
        ("CrossEntropyBackward4",),
        _only(_is_smoothed, partial(_smoothly_sent, has_ignored=True)),
        _WANTED,
        has_ignored=True,
    ),
    _cross_entropy_of(("CrossEntropyBackward5",), partial(_smoothly_sent, adds_up=True), _WANTED),
    _cross_entropy_of(("CrossEntropyBackward6", "CrossEntropyBackward7"), _smoothly_sent, _WANTED),
    Entry(
        "soft_margin_loss",
        ("SoftMarginLossBackward0",),
        lambda n: gathered(n, apply("softplus", -(n.operand("target") * n.operand("self")))),
        (
            Vjp(
                "self",
                lambda n: -averaged(n, n.v * n.target * apply("sigmoid", -(n.target * n.self))),
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
