"""A wish to stop that may be expressed before, while and after there is something to stop."""

import threading
from collections.abc import Callable


class Cancellation:
    """Set by whoever no longer waits, or needs the place; from any thread; heard by whoever runs the child."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wished = False
        self._postponed = False
        self._stepping_back = False
        self._stop: Callable[[], None] | None = None
        self._step_back: Callable[[], None] | None = None

    @property
    def is_wished(self) -> bool:
        """True from the first `cancel` on."""
        return self._wished

    @property
    def is_postponed(self) -> bool:
        """True between `postpone` and `resume`."""
        return self._postponed

    def cancel(self) -> None:
        """Stops what is bound now, or what will be bound later."""
        with self._lock:
            self._wished = True
            stop = self._stop
        if stop is not None:
            stop()

    def postpone(self) -> None:
        """As `cancel`, but the same work will be taken up again."""
        with self._lock:
            self._postponed = True
            stop = self._stop
        if stop is not None:
            stop()

    def resume(self) -> None:
        """The work is taken up again."""
        with self._lock:
            self._postponed = False

    def step_back(self) -> None:
        """Lets others have the processor first, now and whatever is bound later."""
        with self._lock:
            self._stepping_back = True
            step_back = self._step_back
        if step_back is not None:
            step_back()

    def bind(self, stop: Callable[[], None] | None, step_back: Callable[[], None] | None = None) -> None:
        """Says how to stop and how to step back from now on; None when there is nothing to stop any more."""
        with self._lock:
            self._stop = stop
            self._step_back = step_back
            stopping = self._wished or self._postponed
            stepping_back = self._stepping_back
        if stopping and stop is not None:
            stop()
        if stepping_back and step_back is not None:
            step_back()
