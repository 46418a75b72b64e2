"""What an example is."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A short program that answers one question about backward."""

    slug: str
    """Its name in links and file names."""
    title: str
    question: str
    """In the words of those who ask it."""
    learning_goal: str
    """What one can say after stepping through it; every number in it is true."""
    source: str
    """The program, as typed into the editor."""
    options: dict[str, Any] = field(default_factory=dict)
    """As in `protocol.requests.Options`."""
    start: str
    """Where to open it, `step.phase`, both counted from 1."""
    seed_files: tuple[str, ...] = ()
    """The recorded questions (by their number) that it answers."""
