"""What the names in formulas mean to somebody who knows torch: torch's own functions, or said here in torch's words.

Text calls torch's functions as torch wants to be called; in LaTeX the dim stands below the name, so it has a keyword.
What has no name in torch is said with indexing, or as what torch sends back through a function, by its own engine.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

Function = Callable[..., Any]
_PLACES = (torch, functional, torch.special, torch.linalg)


def tensor(value: Any) -> Tensor:
    """A constant with all of its digits."""
    if isinstance(value, Tensor):
        return value
    return torch.tensor(value, dtype=torch.complex128 if isinstance(value, complex) else torch.float64)


class _Names(dict[str, Function]):
    """torch's functions by their names, found when they are asked for."""

    def __missing__(self, name: str) -> Function:
        for place in _PLACES:
            if hasattr(place, name):
                return _from_numbers(getattr(place, name))
        raise KeyError(name)


def _from_numbers(function: Function) -> Function:
    """Constants may stand where torch wants tensors."""
    return lambda first, *others, **options: function(
        first if isinstance(first, tuple) else tensor(first), *others, **options
    )


def _of_tensors(function: Function) -> Function:
    """Tensors without dims are printed as numbers."""

    def called(*arguments: Any, **options: Any) -> Any:
        return function(*[tensor(one) if isinstance(one, float | complex) else one for one in arguments], **options)

    return called


def _sizes(value: Any) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple) else (value,)


def _wide(*values: Tensor) -> list[Tensor]:
    dtype = torch.complex128 if any(value.is_complex() for value in values) else torch.float64
    return [value.to(dtype) for value in values]


def _mask(value: Any) -> Tensor:
    return torch.as_tensor(value).bool()


def _index(value: Any) -> Tensor:
    return torch.as_tensor(value).long()


def _where(condition: Any, then: Any, otherwise: Any) -> Any:
    dtype = torch.result_type(tensor(then), tensor(otherwise))
    return torch.where(condition, tensor(then).to(dtype), tensor(otherwise).to(dtype))


def _one_hot(numbers: Any, num_classes: int) -> Tensor:
    """As torch's, with nothing set for what is no class."""
    classes = torch.as_tensor(numbers)
    is_class = (classes >= 0) & (classes < num_classes)
    found = functional.one_hot(torch.where(is_class, classes, 0).long(), num_classes)
    return found * is_class.unsqueeze(-1)


def _kept(function: Function) -> Function:
    return lambda x, dim=None: function(x) if dim is None else function(x, dim, keepdim=True)


def _product_of_others(value: Tensor, dim: int | None = None) -> Tensor:
    output, back = torch.func.vjp(lambda x: _kept(torch.prod)(x, dim), value)
    sent: Tensor = back(torch.ones_like(output))[0].conj()
    return sent


def _back_through(function: Function) -> Function:
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


def _transposed(function: Function) -> Function:
    """Of a function that is told the output's sizes; those of a batch are v's."""

    def called(v: Tensor, input_size: Any, **options: Any) -> Tensor:
        size = _sizes(input_size)
        batch, outputs = v.shape[: -len(size)], v.shape[-len(size) :]
        sent: Tensor = _back_through(lambda x: function(x, outputs, **options))(v, (*batch, *size))
        return sent

    return called


def _pooled(function: Function) -> Function:
    return lambda x, _outputs, **options: function(x, **options)


def _resized(x: Tensor, outputs: Any, **options: Any) -> Tensor:
    return functional.interpolate(x, None if "scale_factor" in options else outputs, **options)


def _along(function: Function) -> Function:
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
        found: Tensor = function(base, along, index.long(), *rest)
        return found

    return called


def _joined(function: Function) -> Function:
    def called(*parts: Any, dim: int | None = None) -> Tensor:
        if isinstance(parts[0], list):
            parts, dim = tuple(parts[0]), parts[1] if len(parts) > 1 else dim
        found: Tensor = function(_wide(*parts), dim)
        return found

    return called


def _many(function: Function, *names: str) -> Function:
    """For functions whose options torch wants as tuples."""
    return lambda value, **options: function(
        value, **{name: _sizes(one) if name in names else one for name, one in options.items()}
    )


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


def _padded(x: Tensor, pad: Any, mode: str = "constant") -> Tensor:
    return functional.pad(x, pad, mode)


def _padded_to(value: Tensor, shape: Any) -> Tensor:
    whole = torch.zeros(_sizes(shape), dtype=value.dtype)
    whole.view(-1)[: value.numel()] = value
    return whole


def _put(base: Tensor, index: Tensor, value: Tensor, accumulate: bool = False) -> Tensor:
    base, value = _wide(base, value)
    return torch.put(base, _index(index), value, accumulate)


def _masked_scatter(base: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    base, value = _wide(base, value)
    return torch.masked_scatter(base, _mask(mask), value)


_OF_TENSORS: Mapping[str, Function] = {
    "zeros": lambda shape: torch.zeros(shape, dtype=torch.float64),
    "eye": lambda **sizes: torch.eye(**sizes, dtype=torch.float64),
    "inverse": torch.linalg.inv,
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
    "masked_select": lambda value, mask: torch.masked_select(value, _mask(mask)),
    "masked_scatter": _masked_scatter,
    "take": lambda value, index: torch.take(value, _index(index)),
    "put": _put,
    "diagonal_scatter": lambda base, value, **options: torch.diagonal_scatter(*_wide(base, value), **options),
    "unique": torch.unique,
    "bincount": lambda value, minlength: torch.bincount(value.long(), minlength=minlength),
    **{name: _joined(getattr(torch, name)) for name in ("cat", "stack")},
    **{
        name: _along(getattr(torch, name))
        for name in ("gather", "scatter", "scatter_add", "index_select", "index_add", "index_fill")
    },
}
FUNCTIONS: Mapping[str, Function] = _Names(
    Re=lambda value: torch.as_tensor(value).real,
    Im=lambda value: torch.as_tensor(value).imag,
    ones=lambda shape: torch.ones(shape, dtype=torch.float64),
    min=lambda a, b: torch.clamp(torch.as_tensor(a), max=b),
    max=lambda a, b: torch.clamp(torch.as_tensor(a), min=b),
    reshape=lambda value, shape: torch.as_tensor(value).reshape(shape),
    where=_where,
    polygamma=lambda n, value: torch.polygamma(n, tensor(value)),
    float32=lambda value: tensor(value).to(torch.float32).to(torch.float64),
    one_hot=_one_hot,
    product_of_others=_product_of_others,
    interpolate_transposed=_transposed(_resized),
    **{name: _kept(getattr(torch, name)) for name in ("amax", "amin", "prod", "nansum")},
    avg_pool2d_transposed=_transposed(_pooled(functional.avg_pool2d)),
    avg_pool3d_transposed=_transposed(_pooled(functional.avg_pool3d)),
    adaptive_avg_pool2d_transposed=_transposed(functional.adaptive_avg_pool2d),
    adaptive_avg_pool3d_transposed=_transposed(functional.adaptive_avg_pool3d),
    **{name: _of_tensors(function) for name, function in _OF_TENSORS.items()},
)
"""Functions by the names that are printed."""
