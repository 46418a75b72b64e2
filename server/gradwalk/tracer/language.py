"""What a program may say, decided by somebody else: the tracer asks, the sandbox answers."""

import ast
from typing import Protocol

from gradwalk.protocol.events import Problem
from gradwalk.protocol.graph import Span


class Language(Protocol):
    """The language of one program. Without one, the program runs with the caller's own rights.

    One object serves one run: `admit` is called first, then `namespace`.
    """

    def admit(self, tree: ast.Module, text: str) -> ast.Module:
        """The tree to compile, every position in it as before; `tree` itself may be changed.

        Raises:
            SourceProblem: the program says something that is not offered (kind `rejected`).
        """

    def namespace(self) -> dict[str, object]:
        """The globals that the program starts with, `__builtins__` among them."""

    def look_up(self, path: str) -> object:
        """What stands at a dotted path (`torch.sin`, `torch.nn.functional`), as the program would see it."""

    def explain(self, error: BaseException, span: Span | None) -> Problem | None:
        """The problem for a refusal that showed only while the program ran, at `span`; None for any other error."""
