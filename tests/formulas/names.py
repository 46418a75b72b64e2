"""What the names in formulas mean to somebody who knows torch: torch's own functions, or said here in torch's words."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.nn import functional

from tests.formulas.placing_names import PLACING
from tests.formulas.structured_names import STRUCTURED

_PLACES = (torch, functional, torch.special, torch.linalg)


def tensor(value: Any) -> torch.Tensor:
    """A constant with all of its digits."""
    if isinstance(value, torch.Tensor):
        return value
    return torch.tensor(value, dtype=torch.complex128 if isinstance(value, complex) else torch.float64)


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
        return function(first if isinstance(first, tuple) else tensor(first), *others, **options)

    return called


def _reshape(value: Any, shape: Any) -> Any:
    return torch.as_tensor(value).reshape(shape)


def _where(condition: Any, then: Any, otherwise: Any) -> Any:
    dtype = torch.result_type(tensor(then), tensor(otherwise))
    return torch.where(condition, tensor(then).to(dtype), tensor(otherwise).to(dtype))


FUNCTIONS: Mapping[str, Callable[..., Any]] = _Names(
    STRUCTURED,
    Re=lambda value: torch.as_tensor(value).real,
    Im=lambda value: torch.as_tensor(value).imag,
    ones=lambda shape: torch.ones(shape, dtype=torch.float64),
    min=lambda a, b: torch.clamp(torch.as_tensor(a), max=b),
    max=lambda a, b: torch.clamp(torch.as_tensor(a), min=b),
    reshape=_reshape,
    where=_where,
    polygamma=lambda n, value: torch.polygamma(n, tensor(value)),
    float32=lambda value: tensor(value).to(torch.float32).to(torch.float64),
    **PLACING,
)
