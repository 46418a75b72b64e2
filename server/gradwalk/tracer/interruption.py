"""How the sandbox tells a running program that its time is up."""

from time import monotonic
from types import TracebackType
from typing import Final


class TimeLimitError(BaseException):
    """Raised inside the student's program by the child's alarm; not an `Exception`, so `except Exception` lets it by.

    A run that ends with it is a `timeout` problem at the line where it was raised.
    """


class Interruption:
    """A time limit that passed where raising would have left something half done: it is raised a moment later."""

    def __init__(self) -> None:
        self.is_due = False

    def raise_if_due(self) -> None:
        """Call it where the recorder is about to go back to the program, or to the next node.

        Raises:
            TimeLimitError: the time was up since the last call.
        """
        if self.is_due:
            self.is_due = False
            raise TimeLimitError


class Telling:
    """How long backward passes were described and told in this process: time that the program did not spend.

    A context that may be entered again inside itself, by one thread.
    """

    def __init__(self) -> None:
        self.past_seconds = 0.0
        """Without what is being told now."""
        self._depth = 0
        self._since = 0.0

    @property
    def seconds(self) -> float:
        """Until now."""
        return self.past_seconds + (monotonic() - self._since if self._depth else 0.0)

    def __enter__(self) -> None:
        if not self._depth:
            self._since = monotonic()
        self._depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._depth -= 1
        if not self._depth:
            self.past_seconds += monotonic() - self._since


TELLING: Final = Telling()
INTERRUPTION: Final = Interruption()
