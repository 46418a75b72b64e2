"""What an exporter promises."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.facts import Fact
from gradwalk.words.catalogue import LANGUAGE, speaking
from gradwalk.words.errors import FactError

LAST_PHASE = 5
LAST_FORWARD_PHASE = 3

Every = Literal["step", "phase"]
Direction = Literal["backward", "forward"]
Theme = Literal["light", "dark"]
Shape = Literal["16:9", "4:3"]
SIZES: Final[dict[Shape, tuple[int, int]]] = {"16:9": (1280, 720), "4:3": (960, 720)}
"""CSS pixels; so large that a slide shows them at the size of its other text."""
Report = Callable[[int, int], None]
"""Told how many pages are done, and of how many."""


def report_nothing(_done: int, _of: int) -> None:
    """For who does not wait at a screen."""


@dataclass(frozen=True)
class Look:
    """How a picture is drawn."""

    width: int
    """CSS pixels."""
    height: int
    theme: Theme = "light"
    transparent: bool = False
    """Without a ground of its own."""


@dataclass(frozen=True)
class Selection:
    """What is wanted of the trace."""

    step: int | None = None
    """For a still: 1-based over the whole trace; 0 = before the pass, None = after the last step."""
    phase: int = LAST_PHASE
    """For a still: 1 to 5: collect, local rule, multiply, send, land. Forwards 1 to 3: arrive, compute, save."""
    every: Every = "step"
    """For an exporter with pages: one per step, or one per phase of each step."""
    direction: Direction = "backward"
    """Which of the two walks: the forward one has a step per differentiable operation."""
    language: str = LANGUAGE
    """Of sentences and captions; one of `LANGUAGES`."""
    report: Report = field(default=report_nothing, compare=False)
    """For an exporter with pages: called before the first page and after each."""
    theme: Theme = "light"
    shape: Shape = "16:9"
    """Of pictures, pages and films; a slide's."""
    transparent: bool = False

    @property
    def look(self) -> Look:
        """Of its pictures."""
        return Look(*SIZES[self.shape], self.theme, self.transparent)

    @property
    def place(self) -> str | None:
        """As in an address, `7.3` or `f7.3`; None for the end."""
        if self.step is None:
            return None
        walk = "f" if self.direction == "forward" else ""
        return f"{walk}{self.step}.{self.phase}" if self.step else f"{walk}0"


@dataclass(frozen=True)
class Exporter:
    """One way to turn a trace into a file. Same document and selection, same bytes."""

    name: str
    """As it stands in the route and on the command line."""
    media_type: str
    suffix: str
    summary: Fact
    """One line for menus and help."""
    is_still: bool
    """True: shows one step and phase. False: the whole trace."""
    write: Callable[[TraceDocument, Selection], bytes]
    has_pages: bool = False
    """True: the whole trace as one page, slide or frame per step, or per phase with `Selection.every`."""

    def make(self, document: TraceDocument, selection: Selection) -> bytes:
        """The file, in the language of the selection.

        Raises:
            ExportUnavailable, NothingToExport: see there.
        """
        with speaking(selection.language):
            return self.write(document, selection)


class ExportUnavailable(FactError):
    """This file cannot be made here; the fact says what is missing and how to get it."""


class NothingToExport(FactError):
    """The trace holds nothing that could be drawn; the fact says why."""
