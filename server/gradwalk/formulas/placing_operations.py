r"""Operations that move numbers to other places, read and write them by place or index, and arrange them as matrices.

Every evaluator takes the zeros that it writes into in whatever dtype they come: the result has the dtype of both together.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from gradwalk.formulas.notation import Notation, Operation, Strength

_S = Strength
Index = int | slice


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a tensor, written as Python does: `[:, 2]`."""

    key: tuple[Index, ...]

    def __str__(self) -> str:
        return f"[{', '.join(map(_written, self.key))}]"

    def __repr__(self) -> str:
        return f'"{self}"'


def _written(index: Index) -> str:
    if isinstance(index, int):
        return str(index)
    start, stop = ("" if one is None else str(one) for one in (index.start, index.stop))
    return f"{start}:{stop}" if index.step is None else f"{start}:{stop}:{index.step}"


def send_back(v: Tensor, shape: Sequence[int], take: Callable[[Tensor], Tensor]) -> Tensor:
    """v added up at the places of a tensor of `shape` that `take` copies its elements from."""
    count = math.prod(shape)
    places = take(torch.arange(count, device=v.device).reshape(tuple(shape)))
    return v.new_zeros(count).index_add(0, places.reshape(-1), v.reshape(-1)).reshape(tuple(shape))


def _alike(base: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    dtype = torch.promote_types(base.dtype, value.dtype)
    device = base.device if base.is_meta else value.device
    return base.to(device, dtype), value.to(device, dtype)


def _into_zeros(value: Tensor, at: Place, shape: tuple[int, ...]) -> Tensor:
    zeros = value.new_zeros(shape)
    zeros[at.key] = value
    return zeros


def _with_zeros(value: Tensor, at: Place) -> Tensor:
    value = value.clone()
    value[at.key] = 0
    return value


def _key(indices: tuple[Tensor, ...], dims: tuple[int, ...]) -> tuple[Tensor | slice, ...]:
    """The indices with `:` for the dims between them; a mask takes as many dims as it has."""
    key: list[Tensor | slice] = []
    taken = 0
    for dim, index in zip(dims, indices, strict=True):
        key += [slice(None)] * (dim - taken)
        taken = dim + (index.dim() if index.dtype == torch.bool else 1)
        key.append(index)
    return tuple(key)


def _added_at(value: Tensor, *indices: Tensor, dims: tuple[int, ...], shape: tuple[int, ...]) -> Tensor:
    # Advanced indexing of the element numbers tells where each element of the value came from.
    return send_back(value, shape, lambda places: places[_key(indices, dims)])


def _zeroed_at(value: Tensor, *indices: Tensor, dims: tuple[int, ...]) -> Tensor:
    value = value.clone()
    value[_key(indices, dims)] = 0
    return value


def _taken_at(value: Tensor, *indices: Tensor, dims: tuple[int, ...]) -> Tensor:
    return value[_key(indices, dims)]


def _index_add(base: Tensor, index: Tensor, value: Tensor, dim: int) -> Tensor:
    base, value = _alike(base, value)
    return base.index_add(dim, index, value)


def _scatter_add(base: Tensor, index: Tensor, value: Tensor, dim: int) -> Tensor:
    base, value = _alike(base, value)
    return base.scatter_add(dim, index, value)


def _masked_scatter(base: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    base, value = _alike(base, value)
    return base.masked_scatter(mask, value)


def _put(base: Tensor, index: Tensor, value: Tensor, accumulate: bool = False) -> Tensor:
    base, value = _alike(base, value)
    return base.put(index, value, accumulate)


def _diagonal_scatter(base: Tensor, value: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    base, value = _alike(base, value)
    return torch.diagonal_scatter(base, value, offset, dim1, dim2)


def _padded_to(value: Tensor, shape: tuple[int, ...]) -> Tensor:
    zeros = value.new_zeros(math.prod(shape))
    zeros[: value.numel()] = value.reshape(-1)
    return zeros.reshape(shape)


def _joined(*parts: Tensor, dim: int) -> Tensor:
    return torch.cat(_same_dtype(parts), dim)


def _stacked(*parts: Tensor, dim: int) -> Tensor:
    return torch.stack(_same_dtype(parts), dim)


def _same_dtype(parts: Sequence[Tensor]) -> list[Tensor]:
    dtype = parts[0].dtype
    for part in parts:
        dtype = torch.promote_types(dtype, part.dtype)
    device = next((part.device for part in parts if part.is_meta), parts[0].device)
    return [part.to(device, dtype) for part in parts]


def _blocks(*parts: Tensor) -> Tensor:
    parts = tuple(_same_dtype(parts))
    return torch.cat([torch.cat(parts[:2], -1), torch.cat(parts[2:], -1)], -2)


def _pad(value: Tensor, pad: tuple[int, ...], mode: str = "constant") -> Tensor:
    return functional.pad(value, list(pad), mode)


def _pad_transposed(value: Tensor, pad: tuple[int, ...], mode: str, shape: tuple[int, ...]) -> Tensor:
    spatial = shape[len(shape) - len(pad) // 2 :]

    def take(places: Tensor) -> Tensor:
        # Padding modes exist for floating point only; element numbers up to 2**53 are exact.
        return functional.pad(places.double().reshape(1, -1, *spatial), list(pad), mode).long()

    return send_back(value, shape, take) if value.numel() else value.new_zeros(shape)


def _windows(value: Tensor, dimension: int, size: int, step: int) -> Tensor:
    return value.unfold(dimension, size, step)


def _windows_transposed(value: Tensor, dimension: int, size: int, step: int, shape: tuple[int, ...]) -> Tensor:
    return send_back(value, shape, lambda places: places.unfold(dimension, size, step))


def _eye(n: int, m: int | None = None) -> Tensor:
    # Integers leave the dtype of whatever they meet as it is, whether or not that has dims.
    return torch.eye(n, n if m is None else m, dtype=torch.int64)


def _plain(evaluate: Callable[..., Any], text: Notation | None = None, latex: Notation | None = None) -> Operation:
    return Operation(evaluate, latex=latex, text=text, is_elementwise=False)


def _called(template: str, *needs: Strength) -> Notation:
    """A call in text whose arguments do not come in the order of the operation's."""
    return Notation(template, _S.ATOM, needs or (_S.SUM,))


PLACING_OPERATIONS: Mapping[str, Operation] = {
    # Other places for the same numbers.
    "permute": _plain(torch.permute),
    "swapdims": _plain(lambda a, dim0, dim1: a.transpose(dim0, dim1)),
    "flip": _plain(torch.flip),
    "roll": _plain(lambda a, shifts, dims=None: torch.roll(a, shifts, dims or ())),
    "rot90": _plain(torch.rot90),
    "tile": _plain(torch.tile),
    "pixel_shuffle": _plain(functional.pixel_shuffle),
    "pixel_unshuffle": _plain(functional.pixel_unshuffle),
    "windows": _plain(_windows, _called("{0}.unfold({dimension}, {size}, {step})", _S.ATOM)),
    "windows_transposed": _plain(_windows_transposed),
    "pad": _plain(_pad),
    "pad_transposed": _plain(_pad_transposed),
    # Parts, and zeros around or in them.
    "zeros": _plain(
        lambda shape: torch.zeros(shape), _called("zeros({shape})"), Notation(r"\mathbf{{0}}{options}", _S.ATOM, ())
    ),
    "narrow": _plain(torch.narrow),
    "select": _plain(torch.select),
    "part": _plain(lambda a, at: a[at.key]),
    "into_zeros": _plain(_into_zeros),
    "with_zeros": _plain(_with_zeros),
    "padded_to": _plain(_padded_to),
    "cat": _plain(_joined, _called("cat([{all}], dim={dim})")),
    "stack": _plain(_stacked, _called("stack([{all}], dim={dim})")),
    "block_diag": _plain(torch.block_diag),
    "blocks": _plain(
        _blocks,
        _called("cat([cat([{0}, {1}], -1), cat([{2}, {3}], -1)], -2)"),
        Notation(r"\begin{{bmatrix}} {0} & {1} \\ {2} & {3} \end{{bmatrix}}", _S.ATOM, (_S.SUM,)),
    ),
    # By index and mask.
    "added_at": _plain(_added_at),
    "zeroed_at": _plain(_zeroed_at),
    "taken_at": _plain(_taken_at),
    "gather": _plain(lambda a, index, dim: a.gather(dim, index), _called("gather({0}, {dim}, {1})")),
    "scatter": _plain(
        lambda a, index, dim, value: a.scatter(dim, index, value), _called("scatter({0}, {dim}, {1}, {value})")
    ),
    "scatter_add": _plain(_scatter_add, _called("scatter_add({0}, {dim}, {1}, {2})")),
    "scatter_reduce": _plain(
        lambda a, index, b, dim, reduce, include_self: a.scatter_reduce(
            dim, index, b.to(a.dtype), reduce, include_self=include_self
        ),
        _called("scatter_reduce({0}, {dim}, {1}, {2}, {reduce}, include_self={include_self})"),
    ),
    "index_select": _plain(lambda a, index, dim: a.index_select(dim, index), _called("index_select({0}, {dim}, {1})")),
    "index_add": _plain(_index_add, _called("index_add({0}, {dim}, {1}, {2})")),
    "arange": _plain(torch.arange),
    "bucketize": _plain(torch.bucketize),
    "index_fill": _plain(
        lambda a, index, dim, value: a.index_fill(dim, index, value), _called("index_fill({0}, {dim}, {1}, {value})")
    ),
    "take": _plain(torch.take),
    "put": _plain(_put),
    "masked_select": _plain(torch.masked_select),
    "masked_scatter": _plain(_masked_scatter),
    "unique": _plain(torch.unique),
    "bincount": _plain(torch.bincount),
    # Matrices.
    "eye": _plain(_eye, latex=Notation(r"\mathbf{{I}}{options}", _S.ATOM, ())),
    "tril": _plain(torch.tril),
    "triu": _plain(torch.triu),
    "diagonal": _plain(torch.diagonal),
    "diag_embed": _plain(torch.diag_embed),
    "diagonal_scatter": _plain(_diagonal_scatter),
    # The outer product of two vectors, which are written as rows.
    "outer": _plain(torch.outer, latex=Notation(r"{{{0}}}^\top \, {1}", _S.MATRIX, (_S.ATOM, _S.POWER))),
    "cross": _plain(torch.linalg.cross),
    # A power of -1 would be read element by element.
    "inverse": _plain(torch.linalg.inv),
    "inverse_transpose": _plain(
        lambda a: torch.linalg.inv(a).mT,
        Notation("inverse({0}).mT", _S.ATOM, (_S.SUM,)),
        Notation(r"{{{0}}}^{{-\top}}", _S.POWER, (_S.ATOM,)),
    ),
    "inverse_adjoint": _plain(
        lambda a: torch.linalg.inv(a).mH,
        Notation("inverse({0}).mH", _S.ATOM, (_S.SUM,)),
        Notation("{{{0}}}^{{-H}}", _S.POWER, (_S.ATOM,)),
    ),
    "solve_triangular": _plain(torch.linalg.solve_triangular),
    "cholesky": _plain(lambda a, upper=False: torch.linalg.cholesky(a, upper=upper)),
    "det": _plain(torch.linalg.det, latex=Notation(r"\det\left({0}\right)", _S.ATOM, (_S.CONDITION,))),
    "matrix_exp": _plain(torch.linalg.matrix_exp),
}
