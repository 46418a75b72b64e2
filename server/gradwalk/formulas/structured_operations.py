"""Operations of losses, reductions, selections, convolutions and pooling, and the transposes of linear ones among them."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from gradwalk.formulas.notation import Notation, Operation, Strength

Sizes = int | tuple[int, ...]


def _one_hot(classes: Tensor, num_classes: int) -> Tensor:
    """1 at the class, 0 at the others; all 0 for a number that is no class, such as -100."""
    return (classes.unsqueeze(-1) == torch.arange(num_classes, device=classes.device)).long()


def _product_of_others(value: Tensor, dim: int | None = None) -> Tensor:
    """At each place the product of all other places along `dim`; without dividing, so that a zero does not spoil it."""
    if dim is None:
        return _product_of_others(value.reshape(-1), 0).reshape(value.shape)
    size = value.shape[dim]
    one = torch.ones_like(value.sum(dim, keepdim=True))
    before = torch.cat([one, value], dim).narrow(dim, 0, size).cumprod(dim)
    after = torch.cat([value, one], dim).narrow(dim, 1, size).flip(dim).cumprod(dim).flip(dim)
    return before * after


def _reduced_by(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Over some dims, which are kept with size 1, or over all."""
    return lambda value, dim=None: function(value) if dim is None else function(value, dim, keepdim=True)


def _sizes(value: Sizes, rank: int) -> tuple[int, ...]:
    return (value,) * rank if isinstance(value, int) else value


def _spread_along(v: Tensor, memberships: Sequence[Tensor]) -> Tensor:
    """v times, along each trailing dim, the matrix that tells how much of each input an output is made of."""
    for dim, membership in enumerate(memberships, -len(memberships)):
        v = (v.movedim(dim, -1) @ membership.to(v)).movedim(-1, dim)
    return v


def _avg_pool_transposed(  # noqa: PLR0913 - the options of avg_pool2d
    v: Tensor,
    input_size: tuple[int, ...],
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,  # noqa: ARG001 - v already has the size that it leads to
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    rank = len(input_size)
    kernels, paddings = _sizes(kernel_size, rank), _sizes(padding, rank)
    strides = kernels if stride is None else _sizes(stride, rank)
    memberships = []
    divisor = torch.ones((), dtype=v.dtype)
    for dim, size in enumerate(input_size):
        start = torch.arange(v.shape[dim - rank]) * strides[dim] - paddings[dim]
        end = torch.clamp(start + kernels[dim], max=size + paddings[dim])
        covers = _covers(start, end, size)
        memberships.append(covers)
        divisor = divisor.unsqueeze(-1) * (end - start if count_include_pad else covers.sum(-1))
    return _spread_along(v / (divisor_override or divisor.to(v.device)), memberships)


def _adaptive_avg_pool_transposed(v: Tensor, input_size: tuple[int, ...]) -> Tensor:
    memberships = []
    for dim, size in enumerate(input_size):
        outputs = v.shape[dim - len(input_size)]
        step = torch.arange(outputs)
        covers = _covers(step * size // outputs, -((step + 1) * size // -outputs), size)
        memberships.append(covers / covers.sum(-1, keepdim=True).to(torch.float64))
    return _spread_along(v, memberships)


def _covers(start: Tensor, end: Tensor, size: int) -> Tensor:
    """Per window, which of the `size` places lie in it."""
    places = torch.arange(size)
    return (places >= start.unsqueeze(-1)) & (places < end.unsqueeze(-1))


def _interpolate_transposed(
    v: Tensor,
    input_size: tuple[int, ...],
    mode: str,
    align_corners: bool = False,
    scale_factor: float | tuple[float, ...] | None = None,
) -> Tensor:
    """Every mode here works along one dim after the other, so a matrix per dim says all."""
    memberships = []
    for dim, size in enumerate(input_size):
        scale = scale_factor[dim] if isinstance(scale_factor, tuple) else scale_factor
        outputs = [v.shape[dim - len(input_size)]]
        each_place = torch.eye(size, dtype=torch.float64).unsqueeze(0)
        resized = (
            torch.ops.aten.upsample_nearest1d(each_place, outputs, scale)
            if mode == "nearest"
            else torch.ops.aten.upsample_linear1d(each_place, outputs, align_corners, scale)
            if mode != "bicubic"
            else torch.ops.aten.upsample_bicubic2d(
                each_place.unsqueeze(-1), [*outputs, 1], align_corners, scale, None
            ).squeeze(-1)
        )
        memberships.append(resized[0].T)
    return _spread_along(v, memberships)


def _einsum(*tables: Tensor, equation: str) -> Tensor:
    """Ones and identities take on the dtype of what they are multiplied with."""
    dtype = functools.reduce(torch.promote_types, (one.dtype for one in tables))
    return torch.einsum(equation, *(one.to(dtype) for one in tables))


def _plain(evaluate: Callable[..., Any], *, is_real: bool = False) -> Operation:
    return Operation(evaluate, is_elementwise=False, is_real=is_real)


def _convolution(function: Callable[..., Tensor]) -> Operation:
    return _plain(lambda x, weight, *bias, **options: function(x, weight, *bias, **options))


STRUCTURED_OPERATIONS: Mapping[str, Operation] = {
    "clamp": Operation(torch.clamp),
    "nan_to_num": Operation(torch.nan_to_num),
    "one_hot": _plain(_one_hot, is_real=True),
    "softmax": _plain(torch.softmax),
    "log_softmax": _plain(torch.log_softmax),
    # Along dims.
    "prod": _plain(_reduced_by(torch.prod)),
    "product_of_others": _plain(_product_of_others),
    "cumsum": _plain(torch.cumsum),
    "cumprod": _plain(torch.cumprod),
    "nansum": _plain(_reduced_by(torch.nansum)),
    "amax": _plain(_reduced_by(torch.amax), is_real=True),
    "amin": _plain(_reduced_by(torch.amin), is_real=True),
    "median": _plain(torch.median, is_real=True),
    "nanmedian": _plain(torch.nanmedian, is_real=True),
    "einsum": Operation(
        _einsum,
        latex=Notation(r"\operatorname{{einsum}}\left({equation};\; {all}\right)", Strength.ATOM, (Strength.SUM,)),
        text=Notation('einsum("{equation}", {all})', Strength.ATOM, (Strength.CONDITION,)),
        is_elementwise=False,
    ),
    # Windows.
    "conv1d": _convolution(functional.conv1d),
    "conv2d": _convolution(functional.conv2d),
    "conv3d": _convolution(functional.conv3d),
    "conv_transpose1d": _convolution(functional.conv_transpose1d),
    "conv_transpose2d": _convolution(functional.conv_transpose2d),
    "conv_transpose3d": _convolution(functional.conv_transpose3d),
    "avg_pool2d": _plain(functional.avg_pool2d),
    "avg_pool2d_transposed": _plain(_avg_pool_transposed),
    "avg_pool3d": _plain(functional.avg_pool3d),
    "avg_pool3d_transposed": _plain(_avg_pool_transposed),
    "adaptive_avg_pool2d": _plain(functional.adaptive_avg_pool2d),
    "adaptive_avg_pool2d_transposed": _plain(_adaptive_avg_pool_transposed),
    "adaptive_avg_pool3d": _plain(functional.adaptive_avg_pool3d),
    "adaptive_avg_pool3d_transposed": _plain(_adaptive_avg_pool_transposed),
    "max_pool2d": _plain(functional.max_pool2d),
    "max_pool3d": _plain(functional.max_pool3d),
    "adaptive_max_pool2d": _plain(functional.adaptive_max_pool2d),
    "adaptive_max_pool3d": _plain(functional.adaptive_max_pool3d),
    "interpolate": _plain(functional.interpolate),
    "interpolate_transposed": _plain(_interpolate_transposed),
    "im2col": _plain(functional.unfold),
    "col2im": _plain(functional.fold),
    # Fourier transforms.
    "fft": _plain(torch.fft.fft),
    "ifft": _plain(torch.fft.ifft),
    "rfft": _plain(torch.fft.rfft),
    "fftn": _plain(torch.fft.fftn),
    "ifftn": _plain(torch.fft.ifftn),
    "rfftn": _plain(torch.fft.rfftn),
}
