"""What names in formulas mean that torch does not have: transposes of its linear functions, by its own engine."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

Sizes = int | tuple[int, ...]


def _one_hot(numbers: Any, num_classes: int) -> Tensor:
    """As torch's, with nothing set for what is no class."""
    classes = torch.as_tensor(numbers)
    is_class = (classes >= 0) & (classes < num_classes)
    found = functional.one_hot(torch.where(is_class, classes, 0).long(), num_classes)
    return found * is_class.unsqueeze(-1)


def _product_of_others(value: Tensor, dim: int | None = None) -> Tensor:
    back = torch.func.vjp((lambda x: x.prod()) if dim is None else (lambda x: x.prod(dim, keepdim=True)), value)
    return back[1](torch.ones_like(back[0]))[0].conj()


def _transposed(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def called(v: Tensor, input_size: Sizes, **options: Any) -> Tensor:
        size = (input_size,) if isinstance(input_size, int) else input_size
        operand = torch.zeros(*v.shape[: v.dim() - len(size)], *size, dtype=v.dtype)
        outputs = v.shape[v.dim() - len(size) :]
        _, back = torch.func.vjp(lambda x: function(x, outputs, **options), operand)
        return back(v)[0]

    return called


def _pooled(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda x, _outputs, **options: function(x, **options)


def _resized(x: Tensor, outputs: Any, **options: Any) -> Tensor:
    return functional.interpolate(x, None if "scale_factor" in options else outputs, **options)


def _kept(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda x, dim=None: function(x) if dim is None else function(x, dim, keepdim=True)


STRUCTURED: Mapping[str, Callable[..., Any]] = {
    "one_hot": _one_hot,
    "product_of_others": _product_of_others,
    "amax": _kept(torch.amax),
    "amin": _kept(torch.amin),
    "prod": _kept(torch.prod),
    "nansum": _kept(torch.nansum),
    "flip": lambda x, dims: x.flip(dims),
    "avg_pool2d_transposed": _transposed(_pooled(functional.avg_pool2d)),
    "avg_pool3d_transposed": _transposed(_pooled(functional.avg_pool3d)),
    "adaptive_avg_pool2d_transposed": _transposed(functional.adaptive_avg_pool2d),
    "adaptive_avg_pool3d_transposed": _transposed(functional.adaptive_avg_pool3d),
    "interpolate_transposed": _transposed(_resized),
}
