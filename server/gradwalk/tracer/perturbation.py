"""A whole program as a function of its leaves: it is run again with one entry of one leaf moved a little.

A leaf is known by its place in the order of first uses, which is the same in every run. It is moved right before the
program first reads its values after the latest write to it: a fill, or an optimizer's step, which is no part of the
graph of the pass that follows. For differences, everything is computed in double precision:
tensors are widened where they are first read, so random numbers are still drawn in the program's own dtype.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import torch
from torch.overrides import TorchFunctionMode

from gradwalk.tracer import originals
from gradwalk.tracer.arguments import is_in_place, tensors_in
from gradwalk.tracer.originals import Tensor, grad_fn_of
from gradwalk.tracer.patches import around_functions
from gradwalk.tracer.values import storage_address

_WIDER: Final = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}
_CASTS: Final = frozenset({"float", "half", "bfloat16", "double", "cfloat", "chalf"})
_FILLS: Final = frozenset(
    {"bernoulli_", "cauchy_", "copy_", "exponential_", "fill_", "geometric_", "log_normal_", "normal_", "random_",
     "set_", "uniform_", "zero_"}
)  # fmt: skip
"""Give a tensor new values without reading the old ones."""
_LIKE: Final = frozenset({"rand_like", "randn_like", "randint_like"})
_MASKS: Final = frozenset({"dropout", "feature_dropout"})
"""Multiply by a random mask, which must be drawn in the program's own dtype to be the same one."""
_READS_NO_VALUES: Final = frozenset(
    {"__format__", "__get__", "__len__", "__repr__", "__set__", "data_ptr", "dim", "element_size",
     "get_device", "has_names", "is_complex", "is_contiguous", "is_floating_point", "is_inference",
     "ndimension", "nelement", "numel", "register_hook", "register_post_accumulate_grad_hook",
     "requires_grad_", "retain_grad", "size", "storage_offset", "stride"}
)  # fmt: skip
_VALUE_GETTERS: Final = frozenset({"H", "T", "data", "imag", "mH", "mT", "real"})


class Move(NamedTuple):
    """One leaf with other values."""

    leaf: int
    """Place in the order of first uses."""
    write: int
    """Which of the leaf's values are replaced: how often it had been written to by then."""
    values: torch.Tensor


class Leaves(TorchFunctionMode):
    """The leaves of a run in the order in which their values are first read; can widen them, and move one.

    Enter it before the recorder's own mode.
    """

    def __init__(self, *, in_double: bool, move: Move | None = None) -> None:
        super().__init__()
        self.found: list[torch.Tensor] = []
        self.values: list[torch.Tensor] = []
        """Copies, as they were first read after the latest write."""
        self.writes: list[int] = []
        """How often each was written to after it was first read."""
        self._in_double = in_double
        self._move = move
        self._numbers: dict[int, int] = {}
        """`id` -> place in the order; `found` keeps the leaves alive."""
        self._fresh: set[int] = set()
        """Numbers of leaves that were filled anew since they were read."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name: str = getattr(func, "__name__", "")
        if name == "__get__":
            name = getattr(getattr(func, "__self__", None), "__name__", "")
            if name not in _VALUE_GETTERS:
                return func(*args, **kwargs)
        if name in _READS_NO_VALUES:
            if name == "__set__" and func.__self__ is torch.Tensor.data:  # type: ignore[attr-defined]
                self._note_write(args[:1])
            return func(*args, **kwargs)
        if getattr(func, "__module__", "") == torch.nn.init.__name__:
            self._note_write((*args, *kwargs.values()))
            return func(*args, **kwargs)
        read = args[1:] if name in _FILLS else args
        with originals.without_torch_function():
            self.read((*read, *kwargs.values()))
            if self._in_double:
                args, kwargs = self._widen_request(name, args, kwargs)
                if name in _CASTS and isinstance(args[0], Tensor):
                    return originals.clone(args[0]) if args[0].dtype in _WIDER.values() else func(*args, **kwargs)
                if name in _MASKS and isinstance(args[0], Tensor):
                    mask = func(torch.ones_like(args[0], dtype=torch.get_default_dtype()), *args[1:], **kwargs)
                    return args[0] * mask.to(args[0].dtype)
        if is_in_place(name):
            self._note_write(args[:1])
        return func(*args, **kwargs)

    def read(self, arguments: Sequence[Any]) -> None:
        """Takes note of tensors whose values are about to be read."""
        for tensor in tensors_in(arguments):
            if grad_fn_of(tensor) is not None:
                continue
            if self._in_double:
                self._widen(tensor)
            if tensor.requires_grad:
                number = self._numbers.get(id(tensor))
                if number is None:
                    self._numbers[id(tensor)] = number = len(self.found)
                    self.found.append(tensor)
                    self.values.append(tensor)
                    self.writes.append(0)
                elif number not in self._fresh:
                    continue
                self._note(tensor, number)

    def _note_write(self, written: Sequence[Any]) -> None:
        with originals.without_torch_function():
            addresses = {storage_address(one) for one in tensors_in(written)}
            for number, leaf in enumerate(self.found):
                if storage_address(leaf) in addresses:
                    self._fresh.add(number)
                    self.writes[number] += 1

    def _note(self, leaf: torch.Tensor, number: int) -> None:
        self._fresh.discard(number)
        move = self._move
        if move is not None and (move.leaf, move.write) == (number, self.writes[number]):
            # Not counted as a write: the program has not done one.
            originals.detach(leaf.data).copy_(move.values)
        self.values[number] = originals.clone(originals.detach(leaf))

    def _widen(self, tensor: torch.Tensor) -> None:
        dtype = _WIDER.get(tensor.dtype)
        if dtype is not None and tensor.layout is torch.strided and not originals.is_functorch_wrapped(tensor):
            tensor.data = tensor.data.to(dtype)

    def _widen_request(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if name in _LIKE:
            return args, {"dtype": torch.get_default_dtype(), **kwargs}
        if not any(isinstance(one, Tensor) for one in tensors_in(args)):
            # A factory draws in the dtype it was asked for; what it made is widened where it is read.
            return args, kwargs
        return (
            tuple(_WIDER.get(one, one) if isinstance(one, torch.dtype) else one for one in args),
            {key: _WIDER.get(one, one) if isinstance(one, torch.dtype) else one for key, one in kwargs.items()},
        )


@contextmanager
def watching(leaves: Leaves) -> Iterator[None]:
    """With the leaves of this run looked at, those given to custom Functions included."""

    def watched(_cls: type, run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with originals.without_torch_function():
            leaves.read(args)
        return run(*args, **kwargs)

    with around_functions(watched), leaves:
        yield
