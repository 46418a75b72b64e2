"""The whole pass as one PDF, and as a set of pages with a frame for Beamer."""

import io
from collections.abc import Sequence

from pypdf import PageObject, PdfReader, PdfWriter
from pypdf.generic import BooleanObject, NameObject, RectangleObject

from gradwalk.exports.album import Page, draw_pages
from gradwalk.exports.archive import write_archive
from gradwalk.exports.exporter import Selection
from gradwalk.protocol.document import TraceDocument
from gradwalk.words.catalogue import say

BASE_NAME = "gradwalk"
FRAME_FILE = "gradwalk-frame.tex"


def write_pages(document: TraceDocument, selection: Selection) -> bytes:
    """One PDF, a page per step or phase, all of one size, with an outline and the graph at the same place on each."""
    return _join(list(draw_pages(document, selection, "pdf")))


def write_beamer_set(document: TraceDocument, selection: Selection) -> bytes:
    r"""A zip of `gradwalk-0.pdf` (before the pass), `gradwalk-1.pdf`, ... and a frame to `\input`.

    The names are those that Beamer's `\multiinclude` expects.
    """
    pages = list(draw_pages(document, selection, "pdf", opening=True))
    singles = _of_one_size(pages)
    files = {FRAME_FILE: _frame(len(pages) - 1).encode()}
    for number, (page, single) in enumerate(zip(pages, singles, strict=True)):
        files[f"{BASE_NAME}-{number}.pdf"] = _save([single], [page])
    return write_archive(files)


def _of_one_size(pages: Sequence[Page]) -> list[PageObject]:
    """Grown to the right and downwards, so that turning pages moves nothing."""
    read = [PdfReader(io.BytesIO(page.picture)).pages[0] for page in pages]
    width = max(float(page.mediabox.width) for page in read)
    height = max(float(page.mediabox.height) for page in read)
    for page in read:
        top = float(page.mediabox.top)
        page.mediabox = RectangleObject((0, top - height, width, top))
        page.cropbox = page.mediabox
    return read


def _join(pages: Sequence[Page]) -> bytes:
    return _save(_of_one_size(pages), pages)


def _save(drawn: Sequence[PageObject], pages: Sequence[Page]) -> bytes:
    writer = PdfWriter()
    for page, single in zip(pages, drawn, strict=True):
        added = writer.add_page(single)
        writer.add_outline_item(title=page.title, page_number=added.page_number or 0)
    writer.add_metadata({"/Title": pages[0].title if len(pages) == 1 else say("export-title")})
    writer.create_viewer_preferences()[NameObject("/DisplayDocTitle")] = BooleanObject(True)
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


def _frame(last: int) -> str:
    return rf"""% {say("export-frame", count=last + 1)} \usepackage{{xmpmulti}}
\begin{{frame}}
  \frametitle{{{say("export-title")}}}
  \centering
  \multiinclude[<+>][format=pdf,start=0,end={last},graphics={{width=\textwidth,height=0.8\textheight,keepaspectratio}}]{{{BASE_NAME}}}
\end{{frame}}
"""
