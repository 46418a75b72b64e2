"""One stop as a picture or a page, the whole walk as one PDF, and as a set of pages with a frame for Beamer."""

from gradwalk.exports.album import draw_stops
from gradwalk.exports.archive import write_archive
from gradwalk.exports.exporter import Look, Selection
from gradwalk.exports.image import Page, write_pdf, write_png
from gradwalk.exports.walk import Stop, Walk
from gradwalk.protocol.document import TraceDocument
from gradwalk.words.catalogue import say

SHARPNESS = 3
"""Pixels of a PNG for one of the drawing, in each direction: 288 in an inch of a slide."""
BASE_NAME = "gradwalk"
FRAME_FILE = "gradwalk-frame.tex"


def write_still_png(document: TraceDocument, selection: Selection) -> bytes:
    """One stop, sharp on a slide and in print."""
    walk = Walk(document)
    look = selection.look
    return write_png(walk.draw(walk.stop(selection), look), look, look.width * SHARPNESS)


def write_still_pdf(document: TraceDocument, selection: Selection) -> bytes:
    """One stop as a page."""
    walk = Walk(document)
    return _bind([_page(walk, walk.stop(selection), selection.look)], selection.look)


def write_preview(document: TraceDocument, selection: Selection, width: int, height: int) -> bytes:
    """One stop as a PNG of exactly that size.

    Raises:
        NothingToExport, ExportUnavailable: see `Walk.stop`.
    """
    walk, look = Walk(document), Look(width, height)
    return write_png(walk.draw(walk.stop(selection), look), look, width)


def write_pages(document: TraceDocument, selection: Selection) -> bytes:
    """One PDF, a page per step or phase, all of one size, with an outline and the graph at the same place on each."""
    drawn = draw_stops(document, selection, lambda walk, stop: _page(walk, stop, selection.look))
    return _bind([page for _, page in drawn], selection.look, say("export-title"))


def write_beamer_set(document: TraceDocument, selection: Selection) -> bytes:
    r"""A zip of `gradwalk-0.pdf` (before the pass), `gradwalk-1.pdf`, ... and a frame to `\input`.

    The names are those that Beamer's `\multiinclude` expects.
    """
    drawn = draw_stops(document, selection, lambda walk, stop: _page(walk, stop, selection.look), opening=True)
    pages = [_bind([page], selection.look) for _, page in drawn]
    return write_archive(
        {
            FRAME_FILE: _frame(len(pages) - 1).encode(),
            **{f"{BASE_NAME}-{number}.pdf": page for number, page in enumerate(pages)},
        }
    )


def _page(walk: Walk, stop: Stop, look: Look) -> Page:
    return Page(walk.draw(stop, look), stop.title, stop.said)


def _bind(pages: list[Page], look: Look, title: str | None = None) -> bytes:
    return write_pdf(pages, look, pages[0].title if title is None else title)


def _frame(last: int) -> str:
    return rf"""% {say("export-frame", count=last + 1)} \usepackage{{xmpmulti}}
\begin{{frame}}
  \frametitle{{{say("export-title")}}}
  \centering
  \multiinclude[<+>][format=pdf,start=0,end={last},graphics={{width=\textwidth,height=0.8\textheight,keepaspectratio}}]{{{BASE_NAME}}}
\end{{frame}}
"""
