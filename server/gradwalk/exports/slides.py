"""The pass as PowerPoint slides: one picture per step or phase, the sentences as notes."""

import datetime
import io
from typing import Any

from PIL import Image
from pptx import Presentation
from pptx.util import Inches, Pt

from gradwalk.exports.album import Page, draw_pages
from gradwalk.exports.archive import without_clock
from gradwalk.exports.exporter import Selection
from gradwalk.protocol.document import TraceDocument
from gradwalk.words.catalogue import say

WIDTH, HEIGHT, MARGIN, TITLE_HEIGHT = Inches(13.333), Inches(7.5), Inches(0.4), Inches(0.7)
TITLE_ONLY = 5
"""The layout of python-pptx's own template that has a title and nothing else."""


def write_slides(document: TraceDocument, selection: Selection) -> bytes:
    """A .pptx with a slide per step or phase: title, described picture, the sentence as notes."""
    deck = Presentation()
    deck.slide_width, deck.slide_height = WIDTH, HEIGHT
    pages = list(draw_pages(document, selection, "png"))
    sizes = [_size(page.picture) for page in pages]
    room_x, room_y = WIDTH - 2 * MARGIN, HEIGHT - MARGIN - TITLE_HEIGHT - MARGIN
    # one scale for all slides, so that turning them moves nothing
    scale = min(room_x / max(width for width, _ in sizes), room_y / max(height for _, height in sizes))
    for page, (width, height) in zip(pages, sizes, strict=True):
        _add_slide(deck, page, int(width * scale), int(height * scale))
    about = deck.core_properties
    about.title, about.author, about.last_modified_by, about.revision = say("export-title"), "gradwalk", "gradwalk", 1
    about.created = about.modified = datetime.datetime(2000, 1, 1)
    written = io.BytesIO()
    deck.save(written)
    return without_clock(written.getvalue())


def _add_slide(deck: Any, page: Page, width: int, height: int) -> None:
    slide = deck.slides.add_slide(deck.slide_layouts[TITLE_ONLY])
    title = slide.shapes.title
    title.left, title.top, title.width, title.height = MARGIN, MARGIN // 2, WIDTH - 2 * MARGIN, TITLE_HEIGHT
    title.text = page.title
    title.text_frame.paragraphs[0].runs[0].font.size = Pt(24)
    picture = slide.shapes.add_picture(io.BytesIO(page.picture), MARGIN, MARGIN + TITLE_HEIGHT, width, height)
    picture._element.nvPicPr.cNvPr.set("descr", page.moment.sentence)  # noqa: SLF001 (python-pptx has no other way)
    slide.notes_slide.notes_text_frame.text = page.moment.sentence


def _size(png: bytes) -> tuple[int, int]:
    with Image.open(io.BytesIO(png)) as image:
        return image.size
