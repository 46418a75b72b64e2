"""What an operand or an output of a node is: shape, dtype, and the vectors of its space."""

import contextlib
import ctypes
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, Final

import numpy as np
import torch

from gradwalk.formulas.entry import Kind
from gradwalk.tracer.originals import to_list

_base = torch._C.TensorBase
_reshape, _resolve_conj, _to_dense = _base.reshape, _base.resolve_conj, _base.to_dense
_sum_to_size, _to, _address_of, _contiguous = _base.sum_to_size, _base.to, _base.data_ptr, _base.contiguous
_view_as_real, _view_as_complex = torch.view_as_real, torch.view_as_complex
_zeros, _eye, _strided = torch.zeros, torch.eye, torch.strided


_ROWS_KEPT: Final = 64
_WIDE: Final = {torch.float32: np.float32, torch.float64: np.float64}


class Side:
    """One output or one operand of a node. Complex entries count as two, a real and an imaginary part."""

    __slots__ = (
        "_one_hots", "_stacked", "dtype", "entries", "is_nested", "is_plain", "kind", "real_dtype", "real_shape",
        "shape",
    )  # fmt: skip

    def __init__(self, shape: tuple[int, ...], dtype: torch.dtype, *, is_plain: bool, is_nested: bool = False) -> None:
        self.shape = shape
        self.dtype = dtype
        self.kind = Kind(shape, dtype)
        """What formulas know of it."""
        self.is_plain = is_plain
        """A dense tensor in ordinary memory."""
        self.is_nested = is_nested
        """A nested tensor has no one shape: nothing is said of its space."""
        self.real_dtype = dtype.to_real() if dtype.is_complex else dtype
        self.real_shape = (*shape, 2) if dtype.is_complex else shape
        self.entries = prod(self.real_shape)
        self._one_hots: list[torch.Tensor] | None = None
        self._stacked: torch.Tensor | None = None

    def zeros(self) -> torch.Tensor:
        """A fresh zero gradient."""
        return _zeros(self.shape, dtype=self.dtype, device="cpu")

    def one_hot(self, index: int) -> torch.Tensor:
        """A one-hot v in memory of its own: `as_strided_scatter` looks at the layout of what it is given."""
        v = _zeros(self.real_shape, dtype=self.real_dtype, device="cpu")
        _reshape(v, (-1,))[index] = 1
        return _view_as_complex(v) if self.dtype.is_complex else v

    def lasting_one_hots(self) -> Sequence[torch.Tensor]:
        """One-hot v's that are made once, for readers that do not write into them."""
        if self._one_hots is None:
            self._one_hots = [self.one_hot(index) for index in range(self.entries)]
        return self._one_hots

    def one_hots(self) -> torch.Tensor:
        """All one-hot v's, stacked along a new first axis; for readers that do not write into them."""
        if self._stacked is not None:
            return self._stacked
        eye = _reshape(_eye(self.entries, dtype=self.real_dtype, device="cpu"), (-1, *self.real_shape))
        stacked = _view_as_complex(eye) if self.dtype.is_complex else eye
        if self.entries <= _ROWS_KEPT:
            self._stacked = stacked
        return stacked

    def fit(self, gradient: torch.Tensor) -> torch.Tensor:
        """As the engine does it after a node: summed to this shape where that was broadcast, and cast."""
        if gradient.layout is not _strided:
            gradient = _to_dense(gradient)
        if gradient.shape != self.shape:
            gradient = _sum_to_size(gradient, self.shape)
        if gradient.dtype != self.dtype:
            if gradient.is_complex() and not self.dtype.is_complex:
                gradient = gradient.real
            gradient = _to(gradient, self.dtype)
        return gradient


def side_of(metadata: Any) -> Side:
    """The side that an entry of a node's `_input_metadata` describes."""
    if metadata.is_nested_tensor or metadata.is_cpp_nested_tensor:
        return Side((), metadata.dtype, is_plain=False, is_nested=True)
    return _side(tuple(metadata.shape), metadata.dtype, is_plain=metadata.device.type == "cpu")


def sides_of(node: Any) -> tuple[list[Side], list[Side | None]]:
    """The sides of a live node: of its outputs, and of its operands, None where no edge leads on."""
    outputs = [side_of(metadata) for metadata in node._input_metadata]
    operands = [
        None if following is None else side_of(following._input_metadata[slot])
        for following, slot in node.next_functions
    ]
    return outputs, operands


@lru_cache(maxsize=1024)
def _side(shape: tuple[int, ...], dtype: torch.dtype, *, is_plain: bool) -> Side:
    return Side(shape, dtype, is_plain=is_plain)


def entries_of(gradient: torch.Tensor) -> Any:
    """All entries as nested lists, real and imaginary parts side by side. Call it where grad mode is off."""
    if gradient.layout is not _strided:
        gradient = _to_dense(gradient)
    if gradient.is_complex():
        gradient = _view_as_real(_resolve_conj(gradient))
    return to_list(gradient)


def numbers_of(gradient: torch.Tensor) -> np.ndarray[Any, np.dtype[np.float64]]:
    """As `entries_of`, flat, and read from memory where the entries are simply there."""
    dtype = _WIDE.get(gradient.dtype)
    if dtype is not None and gradient.layout is _strided and not gradient.is_neg():
        with contextlib.suppress(RuntimeError):
            dense = _contiguous(gradient)
            address = _address_of(dense)
            if address:
                content = ctypes.string_at(address, dense.numel() * dense.itemsize)
                return np.frombuffer(content, dtype).astype(np.float64)
    return np.array(entries_of(gradient), np.float64).reshape(-1)


Row = Sequence[torch.Tensor | None]
"""What a node returns for one v: a gradient per operand."""
