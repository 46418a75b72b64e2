"""Layer, batch, group and RMS normalisation, weight normalisation and dropout."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import torch
from torch import Tensor

from gradwalk.formulas.formula import Entry, NodeView, Vjp

_NORMALISED = (
    "Three ways lead through: the element itself, the mean it moves, the spread it moves. "
    "The last two take back what every element of the group has in common."
)
_GAIN = "The gain multiplies the normalised input, and it is shared, so its gradient adds up over all places where it was used."
_OFFSET = "The offset is added at every place where it is used, so it gets the sum of v."
_X = r"\frac{1}{s} \left(g - \overline{g} - \hat{x} \, \overline{g \odot \hat{x}}\right), \; g = @v \odot @weight"
_X_TEXT = "(g - mean(g) - xhat * mean(g * xhat)) / s, where g = v * w"
_SYMBOLS = {"weight": r"\gamma", "bias": r"\beta"}
_FORWARD = r"@result = \hat{x} \odot @weight + @bias, \quad \hat{x} = \frac{@input - \mu}{s}"


def _through(g: Tensor, normalised: Tensor, inverse_spread: Tensor, axes: tuple[int, ...]) -> Tensor:
    mean, along = g.mean(axes, keepdim=True), (g * normalised).mean(axes, keepdim=True)
    return inverse_spread * (g - mean - normalised * along)


def _scaled(v: Tensor, weight: Tensor | None) -> Tensor:
    return v if weight is None else v * weight


def _layer_axes(n: NodeView) -> tuple[int, ...]:
    rank = n.input.dim()
    return tuple(range(rank - len(n.normalized_shape), rank))


def _layer_normalised(n: NodeView) -> Tensor:
    return (n.input - n.result1) * n.result2


def _layer_input(n: NodeView) -> Tensor:
    g = _scaled(n.v, n.saved_or("weight", None))
    return _through(g, _layer_normalised(n), n.result2, _layer_axes(n))


def _rms_normalised(n: NodeView) -> Tensor:
    return n.input * n.result1


def _rms_input(n: NodeView) -> Tensor:
    g, axes = _scaled(n.v, n.saved_or("weight", None)), _layer_axes(n)
    normalised = _rms_normalised(n)
    return n.result1 * (g - normalised * (g * normalised).mean(axes, keepdim=True))


def _per_channel(values: Tensor, rank: int) -> Tensor:
    return values.reshape(1, -1, *[1] * (rank - 2))


def _batch_axes(n: NodeView) -> tuple[int, ...]:
    return (0, *range(2, n.input.dim()))


def _batch_statistics(n: NodeView) -> tuple[Tensor, Tensor]:
    """Mean and 1/s: of this batch while training, else the running ones."""
    rank = n.input.dim()
    if n.training:
        return _per_channel(n.result1, rank), _per_channel(n.result2, rank)
    return _per_channel(n.running_mean, rank), _per_channel((n.running_var + n.eps).rsqrt(), rank)


def _batch_normalised(n: NodeView) -> Tensor:
    mean, inverse_spread = _batch_statistics(n)
    return (n.input - mean) * inverse_spread


def _batch_input(n: NodeView) -> Tensor:
    weight = n.saved_or("weight", None)
    g = _scaled(n.v, None if weight is None else _per_channel(weight, n.input.dim()))
    _, inverse_spread = _batch_statistics(n)
    if not n.training:
        return g * inverse_spread
    return _through(g, _batch_normalised(n), inverse_spread, _batch_axes(n))


def _grouped(n: NodeView, value: Tensor) -> Tensor:
    return value.reshape(n.N, n.group, n.C // n.group, n.HxW)


def _group_normalised(n: NodeView) -> Tensor:
    mean, inverse_spread = (value.reshape(n.N, n.group, 1, 1) for value in (n.result1, n.result2))
    return (_grouped(n, n.input) - mean) * inverse_spread


def _group_input(n: NodeView) -> Tensor:
    inverse_spread, normalised = n.result2.reshape(n.N, n.group, 1, 1), _group_normalised(n)
    v, to_mean, to_inverse_spread = n.grad_outputs
    total = torch.zeros_like(normalised)
    if v is not None:
        weight = n.saved_or("weight", None)
        gain = None if weight is None else weight.reshape(1, n.group, n.C // n.group, 1)
        total = total + _through(_scaled(_grouped(n, v), gain), normalised, inverse_spread, (2, 3))
    count = normalised.shape[2] * normalised.shape[3]
    if to_mean is not None:
        total = total + to_mean.reshape(n.N, n.group, 1, 1) / count
    if to_inverse_spread is not None:
        total = total - to_inverse_spread.reshape(n.N, n.group, 1, 1) * inverse_spread.pow(2) * normalised / count
    return total.reshape(n.shape)


def _group_weight(n: NodeView) -> Tensor:
    return (_grouped(n, n.v) * _group_normalised(n)).sum((0, 3)).reshape(n.C)


def _dropout(n: NodeView) -> Tensor:
    if not n.saved_or("train", True):
        return n.v
    return n.v * n.result1 * (0.0 if n.p == 1 else 1 / (1 - n.p))


def _weight_norm_parts(n: NodeView) -> tuple[Tensor, Tensor, Tensor]:
    """The direction, its length per slice along dim, and v's component along the direction."""
    weight = n.saved_or("v", None)
    axes = tuple(axis for axis in range(weight.dim()) if axis != n.dim % weight.dim())
    length = n.result1.reshape([size if axis not in axes else 1 for axis, size in enumerate(weight.shape)])
    direction = weight / length
    return direction, length, (n.v * direction).sum(axes, keepdim=True)


def _weight_norm_direction(n: NodeView) -> Tensor:
    direction, length, along = _weight_norm_parts(n)
    return n.g / length * (n.v - direction * along)


NORMALIZATION: tuple[Entry, ...] = (
    Entry(
        "native_layer_norm",
        ("NativeLayerNormBackward0",),
        _FORWARD,
        (
            Vjp("input", _X, _X_TEXT, _NORMALISED, _layer_input),
            Vjp(
                "weight",
                r"\textstyle\sum_{\text{rows}} @v \odot \hat{x}",
                "sum of v * xhat over the rows",
                _GAIN,
                lambda n: n.v * _layer_normalised(n),
            ),
            Vjp("bias", r"\textstyle\sum_{\text{rows}} @v", "sum of v over the rows", _OFFSET, lambda n: n.v),
        ),
        (
            "Mean and spread are of each row by itself, over the axes in normalized_shape.",
            "v all ones gives 0 for x where the gain is constant: shifting a row is undone by the normalisation.",
        ),
        _SYMBOLS,
    ),
    Entry(
        "rms_norm",
        ("FusedRmsNormBackward0",),
        r"@result = \hat{x} \odot @weight, \quad \hat{x} = \frac{@input}{\operatorname{rms}(@input)}",
        (
            Vjp(
                "input",
                r"\frac{1}{s} \left(g - \hat{x} \, \overline{g \odot \hat{x}}\right), \; g = @v \odot @weight",
                "(g - xhat * mean(g * xhat)) / s, where g = v * w",
                "Two ways lead through: the element itself, and the length of the row, which it moves.",
                _rms_input,
            ),
            Vjp(
                "weight",
                r"\textstyle\sum_{\text{rows}} @v \odot \hat{x}",
                "sum of v * xhat over the rows",
                _GAIN,
                lambda n: n.v * _rms_normalised(n),
            ),
        ),
        (),
        _SYMBOLS,
    ),
    Entry(
        "native_batch_norm",
        ("NativeBatchNormBackward0", "NativeBatchNormLegitBackward0"),
        _FORWARD,
        (
            Vjp("input", _X, _X_TEXT, _NORMALISED, _batch_input),
            Vjp(
                "weight",
                r"\textstyle\sum_{\text{batch}} @v \odot \hat{x}",
                "sum of v * xhat per channel",
                _GAIN,
                lambda n: (n.v * _batch_normalised(n)).sum(_batch_axes(n)),
            ),
            Vjp(
                "bias",
                r"\textstyle\sum_{\text{batch}} @v",
                "sum of v per channel",
                _OFFSET,
                lambda n: n.v.sum(_batch_axes(n)),
            ),
        ),
        (
            "While training, mean and spread are of the batch, per channel: every example's gradient depends on all others.",
            "In evaluation they are constants (the running ones), and x gets just v * gain / s.",
        ),
        _SYMBOLS,
    ),
    Entry(
        "native_group_norm",
        ("NativeGroupNormBackward0",),
        _FORWARD,
        (
            Vjp("input", _X, _X_TEXT, _NORMALISED, _group_input),
            Vjp("weight", r"\textstyle\sum @v \odot \hat{x}", "sum of v * xhat per channel", _GAIN, _group_weight),
            Vjp(
                "bias",
                r"\textstyle\sum @v",
                "sum of v per channel",
                _OFFSET,
                lambda n: n.v.reshape(n.N, n.C, n.HxW).sum((0, 2)),
            ),
        ),
        (
            "Mean and spread are of each group of channels of each example.",
            "They are results, too; if a program uses them, their gradients are added.",
        ),
        _SYMBOLS,
    ),
    Entry(
        "weight_norm",
        ("WeightNormInterfaceBackward0",),
        r"@result = g \frac{w}{\lVert w \rVert}",
        (
            Vjp(
                "v",
                r"\frac{g}{\lVert w \rVert} \left(@v - \hat{w} (\hat{w} \cdot @v)\right)",
                "g / |w| * (v - what * (what . v))",
                "Only the direction of w counts, so the part of v along w is taken out.",
                _weight_norm_direction,
            ),
            Vjp(
                "g",
                r"\hat{w} \cdot @v",
                "what . v",
                "g is the length of the result along the direction of w.",
                lambda n: _weight_norm_parts(n)[2],
            ),
        ),
    ),
    Entry(
        "native_dropout",
        ("NativeDropoutBackward0",),
        r"@result = \tfrac{1}{1 - p} \, m \odot @input",
        (
            Vjp(
                "input",
                r"\tfrac{1}{1 - p} \, @v \odot m",
                "v * mask / (1 - p)",
                "The same mask as in the forward pass: what was dropped had no effect, what was kept was scaled up.",
                _dropout,
            ),
        ),
        (
            "Outside training nothing is dropped and v passes. On the CPU nn.Dropout mostly runs as a plain product with the mask.",
        ),
    ),
)
