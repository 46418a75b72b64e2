"""A tensor at a moment, as plain data.

This is the hot path of tracing, and it must not be noticed by the program: it makes no autograd node,
takes no sequence number, never hands out the tensor's own memory (an array over it would forbid
`resize_`), and uses functions bound when this module was imported, so a program that patches
`Tensor.tolist` changes nothing here. The caller holds `torch._C.DisableTorchFunction()` and has
unwrapped what functorch wraps.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensor

from gradwalk.protocol.facts import fact
from gradwalk.protocol.numbers import Number
from gradwalk.protocol.values import TensorValue
from gradwalk.tracer.decimals import ShortestTable, shortest_float32, shortest_float32_scalar, shortest_float64
from gradwalk.tracer.originals import to_list
from gradwalk.tracer.summary import summarise

_META: Final = fact("note-meta")
_TOO_LARGE: Final = fact("note-dense-too-large")
_OPAQUE: Final = fact("note-opaque-dtype")
SPARSE_ENTRIES = 2**24
"""A sparse tensor whose dense form has more entries is described by its shape alone."""

_base = torch._C.TensorBase
_shape_of, _dtype_of, _layout_of, _is_nested, _is_meta = (
    vars(_base)[name].__get__ for name in ("shape", "dtype", "layout", "is_nested", "is_meta")
)
_detach, _numel, _to_dense, _dequantize = _base.detach, _base.numel, _base.to_dense, _base.dequantize
_numpy, _FLOAT32 = _base.numpy, torch.float32
_to_padded, _strided, _array = torch.nested.to_padded_tensor, torch.strided, np.array

_Spell = Callable[[Any], list[Number]]
"""From `tensor.tolist()` to the format's flat list."""


def snapshot(tensor: torch.Tensor, elements: int) -> TensorValue:
    """The value of `tensor` now: every entry up to `elements` of them, a summary above.

    A sparse tensor is written as its dense form, with its layout; a quantized one as the numbers it stands for. A
    nested tensor is written padded to a box, the padding being NaN, with `layout` saying so. A meta tensor has no
    numbers, and those of a few dtypes cannot be read: the value then says why in `unavailable`.
    """
    if _layout_of(tensor) is not _strided or _is_nested(tensor):
        return _unusual_layout(tensor, elements)
    dtype = _dtype_of(tensor)
    shape = [*_shape_of(tensor)]
    name = _DTYPE_NAMES[dtype]
    if not has_numbers(tensor):
        return {"shape": shape, "dtype": name, "unavailable": _META}
    if dtype not in _SPELL:
        return _unusual_dtype(tensor, elements)
    if not shape and elements:
        return {"shape": shape, "dtype": name, "data": _SPELL_SCALAR[dtype](to_list(tensor))}
    if _numel(tensor) > elements:
        return {"shape": shape, "dtype": name, "summary": summarise(tensor)}
    return {"shape": shape, "dtype": name, "data": _SPELL[dtype](to_list(tensor))}


def has_numbers(tensor: torch.Tensor) -> bool:
    """Not so of a meta tensor, nor of a fake one, which names another device."""
    return not (_is_meta(tensor) or type(tensor) is FakeTensor)


def dtype_name(dtype: torch.dtype) -> str:
    """`float32`."""
    return _DTYPE_NAMES[dtype]


def spell_entries(tensor: torch.Tensor) -> list[Number]:
    """The entries of a vector that nobody else has, as a trace spells them."""
    dtype = _dtype_of(tensor)
    if dtype is _FLOAT32:
        return [*shortest_float32(_numpy(tensor))]
    return _SPELL[dtype](to_list(tensor))


def value_of_entries(entries: Any, shape: list[int], dtype: torch.dtype) -> TensorValue:
    """The value with these entries, given as (nested lists of) the float64 of the same numbers, row-major."""
    return {"shape": shape, "dtype": _DTYPE_NAMES[dtype], "data": _SPELL[dtype](entries)}


def _unusual_layout(tensor: torch.Tensor, elements: int) -> TensorValue:
    tensor = _detach(tensor)
    layout = str(_layout_of(tensor)).removeprefix("torch.")
    if _is_nested(tensor):
        value = snapshot(_to_padded(tensor, float("nan")), elements)
        value["layout"] = "nested, padded with NaN"
        return value
    if _numel(tensor) > SPARSE_ENTRIES or not has_numbers(tensor):
        why = _TOO_LARGE if has_numbers(tensor) else _META
        name, shape = _DTYPE_NAMES[_dtype_of(tensor)], [*_shape_of(tensor)]
        return {"shape": shape, "dtype": name, "layout": layout, "unavailable": why}
    value = snapshot(_to_dense(tensor), elements)
    value["layout"] = layout
    return value


def _unusual_dtype(tensor: torch.Tensor, elements: int) -> TensorValue:
    value: TensorValue
    try:
        value = snapshot(_dequantize(tensor), elements)
    except RuntimeError:
        # Neither quantized nor a number: `bits8`, `int4`; or quantized without a scale, as `torch.empty` makes it.
        value = {"shape": [*_shape_of(tensor)], "dtype": "", "unavailable": _OPAQUE}
    value["dtype"] = _DTYPE_NAMES[_dtype_of(tensor)]
    return value


def _flat(dtype: Any) -> _Spell:
    def spell(nested: Any) -> list[Number]:
        flat: list[Number] = _array(nested, dtype).reshape(-1).tolist()
        return flat

    return spell


def _float64_entries(nested: Any) -> list[Number]:
    return [*shortest_float64(_array(nested, np.float64).reshape(-1).tolist())]


def _float32_entries(nested: Any) -> list[Number]:
    return shortest_float32(_array(nested, np.float32).reshape(-1))  # type: ignore[return-value]


def _float32_scalar(number: Any) -> list[Number]:
    return [shortest_float32_scalar(number)]


def _small_entries(table: ShortestTable) -> _Spell:
    def spell(nested: Any) -> list[Number]:
        return [*table.spell(_array(nested, np.float64).reshape(-1).tolist())]

    return spell


def _complex_entries(spell_parts: _Spell, parts: Any) -> _Spell:
    """Real and imaginary parts are spelled like real numbers, then paired."""

    def spell(nested: Any) -> list[Number]:
        numbers = _array(nested, np.complex128).reshape(-1).view(np.float64).astype(parts)
        flat: list[Any] = spell_parts(numbers)
        return [[real, imaginary] for real, imaginary in zip(flat[::2], flat[1::2], strict=True)]

    return spell


_HALF, _BRAIN = ShortestTable(torch.float16), ShortestTable(torch.bfloat16)
_FLOAT8 = [getattr(torch, name) for name in dir(torch) if name.startswith("float8_")]
_INTEGERS = ("uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64")

_SPELL: dict[torch.dtype, _Spell] = {
    torch.float32: _float32_entries,
    torch.float64: _float64_entries,
    torch.float16: _small_entries(_HALF),
    torch.bfloat16: _small_entries(_BRAIN),
    torch.complex64: _complex_entries(_float32_entries, np.float32),
    torch.complex128: _complex_entries(_float64_entries, np.float64),
    torch.complex32: _complex_entries(_small_entries(_HALF), np.float64),
    torch.bool: _flat(np.bool_),
    **{dtype: _small_entries(ShortestTable(dtype)) for dtype in _FLOAT8},
    **{getattr(torch, name): _flat(getattr(np, name)) for name in _INTEGERS},
}
_SPELL_SCALAR: dict[torch.dtype, _Spell] = {**_SPELL, torch.float32: _float32_scalar}
_DTYPE_NAMES = {one: str(one).removeprefix("torch.") for one in vars(torch).values() if isinstance(one, torch.dtype)}
