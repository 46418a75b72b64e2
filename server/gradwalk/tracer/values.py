"""Tensors to values, each distinct content once.

The same numbers turn up in many places of a trace: a node's output, its consumer's operand, a saved
tensor; a grad_input, the contribution, the grad_output. They are looked up by their bytes, so equal
content is *one* dictionary, and `is` says "bit for bit the same".

The bytes are read without `.numpy()`, which would forbid the program to resize its tensor for good.
"""

import ctypes
import hashlib
from typing import Any, Final

import numpy as np
import torch

from gradwalk.protocol.values import TensorValue
from gradwalk.tracer import originals
from gradwalk.tracer.decimals import shortest_float32
from gradwalk.tracer.snapshot import snapshot

_KEPT_VALUES: Final = 50_000
_BASE: Final = torch._C.TensorBase
_address_of, _bytes_at = _BASE.data_ptr, ctypes.string_at
_count_of, _is_contiguous, _contiguous = _BASE.numel, _BASE.is_contiguous, _BASE.contiguous
_is_negated = _BASE.is_neg
_FLOAT32: Final = torch.float32
_ITEM_BYTES: Final = {
    dtype: dtype.itemsize
    for dtype in (
        torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool,
        torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
    )
}  # fmt: skip


class ValueTable:
    """Snapshots of one run. Values are shared between events and must not be changed."""

    def __init__(self, elements: int) -> None:
        self._elements = elements
        self._values: dict[object, TensorValue] = {}
        self.batch_size: int | None = None
        """The m of the vmap in which the current pass runs."""

    def value_of(self, tensor: torch.Tensor) -> TensorValue:
        """The tensor's content now. Call it where torch functions are not intercepted."""
        try:
            tensor = originals.plain(tensor)
            dtype = tensor.dtype
            count = _count_of(tensor)
            item_bytes = _ITEM_BYTES.get(dtype)
            if item_bytes is None or not tensor.is_cpu or _is_negated(tensor):
                return self._value_of_unusual(tensor)
            address = _address_of(tensor)
            if not address:
                return self._value_of_unusual(tensor)
            content: bytes
            if _is_contiguous(tensor):
                content = _bytes_at(address, count * item_bytes)
            else:
                dense = _contiguous(originals.detach(tensor))
                content = _bytes_at(_address_of(dense), count * item_bytes)
            shape = tensor.shape
        except (TypeError, RuntimeError, NotImplementedError):
            return self._value_of_unusual(tensor)
        if count > self._elements:
            content = hashlib.sha256(content).digest()
        key = (content, shape, dtype)
        value = self._values.get(key)
        if value is None:
            if dtype is _FLOAT32 and count <= self._elements:
                # The commonest case, spelled from the bytes at hand: the same as a snapshot, three times as quick.
                data: Any = shortest_float32(np.frombuffer(content, np.float32))
                value = {"shape": [*shape], "dtype": "float32", "data": data}
            else:
                value = snapshot(originals.detach(tensor), self._elements)
            self._keep(key, value)
        return value

    def unwrap(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor below vmap and functorch levels, with a batch as its first dimension."""
        if originals.is_legacy_batched(tensor):
            return originals.remove_batch_dimension(tensor, originals.legacy_vmap_level(), self.batch_size or 1, 0)
        while originals.is_functorch_wrapped(tensor):
            axis = originals.batch_axis(tensor)
            tensor = originals.functorch_unwrapped(tensor)
            if axis >= 0:
                tensor = tensor.movedim(axis, 0) if axis else tensor
        return tensor

    def _value_of_unusual(self, tensor: torch.Tensor) -> TensorValue:
        """Wrapped by a transform, or of a dtype, device or layout whose bytes are not simply there."""
        value = snapshot(originals.detach(self.unwrap(tensor)), self._elements)
        if "data" not in value:
            return value
        key = (repr(value["data"]), tuple(value["shape"]), value["dtype"], value.get("layout"))
        known = self._values.get(key)
        if known is None:
            self._keep(key, value)
            return value
        return known

    def _keep(self, key: object, value: TensorValue) -> None:
        if len(self._values) >= _KEPT_VALUES:
            self._values.clear()
        self._values[key] = value


def storage_address(tensor: torch.Tensor) -> int:
    """Where the tensor's storage begins; 0 for what has none."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0
