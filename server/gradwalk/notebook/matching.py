"""For tests of custom Functions: is a backward the derivative of its forward, and if not, where does it differ?"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.autograd.gradcheck import GradcheckError

from gradwalk.notebook.recording import Recording
from gradwalk.words.catalogue import tell


def assert_backward_matches(function: type[torch.autograd.Function] | Callable[..., Any], *inputs: Any) -> None:
    """Fails where a backward is not the derivative of its forward; says in which line, for which entry, by how much.

    `function` is a custom Function, or anything that calls some. Floating tensors among `inputs` are checked in double
    precision: those that require grad or, where none does, all. `torch.autograd.gradcheck` decides.

    >>> gradwalk.assert_backward_matches(torch.tanh, torch.randn(3))

    Raises:
        AssertionError: they differ. Where the backward that is wrong can be told, the text is what the page says of it,
            with file and line; else that of torch.
    """
    custom: Any = function if isinstance(function, type) else None
    code = custom.backward if custom is not None else getattr(function, "forward", function)

    def call(*given: Any) -> Any:
        # Looked up when it is called: recording listens at `apply`.
        return function(*given) if custom is None else custom.apply(*given)

    arguments = _in_double(inputs)
    try:
        torch.autograd.gradcheck(call, arguments)
    except GradcheckError as error:
        if not hasattr(inspect.unwrap(code), "__code__"):
            # One of torch's own.
            raise AssertionError(str(error)) from error
        file = inspect.getsourcefile(inspect.unwrap(code)) or ""
        names = inspect.signature(code if custom is None else custom.forward).parameters
        named = dict(zip((name for name in names if name != "ctx"), arguments, strict=False))
        raise AssertionError("\n".join(_explain(call, arguments, file, named)) or str(error)) from error


def _in_double(inputs: Sequence[Any]) -> list[Any]:
    floating = [one for one in inputs if isinstance(one, torch.Tensor) and one.is_floating_point()]
    chosen = [one for one in floating if one.requires_grad] or floating
    return [
        one.detach().double().requires_grad_(any(one is other for other in chosen))
        if any(one is other for other in floating)
        else one
        for one in inputs
    ]


def _explain(call: Callable[..., Any], arguments: Sequence[Any], file: str, named: Mapping[str, Any]) -> list[str]:
    """What is found wrong in one recorded pass; v differs from entry to entry."""
    asked = [one for one in arguments if isinstance(one, torch.Tensor) and one.requires_grad]
    with Recording(file, named) as trace:
        returned = call(*arguments)
        outputs = [one for one in (returned if isinstance(returned, tuple) else (returned,)) if one.requires_grad]
        seeds = [torch.linspace(1, 2, one.numel(), dtype=one.dtype).reshape(one.shape) for one in outputs]
        torch.autograd.grad(outputs, asked, seeds, allow_unused=True)
    found = [one for event in trace.events if event["type"] == "pass_finished" for one in event.get("findings", ())]
    return [
        f"{file}:{one['span']['line']}: {tell(one['fact'])}" if one["span"] else tell(one["fact"])
        for one in found
        if one["kind"] == "wrong_backward"
    ]
