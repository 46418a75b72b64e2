"""Building problem events: something a person can see and mend, said in a sentence."""

from gradwalk.protocol.events import Problem, ProblemKind
from gradwalk.protocol.graph import Span


def problem(
    kind: ProblemKind,
    title: str,
    message: str,
    *,
    span: Span | None = None,
    hint: str | None = None,
    seq: int = 0,
) -> Problem:
    """A problem event; `seq` is set by whoever puts it in its place in the stream."""
    return {
        "seq": seq,
        "type": "problem",
        "kind": kind,
        "title": title,
        "message": message,
        "span": span,
        "hint": hint,
    }
