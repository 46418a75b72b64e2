"""The language of a stranger's program: what the tracer asks before and while it runs one."""

import ast

from gradwalk.protocol.events import Problem
from gradwalk.protocol.graph import Span
from gradwalk.sandbox.guards import build_builtins
from gradwalk.sandbox.offer import Offer, read_offer
from gradwalk.sandbox.policy import IMPORT, IMPORT_FROM, IMPORT_STAR, Policy
from gradwalk.sandbox.proxies import RefusedError
from gradwalk.sandbox.refusals import describe


class OfferedLanguage:
    """The policy and the offer for one run; fits `gradwalk.tracer.language.Language`."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._own: set[str] = set()
        # Made ahead: children find it in the pages that they share, instead of each writing to a hundred of its own.
        self._builtins: dict[str, object] | None = self._build_builtins()

    def admit(self, tree: ast.Module, text: str) -> ast.Module:
        """The checked and rewritten tree.

        Raises:
            SourceProblem: something is not offered, or the program is too large.
        """
        policy = Policy(self._offer, text)
        admitted = policy.admit(tree)
        self._own |= policy.own
        return admitted

    def namespace(self) -> dict[str, object]:
        """Fresh globals with the offered builtins."""
        names, self._builtins = self._builtins or self._build_builtins(), None
        return {"__name__": "__main__", "__doc__": None, "__builtins__": names}

    def look_up(self, path: str) -> object:
        """What stands at a dotted path, as the program sees it."""
        return self._offer.look_up(path)

    def explain(self, error: BaseException, span: Span | None) -> Problem | None:
        """The problem behind a refusal that showed while the program ran."""
        return describe(error.refusal, span) if isinstance(error, RefusedError) else None

    def _build_builtins(self) -> dict[str, object]:
        return build_builtins(self._own, self._offer.library_names) | {
            IMPORT: self._offer.import_module,
            IMPORT_FROM: self._offer.import_from,
            IMPORT_STAR: self._offer.import_star,
        }


def load_offer() -> Offer:
    """The frozen offer with everything imported that a program may use: call it before the lockdown."""
    return Offer(read_offer())
