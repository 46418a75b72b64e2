"""What the names of operations that place, read and arrange numbers mean, in torch's words.

Text calls torch's functions as torch wants to be called; in LaTeX the dim stands below the name, so it has a keyword.
What has no name in torch is said with indexing, or as what goes back through torch's own function.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


def _sizes(value: Any) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple) else (value,)


def _wide(*values: Tensor) -> list[Tensor]:
    dtype = torch.complex128 if any(value.is_complex() for value in values) else torch.float64
    return [value.to(dtype) for value in values]


def _along(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """For torch's functions of a tensor, a dim, an index, and perhaps a value."""

    def called(*arguments: Any, dim: int | None = None, value: Any = None) -> Tensor:
        # A number in the place of an index is one: 0 is printed of a tensor without dims.
        base, *others = (torch.as_tensor(one) if dim is not None else one for one in arguments)
        if dim is not None:
            others = [dim, *others]
        if value is not None:
            others.append(value)
        if isinstance(others[-1], Tensor) and others[-1].dtype != torch.int64:
            base, others[-1] = _wide(base, others[-1])
        along, index, *rest = others
        return function(base, along, index.long(), *rest)

    return called


def _joined(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def called(*parts: Any, dim: int | None = None) -> Tensor:
        if isinstance(parts[0], list):
            parts, dim = tuple(parts[0]), parts[1] if len(parts) > 1 else dim
        return function(_wide(*parts), dim)

    return called


def _back_through(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """What torch sends back through a function of a tensor of that shape."""

    def called(v: Tensor, shape: Any, **options: Any) -> Tensor:
        x = torch.zeros(_sizes(shape), dtype=v.dtype)
        if not v.numel():
            return x
        output, back = torch.func.vjp(lambda x: function(x, **options), x)
        # In print, dims of size 1 are not told apart.
        sent: Tensor = back(v.reshape(output.shape))[0]
        return sent

    return called


def _part(value: Tensor, at: str) -> Tensor:
    part: Tensor = eval(f"value{at}", {"value": value})
    return part


def _with_zeros(value: Tensor, at: str) -> Tensor:
    value = value.clone()
    _part(value, at).zero_()
    return value


def _key(indices: tuple[Tensor, ...], dims: Any) -> tuple[Any, ...]:
    """The indices with whole dims between them; a mask of several dims is as many indices."""
    lists: dict[int, Tensor] = {}
    for dim, index in zip(_sizes(dims), indices, strict=True):
        if index.dtype == torch.bool:
            lists |= {dim + offset: one for offset, one in enumerate(index.nonzero(as_tuple=True))}
        else:
            lists[dim] = index.long()
    return tuple(lists.get(dim, slice(None)) for dim in range(max(lists) + 1))


def _taken_at(value: Tensor, *indices: Tensor, dims: Any) -> Tensor:
    return value[_key(indices, dims)]


def _zeroed_at(value: Tensor, *indices: Tensor, dims: Any) -> Tensor:
    value = value.clone()
    value[_key(indices, dims)] = 0
    return value


def _padded_to(value: Tensor, shape: Any) -> Tensor:
    whole = torch.zeros(_sizes(shape), dtype=value.dtype)
    whole.view(-1)[: value.numel()] = value
    return whole


def _put(base: Tensor, index: Tensor, value: Tensor, accumulate: bool = False) -> Tensor:
    base, value = _wide(base, value)
    return torch.put(base, torch.as_tensor(index).long(), value, accumulate)


def _diagonal_scatter(base: Tensor, value: Tensor, **options: int) -> Tensor:
    return torch.diagonal_scatter(*_wide(base, value), **options)


def _mask(value: Any) -> Tensor:
    return torch.as_tensor(value).bool()


def _many(function: Callable[..., Tensor], *names: str) -> Callable[..., Tensor]:
    """For functions whose options torch wants as tuples."""
    return lambda value, **options: function(
        value, **{name: _sizes(one) if name in names else one for name, one in options.items()}
    )


def _padded(x: Tensor, pad: Any, mode: str = "constant") -> Tensor:
    return functional.pad(x, pad, mode)


def _of_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Tensors without dims are printed as numbers."""

    def called(*arguments: Any, **options: Any) -> Any:
        return function(
            *[torch.as_tensor(one) if isinstance(one, float | complex) else one for one in arguments], **options
        )

    return called


_NAMES: Mapping[str, Callable[..., Any]] = {
    "zeros": lambda shape: torch.zeros(shape, dtype=torch.float64),
    "eye": lambda **sizes: torch.eye(**sizes, dtype=torch.float64),
    "inverse": lambda value: torch.linalg.inv(value),
    "cat": _joined(torch.cat),
    "stack": _joined(torch.stack),
    "permute": _many(torch.permute, "dims"),
    "flip": _many(torch.flip, "dims"),
    "roll": _many(torch.roll, "shifts", "dims"),
    "pad": _padded,
    "part": _part,
    "with_zeros": _with_zeros,
    "into_zeros": lambda v, shape, at: _back_through(_part)(v, shape, at=at),
    "added_at": lambda v, *indices, dims, shape: _back_through(lambda x: _taken_at(x, *indices, dims=dims))(v, shape),
    "taken_at": _taken_at,
    "zeroed_at": _zeroed_at,
    "padded_to": _padded_to,
    "windows_transposed": _back_through(lambda x, dimension, size, step: x.unfold(dimension, size, step)),
    "pad_transposed": _back_through(_padded),
    "gather": _along(torch.gather),
    "scatter": _along(torch.scatter),
    "scatter_add": _along(torch.scatter_add),
    "index_select": _along(torch.index_select),
    "index_add": _along(torch.index_add),
    "index_fill": _along(torch.index_fill),
    "masked_select": lambda value, mask: torch.masked_select(value, _mask(mask)),
    "masked_scatter": lambda base, mask, value: torch.masked_scatter(
        _wide(base, value)[0], _mask(mask), _wide(base, value)[1]
    ),
    "take": lambda value, index: torch.take(value, torch.as_tensor(index).long()),
    "put": _put,
    "diagonal_scatter": _diagonal_scatter,
    "unique": torch.unique,
    "bincount": lambda value, minlength: torch.bincount(value.long(), minlength=minlength),
}
PLACING: Mapping[str, Callable[..., Any]] = {name: _of_tensors(function) for name, function in _NAMES.items()}
"""Functions by the names that are printed."""
