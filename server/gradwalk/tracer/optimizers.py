"""An optimizer's step that changes nothing is said: PyTorch skips a parameter without a gradient, and says nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from torch.optim.optimizer import Optimizer, register_optimizer_step_pre_hook

from gradwalk.protocol.facts import Fact, fact
from gradwalk.tracer import originals
from gradwalk.tracer.frames import snippet_place
from gradwalk.tracer.places import Places

_LINES_TOLD: Final = 4


class OptimizerWatch:
    """Looks at each step before it is made; a line is told once."""

    def __init__(self, places: Places, note: Callable[[Fact], None]) -> None:
        self._places = places
        self._note = note
        self._told: set[str] = set()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watches the steps of all optimizers."""
        hook = register_optimizer_step_pre_hook(self._look)
        try:
            yield
        finally:
            hook.remove()

    def _look(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        # A closure computes the gradients itself.
        if len(args) > 1 or kwargs or len(self._told) >= _LINES_TOLD:
            return
        with originals.without_torch_function():
            if any(one.grad is not None for group in optimizer.param_groups for one in group["params"]):
                return
        line = self._places.line(snippet_place(originals.frame_at(1)))
        if line is not None and line not in self._told:
            self._told.add(line)
            self._note(fact("note-nothing-to-step", line=line))
