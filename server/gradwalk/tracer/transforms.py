"""Transforms that differentiate a function of the program: torch.func, and torch.autograd.functional.

They make leaves of their own from the function's arguments. Such a leaf is called by the argument; the variable that
takes the transform's result has nothing to do with it.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any, Final

import torch

from gradwalk.tracer import originals
from gradwalk.tracer.values import storage_address

_TRANSFORMS: Final = frozenset({"torch._functorch.eager_transforms", "torch.autograd.functional"})
_ARGUMENTS: Final = ("primals", "args", "inputs")
"""What those modules call the arguments of the function `func`, in the order in which they are looked for."""
_FRAMES_ABOVE: Final = 24
_DEPTH: Final = 4


def argument_name(leaf: torch.Tensor, frame: FrameType | None) -> str | None:
    """What the function calls the argument that a transform makes this leaf from, in or above `frame`; else None.

    Of transforms within transforms the innermost of a function of the program.
    """
    found: str | None = None
    for _ in range(_FRAMES_ABOVE):
        if frame is None or frame.f_code.co_filename in originals.PROGRAM_FILES:
            break
        if frame.f_globals.get("__name__") in _TRANSFORMS and "func" in frame.f_locals:
            function = frame.f_locals["func"]
            name = _name_among(leaf, function, frame.f_locals)
            if name is not None and _is_users(function):
                return name
            found = found or name
        frame = frame.f_back
    return found


def _name_among(leaf: torch.Tensor, function: Any, variables: Mapping[str, Any]) -> str | None:
    for name in _ARGUMENTS:
        arguments = variables.get(name)
        given = arguments if isinstance(arguments, tuple) else (arguments,)
        for position, argument in enumerate(given):
            path = _path_to(leaf, argument, _DEPTH)
            if path is not None:
                return f"{_parameter(function, position)}{path}"
    return None


def _is_users(function: Any) -> bool:
    code = getattr(originals.innermost(function), "__code__", None)
    return code is not None and code.co_filename in originals.PROGRAM_FILES


def runs_in_transform() -> bool:
    """Whether a transform of torch.func is running."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def batch_sizes(tensor: torch.Tensor) -> list[int]:
    """The sizes of the batches that the vmaps of torch.func put around a tensor, outermost first."""
    sizes = []
    for wrapped, inner in _layers(tensor):
        axis = originals.batch_axis(wrapped)
        if axis >= 0:
            sizes.append(int(inner.shape[axis]))
    return sizes


def _layers(tensor: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    while originals.is_functorch_wrapped(tensor):
        inner = originals.functorch_unwrapped(tensor)
        yield tensor, inner
        tensor = inner


def _path_to(leaf: torch.Tensor, value: Any, depth: int) -> str | None:
    """Where in an argument the leaf, or the tensor that it is a copy of, is: `` for itself, `['w']`, `[0]`."""
    if isinstance(value, originals.Tensor):
        is_it = value is leaf or (_address(value) == _address(leaf) != 0 and value.shape == leaf.shape)
        return "" if is_it else None
    if depth == 0 or not isinstance(value, dict | list | tuple):
        return None
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in items:
        path = _path_to(leaf, member, depth - 1)
        if path is not None:
            return f"[{key!r}]{path}"
    return None


def _address(tensor: torch.Tensor) -> int:
    return storage_address(unwrapped(tensor))


def unwrapped(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor below the transforms."""
    while originals.is_functorch_wrapped(tensor):
        tensor = originals.functorch_unwrapped(tensor)
    return tensor


def _parameter(function: Callable[..., Any], position: int) -> str:
    """What a function calls its argument at a position."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return f"argument {position}"
    if position < len(parameters) and parameters[position].kind is not inspect.Parameter.VAR_POSITIONAL:
        return parameters[position].name
    several = [one.name for one in parameters if one.kind is inspect.Parameter.VAR_POSITIONAL]
    return f"{several[0]}[{position - len(parameters) + 1}]" if several else f"argument {position}"
