"""Every stop of a walk, one after another, as pages, slides and frames are made of them."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from gradwalk.exports.exporter import ExportUnavailable, Selection, report_pages
from gradwalk.exports.walk import Stop, Walk
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.facts import fact

AT_ONCE = 2
"""While one is drawn, the one before is painted."""
MOST_PAGES = 2000

Made = TypeVar("Made")


def draw_stops(
    document: TraceDocument, selection: Selection, make: Callable[[Walk, Stop], Made], *, opening: bool = False
) -> Iterator[tuple[Stop, Made]]:
    """What `make` makes of each stop that `selection` asks for, in order, reporting each.

    With `opening` the state before the pass comes first.

    Raises:
        NothingToExport: there is no pass, or no step in it.
        ExportUnavailable: there would be more pages than anybody turns.
    """
    walk = Walk(document)
    stops = walk.stops(selection)
    if opening:
        stops.insert(0, walk.opening(selection.direction))
    if len(stops) > MOST_PAGES:
        raise ExportUnavailable(fact("export-too-many-pages", pages=str(len(stops)), most=str(MOST_PAGES)))
    report_pages(0, len(stops))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        made = pool.map(lambda stop: make(walk, stop), stops)
        for done, (stop, page) in enumerate(zip(stops, made, strict=True), start=1):
            yield stop, page
            report_pages(done, len(stops))
