"""An exception that a person is told of."""

from gradwalk.protocol.facts import Fact
from gradwalk.words.catalogue import tell


class FactError(Exception):
    """Something is the matter: `fact` says what, in any language; the exception's own text is the English of it."""

    def __init__(self, fact: Fact) -> None:
        super().__init__(tell(fact))
        self.fact = fact

    def __reduce__(self) -> tuple[type["FactError"], tuple[Fact]]:
        return type(self), (self.fact,)
