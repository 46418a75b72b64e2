"""Functions of ours in the place of torch's, for as long as something is recorded."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def replaced(find: Callable[[], Any], name: str, own: Any) -> Iterator[None]:
    """Inside, an attribute of the class or module that `find` gives is ours; afterwards it is what it was.

    `find` is asked again at the end: it raises where a program took away the way to it, which is then told.
    """
    original = vars(find()).get(name)
    setattr(find(), name, own)
    try:
        yield
    finally:
        if original is None:
            delattr(find(), name)
        else:
            setattr(find(), name, original)


@contextmanager
def around_functions(run: Callable[[type, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]) -> Iterator[None]:
    """Inside, `run` makes each call of an `autograd.Function`: given its class, its `apply` and the arguments."""
    original: Any = torch.autograd.Function.__dict__["apply"]

    def apply(cls: type, *args: Any, **kwargs: Any) -> Any:
        return run(cls, original.__get__(None, cls), args, kwargs)

    with replaced(lambda: torch.autograd.Function, "apply", classmethod(apply)):
        yield
