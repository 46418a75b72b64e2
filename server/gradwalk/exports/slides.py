"""The pass as PowerPoint slides: one picture per step or phase, the sentences as notes."""

import datetime
import io
from dataclasses import replace
from typing import Any

from PIL import Image
from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.dml import MSO_THEME_COLOR
from pptx.util import Emu, Inches, Pt

from gradwalk.exports.album import draw_stops
from gradwalk.exports.archive import without_clock
from gradwalk.exports.exporter import Look, Selection
from gradwalk.exports.image import write_png
from gradwalk.exports.pages import SHARPNESS
from gradwalk.exports.walk import Stop, Walk
from gradwalk.protocol.document import TraceDocument
from gradwalk.words.catalogue import say

PIXEL = int(Inches(1)) // 96
MARGIN, TITLE_HEIGHT = 24, 56
"""Pixels: they leave a picture that is no flatter than two to one, in which the equation stands below the graph."""
TITLE_ONLY = 5
"""The layout of python-pptx's own template that has a title and nothing else."""


def write_slides(document: TraceDocument, selection: Selection) -> bytes:
    """A .pptx with a slide per step or phase: title, described picture, the sentence as notes."""
    slide = selection.look
    look = replace(slide, width=slide.width - 2 * MARGIN, height=slide.height - 2 * MARGIN - TITLE_HEIGHT)

    def paint(walk: Walk, stop: Stop) -> bytes:
        return write_png(walk.draw(stop, look), look, look.width * SHARPNESS)

    deck = Presentation()
    deck.slide_width, deck.slide_height = Emu(slide.width * PIXEL), Emu(slide.height * PIXEL)
    for stop, picture in draw_stops(document, selection, paint):
        _add_slide(deck, stop, picture, look)
    about = deck.core_properties
    about.title, about.author, about.last_modified_by, about.revision = say("export-title"), "gradwalk", "gradwalk", 1
    about.created = about.modified = datetime.datetime(2000, 1, 1)
    written = io.BytesIO()
    deck.save(written)
    return without_clock(written.getvalue())


def _add_slide(deck: Any, stop: Stop, picture: bytes, look: Look) -> None:
    slide = deck.slides.add_slide(deck.slide_layouts[TITLE_ONLY])
    title = slide.shapes.title
    place = (MARGIN, MARGIN // 2, look.width, TITLE_HEIGHT)
    title.left, title.top, title.width, title.height = (side * PIXEL for side in place)
    title.text = stop.title
    letters = title.text_frame.paragraphs[0].runs[0].font
    letters.size = Pt(24)
    if look.theme == "dark":
        slide.background.fill.solid()
        slide.background.fill.fore_color.rgb = _paper_of(picture)
        letters.color.theme_color = MSO_THEME_COLOR.BACKGROUND_1
    place = (MARGIN, MARGIN + TITLE_HEIGHT, look.width, look.height)
    shown = slide.shapes.add_picture(io.BytesIO(picture), *(side * PIXEL for side in place))
    shown._element.nvPicPr.cNvPr.set("descr", stop.said)  # noqa: SLF001 (python-pptx has no other way)
    slide.notes_slide.notes_text_frame.text = stop.said


def _paper_of(picture: bytes) -> RGBColor:
    with Image.open(io.BytesIO(picture)) as drawn:
        return RGBColor(*drawn.convert("RGB").tobytes()[-3:])  # type: ignore[no-untyped-call]
