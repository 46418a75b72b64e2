"""Every still of a trace, one after another, on pages of one size."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from gradwalk.exports.exporter import ExportUnavailable, NothingToExport, Selection
from gradwalk.exports.moment import SEND, Moment, Walk
from gradwalk.exports.places import find_layouts
from gradwalk.exports.raster import LARGEST_PX, draw_still
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.facts import fact
from gradwalk.words.catalogue import language_spoken, say, speaking

AT_ONCE = 2
"""Graphviz processes side by side."""
MOST_PAGES = 2000


@dataclass(frozen=True)
class Page:
    """One still, drawn."""

    moment: Moment
    picture: bytes
    under_way: Sequence[bytes] = ()
    """The same still while its gradients travel, in order."""

    @property
    def title(self) -> str:
        """`Step 3 of 7, multiply: MulBackward0`."""
        node = self.moment.active_node
        where = self.moment.where
        return say("export-page-title", where=where, name=node.get("leaf", node["name"])) if node else where


def draw_pages(
    document: TraceDocument,
    selection: Selection,
    file_format: str,
    *,
    opening: bool = False,
    longest_px: int = LARGEST_PX,
    travel: Sequence[float] = (),
) -> Iterator[Page]:
    """The pages that `selection` asks for, in order, reporting each.

    With `opening` the state before the pass comes first. `travel` adds pictures to each page on which gradients are
    sent: at these fractions of their way.

    Raises:
        NothingToExport: there is no pass, or no step in it.
        ExportUnavailable: there would be more pages than anybody turns.
    """
    walk = Walk(document)
    pages = walk.count(selection)
    count = pages + opening
    if not pages:
        is_forward = selection.direction == "forward"
        raise NothingToExport(fact("export-no-forward-step") if is_forward else fact("export-no-backward-step"))
    if count > MOST_PAGES:
        raise ExportUnavailable(fact("export-too-many-pages", pages=str(count), most=str(MOST_PAGES)))
    layouts = find_layouts(document)

    language = language_spoken()

    def draw(moment: Moment) -> Page:
        # A thread of the pool knows nothing of the language of the one that started it.
        with speaking(language):
            return draw_here(moment)

    def draw_here(moment: Moment) -> Page:
        layout = layouts[moment.started["pass"]]
        fractions = travel if moment.phase == SEND and moment.sent else ()
        under_way = [draw_still(moment, layout, file_format, fraction, longest_px) for fraction in fractions]
        return Page(moment, draw_still(moment, layout, file_format, longest_px=longest_px), under_way)

    selection.report(0, count)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        moments = (
            [walk.moment(replace(selection, step=0)), *walk.moments(selection)] if opening else walk.moments(selection)
        )
        for done, page in enumerate(pool.map(draw, moments), start=1):
            yield page
            selection.report(done, count)
