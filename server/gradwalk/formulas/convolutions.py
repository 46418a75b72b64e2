"""Convolutions of one, two and three dimensions, plain and transposed."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from gradwalk.formulas.formula import Entry, NodeView, Vjp, conjugate, per_axis

_CONVOLVE = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
_TRANSPOSED = {1: functional.conv_transpose1d, 2: functional.conv_transpose2d, 3: functional.conv_transpose3d}


def _spread_out(n: NodeView, v: Tensor, weight: Tensor, size: Sequence[int]) -> Tensor:
    """The transposed convolution: every v is multiplied by the kernel and added to the window it came from."""
    rank = weight.dim() - 2
    stride, padding, dilation = (per_axis(value, rank) for value in (n.stride, n.padding, n.dilation))
    smallest = [
        (v.shape[2 + i] - 1) * stride[i] - 2 * padding[i] + dilation[i] * (weight.shape[2 + i] - 1) + 1
        for i in range(rank)
    ]
    # The border of padding is cut off; what the stride left over at the end got no window, so it gets zeros.
    grad = _TRANSPOSED[rank](v, weight, None, n.stride, [0] * rank, 0, n.groups, n.dilation)
    pads = [amount for i in reversed(range(rank)) for amount in (-padding[i], size[i] - smallest[i] - padding[i])]
    return functional.pad(grad, pads)


def _correlate(n: NodeView, x: Tensor, v: Tensor, kernel: Sequence[int]) -> Tensor:
    """Each kernel entry meets x at fixed distances from every v: a convolution of x with v over the batch."""
    rank = x.dim() - 2
    padding = per_axis(n.padding, rank)
    pads = [amount for i in reversed(range(rank)) for amount in (padding[i], padding[i])]
    padded = functional.pad(x, pads)
    parts = []
    for inputs, outputs in zip(padded.chunk(n.groups, 1), v.chunk(n.groups, 1), strict=True):
        # Stride and dilation trade places; batch and channels do as well.
        correlated = _CONVOLVE[rank](inputs.transpose(0, 1), outputs.transpose(0, 1), None, n.dilation, 0, n.stride)
        window = (slice(None), slice(None), *(slice(0, size) for size in kernel))
        parts.append(correlated[window].transpose(0, 1))
    return torch.cat(parts, 0)


def _input(n: NodeView) -> Tensor:
    weight = conjugate(n.weight)
    if n.transposed:
        gathered = _CONVOLVE[weight.dim() - 2](n.v, weight, None, n.stride, n.padding, n.dilation, n.groups)
        # A large output_padding leaves room for windows that the input never had.
        return gathered[(slice(None), slice(None), *(slice(0, size) for size in n.shape[2:]))]
    return _spread_out(n, n.v, weight, n.shape[2:])


def _weight(n: NodeView) -> Tensor:
    kernel = n.shape[2:]
    if n.transposed:
        return _correlate(n, n.v, conjugate(n.input), kernel)
    return _correlate(n, conjugate(n.input), n.v, kernel)


def _bias(n: NodeView) -> Tensor:
    return n.v.sum((0, *range(2, n.v.dim())))


_VJPS = (
    Vjp(
        "input",
        r"@v \star^\top @weight",
        "transposed convolution of v with W",
        "Every window was multiplied by the kernel to make one result; its v goes back to the whole window, weighted by the kernel. "
        "Overlapping windows add up.",
        _input,
    ),
    Vjp(
        "weight",
        r"@input \star @v",
        "correlation of x with v",
        "A kernel entry was used once per window, so it gets the sum over all windows of v times the input it met there.",
        _weight,
    ),
    Vjp(
        "bias",
        r"\textstyle\sum_{\text{batch, places}} @v",
        "sum of v per output channel",
        "The bias of a channel was added at every place of every image.",
        _bias,
    ),
)
_CASES = (
    "A transposed convolution is the same with the roles swapped: going back through it is a plain convolution.",
    "With groups each group of channels is a convolution of its own.",
)

CONVOLUTIONS: tuple[Entry, ...] = (
    Entry("convolution", ("ConvolutionBackward0",), r"@result = @input \star @weight + @bias", _VJPS, _CASES),
)
