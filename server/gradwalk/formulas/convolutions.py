"""Convolutions of one, two and three dimensions, plain and transposed."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

from collections.abc import Sequence
from typing import Any

from gradwalk.formulas.entry import Entry, Formula, Given, Vjp, per_axis, why
from gradwalk.formulas.expression import Expression, Symbol, apply, conj, number, reshape, total

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
    bias = n.operand("bias") if n.saved_or("bias_sym_sizes_opt", None) else None
    return _across(n, n.operand("input"), n.operand("weight"), bias)


def _across(n: Given, x: Expression, weight: Expression, bias: Expression | None = None) -> Expression:
    """The convolution of x with the weight."""
    operands = [weight] if bias is None else [weight, bias]
    options = {name: _spatial(n, name) for name in ("stride", "padding", "dilation")} | {"groups": n.groups}
    if n.transposed:
        options["output_padding"] = _spatial(n, "output_padding")
    return _convolved(
        "conv_transpose" if n.transposed else "conv", x, operands, n.operand("weight").rank - 2, **options
    )


def _to_input(n: Given, v: Symbol, weight: Symbol) -> Expression:
    rank, size = weight.rank - 2, n.operand("input").shape[2:]
    stride, padding, dilation = (_spatial(n, name) for name in ("stride", "padding", "dilation"))
    options: dict[str, Any] = {"stride": stride, "padding": padding, "dilation": dilation, "groups": n.groups}
    if n.transposed:
        windows = [
            (v.shape[2 + dim] + 2 * padding[dim] - dilation[dim] * (weight.shape[2 + dim] - 1) - 1) // stride[dim] + 1
            for dim in range(rank)
        ]
        # A large output_padding leaves room for windows that the input never had.
        return _narrowed(_convolved("conv", v, [conj(weight)], rank, **options), windows, size)
    smallest = [
        (v.shape[2 + dim] - 1) * stride[dim] - 2 * padding[dim] + dilation[dim] * (weight.shape[2 + dim] - 1) + 1
        for dim in range(rank)
    ]
    # What the stride left over at the end.
    options["output_padding"] = tuple(whole - least for whole, least in zip(size, smallest, strict=True))
    return _convolved("conv_transpose", v, [conj(weight)], rank, **options)


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


def _to_weight(n: Given, v: Symbol, x: Symbol) -> Expression:
    """Each kernel entry meets the input at fixed distances from every v: a convolution over the batch."""
    shape = n.operand("weight").shape
    rank = len(shape) - 2
    stride, padding, dilation = (_spatial(n, name) for name in ("stride", "padding", "dilation"))
    # Who is moved over whom: in a transposed convolution the input is what the windows of v were made of.
    whole, windows = (v, conj(x)) if n.transposed else (conj(x), v)
    whole_size, windows_size = (v.shape, x.shape) if n.transposed else (x.shape, v.shape)
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
    return _narrowed(apply("swapdims", found, dim0=0, dim1=1), places, shape[2:])


_VJPS = (
    Vjp(
        "input",
        lambda n: _to_input(n, n.v, n.weight),
        why("why-convolution"),
    ),
    Vjp(
        "weight",
        lambda n: _to_weight(n, n.v, n.input),
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


def _second_to_grad_output(n: Given) -> Expression:
    """What was sent to the input, the weight and the bias is linear in grad_output: v of each goes across again."""
    of_input, of_weight, of_bias = n.seeds
    terms = [
        None if of_input is None else _across(n, of_input, n.weight),
        None if of_weight is None else _across(n, n.input, of_weight),
        None if of_bias is None else reshape(of_bias, (-1, *[1] * (n.weight.rank - 2))),
    ]
    first, *others = [term for term in terms if term is not None]
    return sum(others, first)


def _second_to(name: str) -> Formula:
    """The weight went into what the input was sent, and the input into what the weight was sent."""

    def write(n: Given) -> Expression:
        of_input, of_weight, _ = n.seeds
        if name == "input":
            return number(0) if of_weight is None else _to_input(n, n.grad_output, of_weight)
        return number(0) if of_input is None else _to_weight(n, n.grad_output, of_input)

    return write


_SECOND_VJPS = (
    Vjp("grad_output", _second_to_grad_output, why("why-second-softmax")),
    Vjp("input", _second_to("input"), why("why-convolution")),
    Vjp("weight", _second_to("weight"), why("why-convolution-weight")),
)

CONVOLUTIONS: tuple[Entry, ...] = (
    Entry("convolution", ("ConvolutionBackward0",), _forward, _VJPS, _CASES),
    Entry("convolution_backward", ("ConvolutionBackwardBackward0",), None, _SECOND_VJPS, _CASES[1:]),
)
