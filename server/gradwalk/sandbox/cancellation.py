"""A wish to stop that may be expressed before, while and after there is something to stop."""

from collections.abc import Callable

_Action = Callable[[], None] | None

LOWEST_PRIORITY = 15
"""As `nice` counts, which grows as priority falls."""


class Cancellation:
    """Set by whoever no longer waits, or needs the place; from any thread; heard by whoever runs the child.

    A wish is noted before it is looked whether anything is bound, and the other way round: whichever comes second acts.
    """

    def __init__(self) -> None:
        self.is_wished = False
        """True from the first `cancel` on."""
        self.is_postponed = False
        """True between `postpone` and `resume`."""
        self._niceness = 0
        self._bound: tuple[_Action, Callable[[int], None] | None] = (None, None)

    def cancel(self) -> None:
        """Stops what is bound now, or what will be bound later."""
        self.is_wished = True
        self._act()

    def postpone(self) -> None:
        """As `cancel`, but the same work will be taken up again."""
        self.is_postponed = True
        self._act()

    def resume(self) -> None:
        """The work is taken up again."""
        self.is_postponed = False

    def step_back(self, niceness: int = LOWEST_PRIORITY) -> None:
        """Lets others have the processor first, now and whatever is bound later; never less than before."""
        self._niceness = max(self._niceness, min(niceness, LOWEST_PRIORITY))
        self._act()

    def bind(self, stop: _Action, step_back: Callable[[int], None] | None = None) -> None:
        """Says how to stop and how to step back from now on, once or more; None when there is nothing to stop."""
        self._bound = stop, step_back
        self._act()

    def _act(self) -> None:
        stop, step_back = self._bound
        if stop is not None and (self.is_wished or self.is_postponed):
            stop()
        if step_back is not None and self._niceness:
            step_back(self._niceness)
