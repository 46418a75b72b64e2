"""What a torch call was given: its tensors, and the one it is about to write into."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import torch

from gradwalk.tracer.originals import Tensor


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
    name: str = getattr(func, "__name__", "")
    return name[-1:] == "_" and (name[-2:] != "__" or name == "__setitem__" or name[:3] == "__i")


def written(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor | None:
    """What an operation is about to write into: its first argument, or its `out=`."""
    target = args[0] if args and _writes_in_place(func) else kwargs.get("out") if kwargs else None
    # An inference tensor has no version counter, and nothing can have saved it.
    return target if isinstance(target, Tensor) and not target.is_inference() else None
