"""What an exporter promises."""

from collections.abc import Callable
from dataclasses import dataclass

from gradwalk.protocol.document import TraceDocument

LAST_PHASE = 5


@dataclass(frozen=True)
class Selection:
    """The still that is wanted."""

    step: int | None = None
    """1-based over the whole trace; 0 = before the pass, None = after the last step."""
    phase: int = LAST_PHASE
    """1 to 5: collect, local rule, multiply, send, land."""


@dataclass(frozen=True)
class Exporter:
    """One way to turn a trace into a file. Same document and selection, same bytes."""

    name: str
    """As it stands in the route and on the command line."""
    media_type: str
    suffix: str
    summary: str
    """One line for menus and help."""
    is_still: bool
    """True: shows one step and phase. False: the whole trace."""
    write: Callable[[TraceDocument, Selection], bytes]


class ExportUnavailable(Exception):
    """This file cannot be made here; the message says what is missing and how to get it."""


class NothingToExport(Exception):
    """The trace holds nothing that could be drawn; the message says why."""
