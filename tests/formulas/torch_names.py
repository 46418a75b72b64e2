"""What the names in formulas mean to somebody who knows torch: torch's own functions, or said here in torch's words."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.nn import functional

_PLACES = (torch, functional, torch.special, torch.linalg)


class _Names(dict[str, Callable[..., Any]]):
    """torch's functions by their names, found when they are asked for."""

    def __missing__(self, name: str) -> Callable[..., Any]:
        for place in _PLACES:
            if hasattr(place, name):
                return _from_numbers(getattr(place, name))
        raise KeyError(name)


def _from_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Constants may stand where torch wants tensors."""

    def called(first: Any, *others: Any, **options: Any) -> Any:
        return function(
            first if isinstance(first, (torch.Tensor, tuple)) else torch.as_tensor(first), *others, **options
        )

    return called


def _reshape(value: Any, shape: Any) -> Any:
    return torch.as_tensor(value).reshape(shape)


def _where(condition: Any, then: Any, otherwise: Any) -> Any:
    dtype = torch.result_type(torch.as_tensor(then), torch.as_tensor(otherwise))
    return torch.where(condition, torch.as_tensor(then, dtype=dtype), torch.as_tensor(otherwise, dtype=dtype))


FUNCTIONS: Mapping[str, Callable[..., Any]] = _Names(
    Re=lambda value: torch.as_tensor(value).real,
    Im=lambda value: torch.as_tensor(value).imag,
    min=torch.minimum,
    max=torch.maximum,
    reshape=_reshape,
    where=_where,
)
