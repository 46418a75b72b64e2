"""Values from the request to tensors: free variables, overrides of named leaves, the external gradient."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import torch

from gradwalk.protocol.facts import Fact, fact
from gradwalk.tracer.originals import grad_fn_of
from gradwalk.words.catalogue import tell

_NON_FINITE: Final[Mapping[str, float]] = {
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}
_KEYS: Final = frozenset({"value", "requires_grad", "dtype"})


class InputError(ValueError):
    """A value of the request that is no tensor; `fact` tells the person who gave it why."""

    def __init__(self, why: Fact) -> None:
        super().__init__(tell(why))
        self.fact = why


class _NoNumberError(ValueError):
    """Text where a number should be."""


class InputValue(NamedTuple):
    """One entry of `options.inputs`, with what it leaves open as None."""

    value: Any
    requires_grad: bool | None
    dtype: torch.dtype | None


def read_input(name: str, entry: Any) -> InputValue:
    """An entry as it was given: a number, nested lists, or `{value, requires_grad, dtype}`.

    Raises:
        InputError: an unknown key or dtype, or no value.
    """
    if not isinstance(entry, Mapping):
        return InputValue(entry, None, None)
    unknown = set(entry) - _KEYS
    if unknown or "value" not in entry:
        raise InputError(fact("problem-input-form", name=name))
    dtype = entry.get("dtype")
    found = getattr(torch, dtype, None) if isinstance(dtype, str) else None
    if dtype is not None and not isinstance(found, torch.dtype):
        raise InputError(fact("problem-input-dtype", name=name, dtype=str(dtype)))
    return InputValue(entry["value"], entry.get("requires_grad"), found)


def free_variable(name: str, entry: Any) -> torch.Tensor:
    """The tensor that a free variable stands for; it requires grad unless the entry says otherwise.

    Raises:
        InputError: the entry is no tensor.
    """
    given = read_input(name, entry)
    requires_grad = True if given.requires_grad is None else given.requires_grad
    dtype = given.dtype or (torch.get_default_dtype() if requires_grad else None)
    return make_tensor(name, given.value, dtype, requires_grad=requires_grad)


def override(name: str, entry: Any, current: Any) -> Any:
    """What takes the place of `current`, which the program was about to assign: of its dtype, and a leaf if it is one.

    Raises:
        InputError: the entry is no tensor, or `current` was computed and so cannot be set.
    """
    given = read_input(name, entry)
    if not isinstance(current, torch.Tensor):
        return given.value if given.dtype is None else make_tensor(name, given.value, given.dtype, requires_grad=False)
    if grad_fn_of(current) is not None:
        raise InputError(fact("problem-input-computed", name=name))
    requires_grad = current.requires_grad if given.requires_grad is None else given.requires_grad
    return make_tensor(name, given.value, given.dtype or current.dtype, requires_grad=requires_grad)


def set_parameter(name: str, entry: Any, owner: Any, path: str) -> Any:
    """Writes the entry into a parameter of `owner` without a word to autograd; an owner that has none stays as it is.

    Raises:
        InputError: the entry is no tensor of the parameter's shape.
    """
    parameter: Any = owner
    for attribute in path.split("."):
        parameter = getattr(parameter, attribute, None)
    if isinstance(owner, torch.nn.Module) and isinstance(parameter, torch.nn.Parameter):
        values = make_tensor(name, read_input(name, entry).value, parameter.dtype, requires_grad=False)
        if values.shape != parameter.shape:
            reason = f"{[*values.shape]}, {[*parameter.shape]}"
            raise InputError(fact("problem-input-no-tensor", name=name, reason=reason))
        # Not in place on the parameter itself: its version counter is the program's.
        parameter.data.copy_(values)
    return owner


def make_tensor(name: str, value: Any, dtype: torch.dtype | None, *, requires_grad: bool) -> torch.Tensor:
    """A leaf with the given entries.

    Raises:
        InputError: not numbers, ragged lists, or a dtype that cannot require grad.
    """
    try:
        return torch.tensor(_plain(value, dtype), dtype=dtype, requires_grad=requires_grad)
    except _NoNumberError as error:
        raise InputError(fact("problem-input-no-number", name=name, text=str(error))) from error
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(fact("problem-input-no-tensor", name=name, reason=reason)) from error


def _plain(value: Any, dtype: torch.dtype | None) -> Any:
    """Non-finite spellings to numbers, and `[re, im]` to complex numbers where the dtype is complex."""
    if isinstance(value, str):
        if value not in _NON_FINITE:
            raise _NoNumberError(repr(value))
        return _NON_FINITE[value]
    if isinstance(value, (list, tuple)):
        is_pair = len(value) == 2 and not any(isinstance(one, (list, tuple)) for one in value)
        if dtype is not None and dtype.is_complex and is_pair:
            return complex(_plain(value[0], None), _plain(value[1], None))
        return [_plain(one, dtype) for one in value]
    return value
