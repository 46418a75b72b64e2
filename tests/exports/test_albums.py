"""Exports with many pages, read back by the formats' own readers."""

import io
import re
import zipfile
from functools import reduce
from itertools import groupby

import pytest
from PIL import Image, ImageChops
from pptx import Presentation
from pptx.util import Inches
from pypdf import PdfReader
from pypdf.generic import DictionaryObject

from gradwalk.exports import album, film
from gradwalk.exports.catalogue import EXPORTERS
from gradwalk.exports.exporter import Direction, ExportUnavailable, Look, NothingToExport, Selection
from gradwalk.exports.image import write_png
from gradwalk.exports.walk import Walk
from gradwalk.protocol.document import TraceDocument
from tests.exports.readers import export, golden, ink_of, pages_of

pytestmark = pytest.mark.usefixtures("run")
"""V8 and ffmpeg are processes."""


@pytest.fixture(scope="module")
def chain() -> TraceDocument:
    """Three steps, with groups."""
    return golden("chain-of-two")


STOPS = 10
"""Of the chain: v of the second step has landed before it, and a leaf only lands."""


def sentences(document: TraceDocument, direction: Direction = "backward") -> list[str]:
    """What is said at each stop."""
    return [stop.said for stop in Walk(document).stops(Selection(every="phase", direction=direction))]


def without_breaks(text: str) -> str:
    """Neither of lines nor of words."""
    return re.sub(r"\s+", "", text)


def test_a_pdf_has_a_page_per_step_or_phase_of_either_walk_with_its_sentence_as_text(chain: TraceDocument) -> None:
    assert len(pages_of(export("pages", chain))) == 3
    assert len(sentences(chain)) == STOPS
    for direction in ("backward", "forward"):
        pages = pages_of(export("pages", chain, Selection(every="phase", direction=direction)))
        for page, sentence in zip(pages, sentences(chain, direction), strict=True):
            assert without_breaks(sentence) in without_breaks(page)


def test_the_pages_are_of_one_size_small_titled_and_embed_their_fonts(chain: TraceDocument) -> None:
    body = export("pages", chain, Selection(every="phase"))
    read = PdfReader(io.BytesIO(body))
    assert {(page.mediabox.width, page.mediabox.height) for page in read.pages} == {(960, 540)}
    assert len(body) / len(read.pages) < 100_000
    assert read.metadata.title == "The backward pass, step by step"
    assert read.viewer_preferences.display_doctitle
    assert [item.title for item in read.outline][0] == "Step 1 of 3, collect: PowBackward0"
    objects = (read.get_object(number) for number in range(1, int(read.trailer["/Size"])))
    figures = [each for each in objects if isinstance(each, DictionaryObject) and each.get("/S") == "/Figure"]
    assert len(read.outline) == len(figures) == STOPS
    assert [figure["/Alt"] for figure in figures] == sentences(chain)
    for page in read.pages:
        for font in page["/Resources"]["/Font"].values():
            inner = font["/DescendantFonts"][0] if "/DescendantFonts" in font else font
            assert {"/FontFile", "/FontFile2", "/FontFile3"} & set(inner["/FontDescriptor"])


def test_the_beamer_set_is_numbered_from_before_the_pass_and_brings_its_frame(chain: TraceDocument) -> None:
    with zipfile.ZipFile(io.BytesIO(export("tex", chain))) as archive:
        assert archive.namelist() == ["gradwalk-frame.tex", *(f"gradwalk-{k}.pdf" for k in range(4))]
        assert "end=3" in archive.read("gradwalk-frame.tex").decode()
        assert "Before the pass" in pages_of(archive.read("gradwalk-0.pdf"))[0]
        assert "Step 3 of 3" in pages_of(archive.read("gradwalk-3.pdf"))[0]


def test_slides_carry_the_narration_as_notes_and_as_the_pictures_description(chain: TraceDocument) -> None:
    deck = Presentation(io.BytesIO(export("pptx", chain, Selection(every="phase"))))
    notes = [slide.notes_slide.notes_text_frame.text for slide in deck.slides]
    assert deck.slide_width / deck.slide_height == 16 / 9
    assert notes == sentences(chain)
    for slide, sentence in zip(deck.slides, notes, strict=True):
        (picture,) = [shape for shape in slide.shapes if shape.shape_type == 13]
        assert picture._element.nvPicPr.cNvPr.get("descr") == sentence
        assert picture.left + picture.width <= deck.slide_width
        assert slide.shapes.title.top + slide.shapes.title.height <= picture.top
        assert picture.top + picture.height <= deck.slide_height
        across, down = picture.image.size
        assert across / down == pytest.approx(picture.width / picture.height, rel=1e-3)
        assert across / (picture.width / Inches(1)) == pytest.approx(288, rel=1e-3)
        assert ink_of(picture.image.blob) > 0.01
    dark = Presentation(io.BytesIO(export("pptx", chain, Selection(theme="dark"))))
    assert max(dark.slides[0].background.fill.fore_color.rgb) < 80


def test_a_gif_shows_every_phase_long_enough_and_gradients_under_way(chain: TraceDocument) -> None:
    body = export("gif", chain, Selection(every="phase"))
    assert len(body) < 5_000_000
    with Image.open(io.BytesIO(body)) as animation:
        assert animation.size == (960, 540)
        lasting, stills = [], []
        for number in range(animation.n_frames):
            animation.seek(number)
            lasting.append(animation.info["duration"])
            if lasting[-1] >= film.DWELL_MS:
                stills.append(animation.convert("RGB"))
    runs = [len([*run]) for stands, run in groupby(lasting, lambda each: each >= film.DWELL_MS) if not stands]
    assert max(runs) <= len(film.TRAVEL)
    assert len(runs) >= 2  # two of the three steps send something
    walk, look = Walk(chain), Look(1280, 720)
    for still, stop in zip(stills, walk.stops(Selection(every="phase")), strict=True):
        drawn = Image.open(io.BytesIO(write_png(walk.draw(stop, look), look, 960))).convert("RGB")
        off = reduce(ImageChops.lighter, ImageChops.difference(still, drawn).split())
        assert sum(off.histogram()[8:]) < 0.002 * off.width * off.height


def test_more_pages_than_anybody_turns_are_refused(chain: TraceDocument, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(album, "MOST_PAGES", 9)
    assert export("pages", chain)
    with pytest.raises(ExportUnavailable, match="10 pages, more than 9"):
        export("pages", chain, Selection(every="phase"))


def test_a_video_without_ffmpeg_says_how_to_get_it_and_what_it_said_when_it_gave_up(chain, tmp_path, monkeypatch):
    gives_up = tmp_path / "ffmpeg"
    gives_up.write_text("#!/bin/sh\necho 'no room left' >&2\nexit 1\n")
    gives_up.chmod(0o755)
    monkeypatch.setattr(film, "get_ffmpeg_exe", None)
    for found, said in ((None, r"gradwalk\[video\]"), (str(gives_up), "could not write this video: no room left")):
        monkeypatch.setattr(film, "which", lambda _, found=found: found)
        with pytest.raises(ExportUnavailable, match=said):
            export("mp4", chain)


@pytest.mark.parametrize("exporter", [e for e in EXPORTERS if e.has_pages], ids=lambda exporter: exporter.name)
def test_a_trace_without_a_step_says_that_there_is_nothing_to_show(exporter, chain: TraceDocument) -> None:
    kept = [event for event in chain["events"] if event["type"] not in ("step", "explained")]
    empty = {**chain, "events": [{**event, "seq": number} for number, event in enumerate(kept)]}
    with pytest.raises(NothingToExport, match="no backward step"):
        exporter.write(empty, Selection())
