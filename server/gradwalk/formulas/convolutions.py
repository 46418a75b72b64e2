"""Convolutions of one, two and three dimensions, plain and transposed."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

from collections.abc import Sequence
from typing import Any

from gradwalk.formulas.entry import Entry, Given, Vjp, per_axis, why
from gradwalk.formulas.expression import Expression, apply, conj, reshape, total

Sizes = tuple[int, ...]


def _spatial(n: Given, name: str) -> Sizes:
    return per_axis(getattr(n, name), len(n.operand("weight").shape) - 2)


def _convolved(
    operation: str, first: Expression, others: Sequence[Expression], rank: int, **options: Any
) -> Expression:
    """The options that say nothing are left out; a setting that is the same along all dims is one number."""
    plain = {"stride": 1, "padding": 0, "output_padding": 0, "groups": 1, "dilation": 1}
    short = {name: _short(value) for name, value in options.items()}
    chosen = {name: value for name, value in short.items() if value != plain[name]}
    return apply(f"{operation}{rank}d", first, *others, **chosen)


def _short(value: int | Sizes) -> int | Sizes:
    return value[0] if isinstance(value, tuple) and len(set(value)) == 1 else value


def _forward(n: Given) -> Expression:
    x, weight = n.operand("input"), n.operand("weight")
    operands = [weight, n.operand("bias")] if n.saved_or("bias_sym_sizes_opt", None) else [weight]
    options = {name: _spatial(n, name) for name in ("stride", "padding", "dilation")} | {"groups": n.groups}
    if n.transposed:
        options["output_padding"] = _spatial(n, "output_padding")
    return _convolved("conv_transpose" if n.transposed else "conv", x, operands, weight.rank - 2, **options)


def _to_input(n: Given) -> Expression:
    rank, size = n.weight.rank - 2, n.shape[2:]
    stride, padding, dilation = (_spatial(n, name) for name in ("stride", "padding", "dilation"))
    options: dict[str, Any] = {"stride": stride, "padding": padding, "dilation": dilation, "groups": n.groups}
    if n.transposed:
        windows = [
            (n.v.shape[2 + dim] + 2 * padding[dim] - dilation[dim] * (n.weight.shape[2 + dim] - 1) - 1) // stride[dim]
            + 1
            for dim in range(rank)
        ]
        # A large output_padding leaves room for windows that the input never had.
        return _narrowed(_convolved("conv", n.v, [conj(n.weight)], rank, **options), windows, size)
    smallest = [
        (n.v.shape[2 + dim] - 1) * stride[dim] - 2 * padding[dim] + dilation[dim] * (n.weight.shape[2 + dim] - 1) + 1
        for dim in range(rank)
    ]
    # What the stride left over at the end.
    options["output_padding"] = tuple(whole - least for whole, least in zip(size, smallest, strict=True))
    return _convolved("conv_transpose", n.v, [conj(n.weight)], rank, **options)


def _narrowed(value: Expression, sizes: Sequence[int], wanted: Sequence[int]) -> Expression:
    """Without what is too much at the end of each spatial dim."""
    for dim, (size, length) in enumerate(zip(sizes, wanted, strict=True), 2):
        if size != length:
            value = apply("narrow", value, dim=dim, start=0, length=length)
    return value


def _batch_as_channels(n: Given, value: Expression, shape: Sizes) -> Expression:
    """Channels and batch trade places; with groups, the batch of each group is channels of that group."""
    if n.groups == 1:
        return apply("swapdims", value, dim0=0, dim1=1)
    batch, channels, *size = shape
    split = reshape(value, (batch, n.groups, channels // n.groups, *size))
    turned = apply("permute", split, dims=(2, 1, 0, *range(3, len(shape) + 1)))
    return reshape(turned, (channels // n.groups, n.groups * batch, *size))


def _to_weight(n: Given) -> Expression:
    """Each kernel entry meets the input at fixed distances from every v: a convolution over the batch."""
    rank = len(n.shape) - 2
    stride, padding, dilation = (_spatial(n, name) for name in ("stride", "padding", "dilation"))
    # Who is moved over whom: in a transposed convolution the input is what the windows of v were made of.
    whole, windows = (n.v, conj(n.input)) if n.transposed else (conj(n.input), n.v)
    whole_size, windows_size = (n.v.shape, n.input.shape) if n.transposed else (n.input.shape, n.v.shape)
    # Stride and dilation trade places; batch and channels do as well.
    found = _convolved(
        "conv",
        _batch_as_channels(n, whole, whole_size),
        [apply("swapdims", windows, dim0=0, dim1=1)],
        rank,
        stride=dilation,
        padding=padding,
        dilation=stride,
        groups=n.groups,
    )
    places = [
        (whole_size[2 + dim] + 2 * padding[dim] - stride[dim] * (windows_size[2 + dim] - 1) - 1) // dilation[dim] + 1
        for dim in range(rank)
    ]
    return _narrowed(apply("swapdims", found, dim0=0, dim1=1), places, n.shape[2:])


_VJPS = (
    Vjp(
        "input",
        _to_input,
        why("why-convolution"),
    ),
    Vjp(
        "weight",
        _to_weight,
        why("why-convolution-weight"),
    ),
    Vjp(
        "bias",
        lambda n: total(n.v, (0, *range(2, n.v.rank))),
        why("why-convolution-bias"),
    ),
)
_CASES = (
    why("case-convolution"),
    why("case-convolution-groups"),
)

CONVOLUTIONS: tuple[Entry, ...] = (Entry("convolution", ("ConvolutionBackward0",), _forward, _VJPS, _CASES),)
