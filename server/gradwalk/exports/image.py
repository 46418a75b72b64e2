"""Drawings as PNG and PDF, by Typst: it needs no library of the system and no letters but those in `fonts`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import typst

from gradwalk.exports.exporter import Look
from gradwalk.words.catalogue import language_spoken

POINTS_PER_PIXEL = 0.75
"""1280 pixels of a drawing are the 13.33 inches of a slide."""
_FONTS = typst.Fonts(
    include_system_fonts=False,
    include_embedded_fonts=False,
    font_paths=[Path(__file__).with_name("fonts")],
)
_PAGES = b"""#let given = json("given.json")
#set document(title: given.title, date: none)
#set text(lang: given.language)
#set page(width: given.width * 1pt, height: given.height * 1pt, margin: 0pt, fill: none)
#for (number, page) in given.pages.enumerate() {
  if number > 0 { pagebreak() }
  place(hide(heading(page.title)))
  image(str(number) + ".svg", width: 100%, alt: page.alt)
}
"""


class Page(NamedTuple):
    """A drawing, its title in the outline, and what it shows in words."""

    svg: str
    title: str
    said: str


def write_png(svg: str, look: Look, width: int) -> bytes:
    """A drawing of this look, so many pixels wide."""
    dots_per_inch = width / look.width / POINTS_PER_PIXEL * 72
    return _compile([Page(svg, "", "")], look, "", format="png", ppi=dots_per_inch)


def write_pdf(pages: Sequence[Page], look: Look, title: str) -> bytes:
    """The drawings, each on a page of its size, with an outline and selectable text, in the language spoken here."""
    try:
        return _compile(pages, look, title, format="pdf", pdf_standards="ua-1")
    except typst.TypstError:
        # A name in letters that our fonts lack: shown as boxes, which the standard for screen readers refuses.
        return _compile(pages, look, title, format="pdf")


def _compile(pages: Sequence[Page], look: Look, title: str, **options: Any) -> bytes:
    given = {
        "title": title,
        "language": language_spoken(),
        "width": look.width * POINTS_PER_PIXEL,
        "height": look.height * POINTS_PER_PIXEL,
        "pages": [{"title": page.title, "alt": page.said} for page in pages],
    }
    drawings = {f"{number}.svg": page.svg.encode() for number, page in enumerate(pages)}
    files: Any = {"main.typ": _PAGES, "given.json": json.dumps(given).encode(), **drawings}
    return cast("bytes", typst.compile(files, font_paths=_FONTS, **options))
