"""Comments that direct a lecture: `#@ note ...`, `#@ break`, `#@ hide`, `#@ focus`, `#@ predict ...`."""

import io
import tokenize
from typing import NamedTuple, get_args

from gradwalk.protocol.events import DirectionKind


class Direction(NamedTuple):
    """One directing comment."""

    kind: DirectionKind
    text: str
    """What follows the kind, stripped."""
    line: int
    """1-based."""


def read_directions(text: str) -> tuple[Direction, ...]:
    """The directing comments of a program that parses, in order; other words after `#@` are ordinary comments."""
    if "#@" not in text:
        return ()
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token for token in tokens if token.type == tokenize.COMMENT and token.string.startswith("#@")]
    return tuple(
        Direction(kind, rest.strip(), comment.start[0])
        for comment in comments
        for word, _, rest in [comment.string[2:].strip().partition(" ")]
        for kind in get_args(DirectionKind)
        if word == kind
    )
