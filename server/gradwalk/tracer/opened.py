"""Python-level torch functions opened up, so that the calls inside them are recorded too."""

import types
from typing import Any, Final

import torch

_OPENED_MODULES: Final = frozenset({"torch.nn.functional", "torch.functional"})
_ASKS: Final = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")
_BACKWARDS: Final = (torch.Tensor.backward, torch.autograd.backward, torch.autograd.grad)


def _no(*_arguments: Any, **_named: Any) -> bool:
    return False


def openable_body(func: Any) -> types.FunctionType | None:
    """A twin of a Python-level torch function that does not ask for overrides again; None where there is no need.

    The twin has the same code, but sees `has_torch_function` as always false, so it can run while calls are
    recorded without calling itself. Tensor methods that call `super()` would not end and are left closed.
    """
    if not isinstance(func, types.FunctionType):
        return None
    if func.__module__ not in _OPENED_MODULES and func not in _BACKWARDS:
        return None
    if not any(name in func.__code__.co_names for name in _ASKS):
        # A dispatcher such as `F.max_pool2d` leaves the question to the function it chooses, which would ask again.
        return None
    surroundings = dict(func.__globals__)
    surroundings.update({name: _no for name in _ASKS if name in surroundings})
    twin = types.FunctionType(func.__code__, surroundings, func.__name__, func.__defaults__, func.__closure__)
    twin.__kwdefaults__ = func.__kwdefaults__
    return twin
