"""What an example is."""

from dataclasses import dataclass, field
from typing import Any

from gradwalk.protocol.facts import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A short program that answers one question about backward."""

    slug: str
    """Its name in links and file names."""
    fact: Fact
    """What one can say after stepping through it; every number in it is true. Its `title`, and its `question` in the
    words of those who ask it."""
    source: str
    """The program, as typed into the editor."""
    options: dict[str, Any] = field(default_factory=dict)
    """As in `protocol.requests.Options`."""
    stop: str
    """Where its answer is on the screen, `step.phase`, both counted from 1. It opens before the first step."""
    follows: dict[str, str] = field(default_factory=dict)
    """By the operands of its sentence: what of the trace they are, so that they follow the sliders. `1.3 v` is a stop
    and what a `#@ note` there would name in braces; the fact itself has them as the example opens."""
    seed_files: tuple[str, ...] = ()
    """The recorded questions (by their number) that it answers."""
