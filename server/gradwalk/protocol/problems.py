"""Building problem events: something a person can see and mend."""

from gradwalk.protocol.events import Problem, ProblemKind
from gradwalk.protocol.facts import Fact
from gradwalk.protocol.graph import Span


def problem(
    kind: ProblemKind, fact: Fact, *, span: Span | None = None, words: str | None = None, seq: int = 0
) -> Problem:
    """A problem event; `seq` is set by whoever puts it in its place in the stream."""
    found: Problem = {"seq": seq, "type": "problem", "kind": kind, "fact": fact, "span": span}
    if words:
        found["words"] = words
    return found
