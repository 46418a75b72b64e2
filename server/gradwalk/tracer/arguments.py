"""What a torch call was given: its tensors, and the one it is about to write into."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import torch

from gradwalk.tracer.originals import Tensor, is_inference, version_of, without_torch_function


def tensors_in(arguments: Iterable[Any]) -> Iterator[torch.Tensor]:
    """The tensors among a call's arguments or results, one level of lists and tuples opened."""
    for argument in arguments:
        if isinstance(argument, Tensor):
            yield argument
        elif isinstance(argument, (list, tuple)):
            for one in argument:
                if isinstance(one, Tensor):
                    yield one


@cache
def _writes_in_place(func: Callable[..., Any]) -> bool:
    return is_in_place(getattr(func, "__name__", ""))


def is_in_place(name: str) -> bool:
    """Whether an operation of this name writes into its first argument: `mul_`, `__imul__`, `__setitem__`."""
    return name[-1:] == "_" and (name[-2:] != "__" or name == "__setitem__" or name[:3] == "__i")


def written(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[torch.Tensor, int] | None:
    """What an operation is about to write into (its first argument, or its `out=`), and the version of that."""
    target = args[0] if args and _writes_in_place(func) else kwargs.get("out") if kwargs else None
    if not isinstance(target, Tensor):
        return None
    with without_torch_function():
        # An inference tensor has no version counter, and nothing can have saved it.
        return None if is_inference(target) else (target, version_of(target))
