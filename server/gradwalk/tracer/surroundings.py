"""What surrounds a program in a process that is locked up: the tracer asks, the sandbox answers."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from gradwalk.protocol.facts import Fact


class Surroundings(Protocol):
    """One object serves one run. Without one, the program runs with the caller's own rights."""

    def namespace(self) -> dict[str, Any]:
        """The globals that the program starts with, those of the module `__main__`."""

    def around(self, note: Callable[[Fact], None]) -> AbstractContextManager[None]:
        """While the program runs; `note` takes what the reader should know about it, each fact once."""

    def explain(self, error: BaseException, source: str) -> Fact | None:
        """Why an error comes of the lock, and what to write instead; None for any other error."""

    def revive(self) -> None:
        """Brings back the builtins that are missing when the program has ended."""

    def mend(self, error: BaseException, *, is_over: bool) -> str | None:
        """Names what the program broke of the interpreter before a fault of the recorder, and repairs it.

        While the program runs, as little as possible is repaired.
        """
