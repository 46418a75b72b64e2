"""The `.grad` of live leaves, put aside and put back."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch


@contextmanager
def grads_kept(outputs: Sequence[torch.Tensor]) -> Iterator[None]:
    """Whatever is accumulated inside, every leaf behind `outputs` has its own `.grad` again afterwards.

    Inside, a leaf holds a copy of its gradient, because the engine adds in place.
    """
    before = [(leaf, leaf.grad) for leaf in find_leaves(outputs)]
    for leaf, grad in before:
        leaf.grad = None if grad is None else grad.detach().clone()
    try:
        yield
    finally:
        for leaf, grad in before:
            leaf.grad = grad


def find_leaves(outputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The tensors in which a backward from `outputs` would accumulate, each once."""
    leaves = [output for output in outputs if output.grad_fn is None and output.requires_grad]
    waiting = [output.grad_fn for output in outputs if output.grad_fn is not None]
    seen = set(waiting)
    while waiting:
        node = waiting.pop()
        variable = getattr(node, "variable", None)
        if isinstance(variable, torch.Tensor):
            leaves.append(variable)
        for after, _ in node.next_functions:
            if after is not None and after not in seen:
                seen.add(after)
                waiting.append(after)
    return leaves
