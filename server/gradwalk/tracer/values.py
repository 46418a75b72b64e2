"""Tensors to values, each distinct content once.

The same numbers turn up in many places of a trace: a node's output, its consumer's operand, a saved
tensor; a grad_input, the contribution, the grad_output. They are looked up by their bytes, so equal
content is *one* dictionary, and `is` says "bit for bit the same".

The bytes are read without `.numpy()`, which would forbid the program to resize its tensor for good.
"""

import ctypes
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import torch

from gradwalk.protocol.values import TensorValue
from gradwalk.tracer import originals
from gradwalk.tracer.decimals import shortest_float32
from gradwalk.tracer.snapshot import dtype_name, has_numbers, snapshot, spell_entries
from gradwalk.tracer.summary import summarise_all

_KEPT_VALUES: Final = 50_000
_BASE: Final = torch._C.TensorBase
_address_of, _bytes_at = _BASE.data_ptr, ctypes.string_at
_count_of, _is_contiguous, _contiguous = _BASE.numel, _BASE.is_contiguous, _BASE.contiguous
_is_negated, _stride_of = _BASE.is_neg, _BASE.stride
_cat, _reshape = torch.cat, _BASE.reshape
_layout_of, _is_nested, _is_cpu = (vars(_BASE)[name].__get__ for name in ("layout", "is_nested", "is_cpu"))
_PLAIN_TYPES: Final = frozenset({torch.Tensor, torch.nn.Parameter})
_STRIDED: Final = torch.strided
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
        self._together: list[tuple[torch.Tensor, TensorValue]] | None = None
        """Large values without their summaries, while several are read together."""
        self._packed: dict[int, tuple[torch.Tensor, TensorValue]] = {}
        """By `id`, tensors that are kept as they were, and their values."""
        self._there: dict[tuple[Any, ...], TensorValue] = {}
        """The same by address, shape, strides and dtype."""
        self.look_at_summary: Callable[[torch.Tensor, TensorValue], None] | None = None
        """Given each tensor that is only summarised, while it is what its value says."""
        self.entries_summarised = 0
        """Of all values so far; a measure of what they cost."""

    @contextmanager
    def together(self) -> Iterator[None]:
        """Inside, large values get their summaries only at the end, all at once; no tensor may change before that."""
        if self._together is not None:
            yield
            return
        waiting = self._together = []
        try:
            yield
        finally:
            self._together = None
            self._fill_summaries(waiting)

    def pack(self, tensors: Iterable[torch.Tensor], copied: Sequence[tuple[torch.Tensor, torch.Tensor]] = ()) -> None:
        """Reads many tensors at once; until `unpack`, `value_of` knows each by its identity.

        None of them may change as long. Call it where torch functions are not intercepted and no graph is built.

        Args:
            tensors: in any order, also several times.
            copied: tensors that may have changed already, with copies of what they were.
        """
        packed = self._packed
        waiting = self._enter(copy for _, copy in copied)
        for original, copy in _still_same([pair for pair in copied if _is_ordinary(pair[1])]):
            packed[id(original)] = original, packed[id(copy)][1]
        waiting += self._enter(tensors)
        small: defaultdict[torch.dtype, list[tuple[torch.Tensor, TensorValue]]] = defaultdict(list)
        large: list[tuple[torch.Tensor, TensorValue]] = []
        for tensor, value in waiting:
            (small[tensor.dtype] if _count_of(tensor) <= self._elements else large).append((tensor, value))
        for alike in small.values():
            _fill_entries(alike)
        self._fill_summaries(large)

    def _enter(self, tensors: Iterable[torch.Tensor]) -> list[tuple[torch.Tensor, TensorValue]]:
        """Those that nobody has read yet, with values that are still to be filled in."""
        waiting: list[tuple[torch.Tensor, TensorValue]] = []
        packed, there = self._packed, self._there
        for tensor in tensors:
            if id(tensor) in packed:
                continue
            if not _is_ordinary(tensor):
                packed[id(tensor)] = tensor, self.value_of(tensor)
                continue
            dtype, shape = tensor.dtype, tensor.shape
            place = _address_of(tensor), shape, _stride_of(tensor), dtype
            value = there.get(place)
            if value is None:
                value = there[place] = {"shape": [*shape], "dtype": dtype_name(dtype)}
                waiting.append((tensor, value))
            packed[id(tensor)] = tensor, value
        return waiting

    def unpack(self, kept: Iterable[torch.Tensor] = ()) -> None:
        """Forgets what was packed, but for these."""
        self._packed = {id(tensor): known for tensor in kept if (known := self._packed.get(id(tensor))) is not None}
        self._there.clear()

    def value_of(self, tensor: torch.Tensor) -> TensorValue:
        """The tensor's content now. Call it where torch functions are not intercepted."""
        packed = self._packed.get(id(tensor))
        if packed is not None and packed[0] is tensor:
            return packed[1]
        try:
            tensor = originals.plain(tensor)
            dtype = tensor.dtype
            count = _count_of(tensor)
            item_bytes = _ITEM_BYTES.get(dtype)
            if item_bytes is None or not tensor.is_cpu or _is_negated(tensor) or not has_numbers(tensor):
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
            elif count > self._elements and self._together is not None:
                value = {"shape": [*shape], "dtype": dtype_name(dtype)}
                self._together.append((originals.detach(tensor), value))
            else:
                value = self._snapshot(tensor)
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
        with originals.outside_transforms():
            value = self._snapshot(self.unwrap(tensor))
        if "data" not in value:
            return value
        key = (repr(value["data"]), tuple(value["shape"]), value["dtype"], value.get("layout"))
        known = self._values.get(key)
        if known is None:
            self._keep(key, value)
            return value
        return known

    def _snapshot(self, tensor: torch.Tensor) -> TensorValue:
        plain = originals.detach(tensor)
        value = snapshot(plain, self._elements)
        if "summary" not in value:
            return value
        self.entries_summarised += _count_of(plain)
        if self.look_at_summary is not None:
            self.look_at_summary(plain, value)
        return value

    def _fill_summaries(self, waiting: Sequence[tuple[torch.Tensor, TensorValue]]) -> None:
        tensors = [tensor for tensor, _ in waiting]
        self.entries_summarised += sum(map(_count_of, tensors))
        for (tensor, value), summary in zip(waiting, summarise_all(tensors), strict=True):
            value["summary"] = summary
            if self.look_at_summary is not None:
                self.look_at_summary(tensor, value)

    def _keep(self, key: object, value: TensorValue) -> None:
        if len(self._values) >= _KEPT_VALUES:
            self._values.clear()
        self._values[key] = value


def _fill_entries(waiting: Sequence[tuple[torch.Tensor, TensorValue]]) -> None:
    """Of tensors of one dtype."""
    entries = spell_entries(_cat([_reshape(tensor, (-1,)) for tensor, _ in waiting]))
    start = 0
    for tensor, value in waiting:
        end = start + _count_of(tensor)
        value["data"] = entries[start:end]
        start = end


def _is_ordinary(tensor: torch.Tensor) -> bool:
    """Whether its entries lie in the processor's memory as they are."""
    if type(tensor) not in _PLAIN_TYPES or _layout_of(tensor) is not _STRIDED or tensor.dtype not in _ITEM_BYTES:
        return False
    try:
        return bool(_is_cpu(tensor) and not _is_nested(tensor) and not _is_negated(tensor) and _address_of(tensor))
    except RuntimeError:
        return False


def _still_same(pairs: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The originals, with their copies, that nobody wrote into."""
    alike: defaultdict[torch.dtype, list[tuple[torch.Tensor, torch.Tensor]]] = defaultdict(list)
    for pair in pairs:
        alike[pair[1].dtype].append(pair)
    for some in alike.values():
        if _are_same(some):
            yield from some
        else:
            yield from (pair for pair in some if _are_same([pair]))


def _are_same(pairs: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> bool:
    """Bit for bit; a NaN is itself."""
    ours, theirs = (_cat([_reshape(one, (-1,)) for one in side]).view(torch.uint8) for side in zip(*pairs, strict=True))
    return torch.equal(ours, theirs)


def tensor_of(value: TensorValue) -> torch.Tensor:
    """A real value that was told in full, as a tensor again."""
    dtype: torch.dtype = getattr(torch, value["dtype"])
    # NaN and infinity are written as words.
    return torch.tensor([*map(float, value["data"])], dtype=dtype).reshape(value["shape"])  # type: ignore[arg-type]


def storage_address(tensor: torch.Tensor) -> int:
    """Where the tensor's storage begins; 0 for what has none."""
    try:
        return tensor.untyped_storage().data_ptr() if has_numbers(tensor) else 0
    except (RuntimeError, NotImplementedError):
        return 0
