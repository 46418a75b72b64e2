"""Layer, batch, group and RMS normalisation, weight normalisation and dropout."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

from collections.abc import Callable

from gradwalk.formulas.entry import Entry, Formula, Given, Reason, Vjp, why, zero
from gradwalk.formulas.expression import Expression, Named, Symbol, apply, mean, number, ones, reshape, total

_NORMALISED = why("why-native-layer-norm")
_GAIN = why("why-native-layer-norm-weight", "weight")
_OFFSET = why("why-native-layer-norm-bias", "bias")
_LETTERS = {
    "weight": r"\gamma",
    "bias": r"\beta",
    "result1": r"\mu",
    "result2": "rstd",
    "running_mean": r"\mu",
    "running_var": "var",
}
_RSTD = why("case-rstd")

Dims = tuple[int, ...]


def _through(g: Expression, normalised: Expression, dims: Dims) -> Expression:
    return g - mean(g, dims) - normalised * mean(g * normalised, dims)


def _scaled(v: Expression, weight: Expression | None, rstd: Expression) -> Expression:
    """What is sent on by gain and spread alone; mean and spread of its group of numbers take their part of that back."""
    return Named("g", (v if weight is None else v * weight) * rstd)


def _affine(normalised: Expression, weight: Expression | None, bias: Expression | None) -> Expression:
    scaled = normalised if weight is None else normalised * weight
    return scaled if bias is None else scaled + bias


def _layer_dims(n: Given) -> Dims:
    rank = n.input.rank
    return tuple(range(rank - len(n.normalized_shape), rank))


def _outer_dims(n: Given) -> Dims:
    return tuple(range(n.input.rank - len(n.normalized_shape)))


def _layer_normalised(n: Given) -> Expression:
    return Named("xhat", (n.input - n.result1) * n.result2)


def _layer_input(n: Given) -> Expression:
    g = _scaled(n.v, n.saved_or("weight", None), n.result2)
    return _through(g, _layer_normalised(n), _layer_dims(n))


def _rms_normalised(n: Given) -> Expression:
    return Named("xhat", n.input * n.result1)


def _rms_input(n: Given) -> Expression:
    g, normalised = _scaled(n.v, n.saved_or("weight", None), n.result1), _rms_normalised(n)
    return g - normalised * mean(g * normalised, _layer_dims(n))


def _per_channel(n: Given, value: Symbol) -> Expression:
    """A value per channel, so that it broadcasts against the input."""
    return value if n.input.rank == 2 else reshape(value, (1, n.input.shape[1], *[1] * (n.input.rank - 2)))


def _batch_dims(n: Given) -> Dims:
    return (0, *range(2, n.input.rank))


def _running_std(n: Given) -> Expression:
    return apply("sqrt", _per_channel(n, n.running_var) + n.eps)


def _batch_normalised(n: Given) -> Expression:
    """By the mean and spread of this batch while training, else by the running ones."""
    if n.training:
        return Named("xhat", (n.input - _per_channel(n, n.result1)) * _per_channel(n, n.result2))
    return Named("xhat", (n.input - _per_channel(n, n.running_mean)) / _running_std(n))


def _batch_gain(n: Given) -> Expression | None:
    weight = n.saved_or("weight", None)
    return None if weight is None else _per_channel(n, weight)


def _batch_forward(n: Given) -> Expression:
    weight = _batch_gain(n)
    return _affine(_batch_normalised(n), weight, None if weight is None else _per_channel(n, n.operand("bias")))


def _batch_input(n: Given) -> Expression:
    weight = _batch_gain(n)
    if n.training:
        g = _scaled(n.v, weight, _per_channel(n, n.result2))
        return _through(g, _batch_normalised(n), _batch_dims(n))
    return (n.v if weight is None else n.v * weight) / _running_std(n)


def _grouped(n: Given, value: Symbol) -> Expression:
    return reshape(value, (n.N, n.group, n.C // n.group, n.HxW))


def _group_statistic(n: Given, value: Symbol) -> Expression:
    return reshape(value, (n.N, n.group, 1, 1))


def _group_normalised(n: Given) -> Expression:
    return Named("xhat", (_grouped(n, n.input) - _group_statistic(n, n.result1)) * _group_statistic(n, n.result2))


def _group_forward(n: Given) -> Expression:
    shape, per_channel = n.operand("input").shape, (1, n.C, *[1] * (len(n.operand("input").shape) - 2))
    weight, has_bias = n.saved_or("weight", None), n.operand_shapes[2] is not None
    gain = None if weight is None else reshape(weight, per_channel)
    if weight is not None and not has_bias:
        raise NotImplementedError("whether there is a bias is not known")
    return _affine(
        reshape(_group_normalised(n), shape), gain, reshape(n.operand("bias"), per_channel) if has_bias else None
    )


def _group_input(n: Given) -> Expression:
    rstd, normalised = _group_statistic(n, n.result2), _group_normalised(n)
    v, to_mean, to_rstd = n.seeds
    count = n.C // n.group * n.HxW
    found: Expression | None = None
    if v is not None:
        weight = n.saved_or("weight", None)
        gain = None if weight is None else reshape(weight, (1, n.group, n.C // n.group, 1))
        found = _through(_scaled(_grouped(n, v), gain, rstd), normalised, (2, 3))
    if to_mean is not None:
        spread = _group_statistic(n, to_mean) * ones((1, 1, n.C // n.group, n.HxW)) / count
        found = spread if found is None else found + spread
    if to_rstd is not None:
        narrowing = _group_statistic(n, to_rstd) * rstd**2 * normalised / count
        found = -narrowing if found is None else found - narrowing
    if found is None:
        raise NotImplementedError("nothing arrived")
    return reshape(found, n.shape)


def _dropped(n: Given, value: Expression) -> Expression:
    if not n.saved_or("train", True):
        return value
    if n.p == 1:
        return zero(n)
    return value * n.result1 / (1 - number(n.p)) if n.p else value * n.result1


def _slice_dims(n: Given) -> Dims:
    """All dims but the one that has a length per place."""
    weight = n.operand("weight_v")
    return tuple(dim for dim in range(weight.rank) if dim != n.dim % weight.rank)


def _length(n: Given) -> Expression:
    dims = _slice_dims(n)
    shape = tuple(1 if dim in dims else size for dim, size in enumerate(n.operand("weight_v").shape))
    return n.result1 if n.result1.shape == shape else reshape(n.result1, shape)


def _direction(n: Given) -> Expression:
    return Named("what", n.operand("weight_v") / _length(n))


def _weight_norm_direction(n: Given) -> Expression:
    direction = _direction(n)
    return n.weight_g / _length(n) * (n.v - direction * total(direction * n.v, _slice_dims(n)))


def _as_normalised(n: Given) -> Expression:
    """v in the shape in which the input was normalised."""
    return _grouped(n, n.v) if n.has("group") else n.v


def _entry(  # noqa: PLR0913 - an entry has this many things to say
    op: str,
    nodes: tuple[str, ...],
    forward: Formula,
    to_input: Formula,
    because: Reason,
    normalised: Formula,
    gathered: Callable[[Given, Expression], Expression],
    special_cases: tuple[Reason, ...],
) -> Entry:
    """`gathered` adds up over all places where one gain or offset is used."""
    return Entry(
        op,
        nodes,
        forward,
        (
            Vjp("input", to_input, because),
            Vjp("weight", lambda n: gathered(n, _as_normalised(n) * normalised(n)), _GAIN),
            Vjp("bias", lambda n: gathered(n, _as_normalised(n)), _OFFSET),
        ),
        special_cases,
        _LETTERS,
    )


NORMALIZATION: tuple[Entry, ...] = (
    _entry(
        "native_layer_norm",
        ("NativeLayerNormBackward0",),
        lambda n: _affine(_layer_normalised(n), n.saved_or("weight", None), n.saved_or("bias", None)),
        _layer_input,
        _NORMALISED,
        _layer_normalised,
        lambda n, sent: total(sent, _outer_dims(n)),
        (
            why("case-native-layer-norm"),
            why("case-layer-norm-shift"),
            _RSTD,
        ),
    ),
    Entry(
        "rms_norm",
        ("FusedRmsNormBackward0",),
        lambda n: _affine(_rms_normalised(n), n.saved_or("weight", None), None),
        (
            Vjp(
                "input",
                _rms_input,
                why("why-rms-norm"),
            ),
            Vjp("weight", lambda n: total(n.v * _rms_normalised(n), _outer_dims(n)), _GAIN),
        ),
        (why("case-rms-norm"),),
        {"weight": r"\gamma", "result1": "rrms"},
    ),
    _entry(
        "native_batch_norm",
        ("NativeBatchNormBackward0", "NativeBatchNormLegitBackward0"),
        _batch_forward,
        _batch_input,
        why("why-native-batch-norm"),
        _batch_normalised,
        lambda n, sent: total(sent, _batch_dims(n)),
        (
            why("case-native-batch-norm"),
            _RSTD,
        ),
    ),
    _entry(
        "native_group_norm",
        ("NativeGroupNormBackward0",),
        _group_forward,
        _group_input,
        _NORMALISED,
        _group_normalised,
        lambda n, sent: reshape(total(sent, (0, 3)), (n.C,)),
        (
            why("case-native-group-norm"),
            why("case-group-norm-results"),
            _RSTD,
        ),
    ),
    Entry(
        "weight_norm",
        ("WeightNormInterfaceBackward0",),
        lambda n: n.operand("weight_g") * n.operand("weight_v") / _length(n),
        (
            Vjp(
                "weight_v",
                _weight_norm_direction,
                why("why-weight-norm-weight-v", "weight_v"),
            ),
            Vjp(
                "weight_g",
                lambda n: total(_direction(n) * n.v, _slice_dims(n)),
                why("why-weight-norm-weight-g", "weight_g", "weight_v"),
            ),
        ),
        letters={"weight_v": "w", "weight_g": "g", "result1": r"\ell"},
    ),
    Entry(
        "native_dropout",
        ("NativeDropoutBackward0",),
        lambda n: _dropped(n, n.operand("input")),
        (
            Vjp(
                "input",
                lambda n: _dropped(n, n.v),
                why("why-native-dropout"),
            ),
        ),
        (why("case-native-dropout"),),
        {"result1": "m"},
    ),
)
