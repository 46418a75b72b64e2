"""A wish to stop that may be expressed before, while and after there is something to stop."""

import threading
from collections.abc import Callable


class Cancellation:
    """Set by whoever no longer waits, from any thread; heard by whoever runs the child."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wished = False
        self._stop: Callable[[], None] | None = None

    @property
    def is_wished(self) -> bool:
        """True from the first `cancel` on."""
        return self._wished

    def cancel(self) -> None:
        """Stops what is bound now, or what will be bound later."""
        with self._lock:
            self._wished = True
            stop = self._stop
        if stop is not None:
            stop()

    def bind(self, stop: Callable[[], None] | None) -> None:
        """Says how to stop from now on; None when there is nothing to stop any more."""
        with self._lock:
            self._stop = stop
            wished = self._wished
        if wished and stop is not None:
            stop()
