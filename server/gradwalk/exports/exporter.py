"""What an exporter promises."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.facts import Fact
from gradwalk.words.catalogue import LANGUAGE, LANGUAGES, speaking
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


_REPORT: ContextVar[Report] = ContextVar("report", default=report_nothing)


def report_pages(done: int, of: int) -> None:
    """Called by an exporter with pages: before the first one and after each."""
    _REPORT.get()(done, of)


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
    """What is wanted of the trace; the fields are the parameters of its address as well."""

    step: Annotated[int | None, Field(ge=0, lt=2**31, description="1-based; 0 is before the pass.")] = None
    """For a still, over the whole trace; None = after the last step."""
    phase: Annotated[int, Field(ge=1, le=LAST_PHASE)] = LAST_PHASE
    """For a still: 1 to 5: collect, local rule, multiply, send, land. Forwards 1 to 3: arrive, compute, save."""
    every: Annotated[Every, Field(description="What one page, slide or picture of a film shows.")] = "step"
    direction: Annotated[Direction, Field(description="Which walk; the forward one has phases 1 to 3.")] = "backward"
    theme: Annotated[Theme, Field(description="Of pictures, pages and films.")] = "light"
    shape: Annotated[Shape, Field(description="Of pictures, pages and films; a slide's.")] = "16:9"
    transparent: Annotated[bool, Field(description="Pictures and pages without a ground of their own.")] = False
    lang: Annotated[
        str,
        AfterValidator(lambda asked: asked if asked in LANGUAGES else LANGUAGE),
        Field(description="Of what the file says.", json_schema_extra={"enum": [*LANGUAGES]}),
    ] = LANGUAGE

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

    def make(self, document: TraceDocument, selection: Selection, report: Report = report_nothing) -> bytes:
        """The file, in the language of the selection; `report` hears of its pages.

        Raises:
            ExportUnavailable, NothingToExport: see there.
        """
        before = _REPORT.set(report)
        try:
            with speaking(selection.lang):
                return self.write(document, selection)
        finally:
            _REPORT.reset(before)


class ExportUnavailable(FactError):
    """This file cannot be made here; the fact says what is missing and how to get it."""


class NothingToExport(FactError):
    """The trace holds nothing that could be drawn; the fact says why."""
