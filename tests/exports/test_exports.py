"""Every exporter over its list, and what a still must show, read back by the formats' own readers."""

import io
import xml.etree.ElementTree as ET

import pytest
from PIL import Image
from pypdf import PdfReader

from gradwalk.exports.catalogue import EXPORTERS
from gradwalk.exports.exporter import NothingToExport, Selection
from gradwalk.exports.walk import Walk, write_svg
from gradwalk.protocol.document import TraceDocument
from tests.exports.readers import drawn_by_graphviz, export, golden, ink_of, pages_of, words_of

MAGIC = {
    "json": b"{", "kit": b"{", "dot": b"digraph", "svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF", "pages": b"%PDF",
    "tex": b"PK", "pptx": b"PK", "gif": b"GIF89a", "mp4": b"\0\0\0", "webm": b"\x1a\x45\xdf\xa3",
    "html": b"<!doctype html",
}  # fmt: skip
SEND = 4
pytestmark = pytest.mark.usefixtures("run")
"""V8, Graphviz and ffmpeg are processes."""


@pytest.mark.parametrize("exporter", EXPORTERS, ids=lambda exporter: exporter.name)
def test_an_export_is_what_it_says_and_the_same_every_time(exporter, square: TraceDocument, sweeps: bool) -> None:
    first = exporter.write(square, Selection(step=1))
    assert first.startswith(MAGIC[exporter.name])
    # Stills and pages are written twice on every change, each format in ring 3.
    if sweeps or exporter.name in ("svg", "png", "pdf", "tex"):
        assert exporter.write(square, Selection(step=1)) == first


@pytest.mark.parametrize("name", ["attention", "structures", "double-backward"])
def test_stills_of_the_examples_have_ink_and_selectable_words(name: str) -> None:
    document, selection = golden(name), Selection(step=2, phase=3)
    where, _, node = Walk(document).stop(selection).title.partition(": ")
    assert ink_of(export("png", document, selection)) > 0.01
    for words in (words_of(export("svg", document, selection)), pages_of(export("pdf", document, selection))[0]):
        assert node in words
        assert where in words


@pytest.mark.parametrize(
    ("shape", "size", "points"), [("16:9", (3840, 2160), (960, 540)), ("4:3", (2880, 2160), (720, 540))]
)
def test_a_still_has_the_shape_and_the_ground_that_were_asked_for(square, shape, size, points):
    grounds = {}
    for theme, transparent in (("light", False), ("dark", False), ("light", True)):
        selection = Selection(1, theme=theme, shape=shape, transparent=transparent)
        with Image.open(io.BytesIO(export("png", square, selection))) as image:
            assert image.size == size
            grounds[theme, transparent] = image.convert("RGBA").getpixel((size[0] - 1, size[1] - 1))
    assert min(grounds["light", False]) > 200
    assert max(grounds["dark", False][:3]) < 80
    assert grounds["light", True][3] == 0
    (page,) = PdfReader(io.BytesIO(export("pdf", square, Selection(1, shape=shape)))).pages
    assert (page.mediabox.width, page.mediabox.height) == points


def test_a_page_is_written_in_letters_that_come_along(square: TraceDocument) -> None:
    read = PdfReader(io.BytesIO(export("pdf", square, Selection(1, lang="de"))))
    names = {str(font["/BaseFont"]).partition("+")[2] for font in read.pages[0]["/Resources"]["/Font"].values()}
    assert names <= {"DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono", "DejaVuSansMono-Bold"}
    assert names
    assert read.trailer["/Root"]["/Lang"] == "de"
    assert read.metadata.title == "Schritt 1 von 2, ankommen: MulBackward0"


def test_a_stop_is_that_of_the_phase_or_of_the_one_before_it() -> None:
    found = Walk(golden("chain-of-two"))
    asked = {(3, 5): "3.5", (3, 1): "3.5", (2, 1): "2.2", (2, 4): "2.4", (None, 5): "3.5", (0, 3): "0"}
    assert {place: found.stop(Selection(*place)).place for place in asked} == asked
    assert found.stop(Selection(2, 2, direction="forward")).place == "f2.2"
    assert found.stop(Selection(0, direction="forward")).place == "f0"


HOSTILE = ["</text><script>alert(1)</script>", "]]>&amp;<!--", '"#{}$\\', "\x00\x1b\u202e\ud800", "とても長い名前" * 5]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_from_a_program_is_text(name: str, square: TraceDocument) -> None:
    plain = [element.tag for element in ET.fromstring(write_svg(square, Selection(1, SEND))).iter()]
    assert "x<&>" in words_of(write_svg(square, Selection(1, SEND)))
    for event in square["events"]:
        for node in event.get("graph", {}).get("nodes", []):
            if "leaf" in node:
                node["leaf"] = name
        if event.get("accumulate"):
            event["accumulate"]["leaf"] = name
    picture = write_svg(square, Selection(1, SEND))
    assert {element.tag for element in ET.fromstring(picture).iter()} == {*plain}
    for kind in ("png", "pages", "dot"):
        assert export(kind, square, Selection(1)).startswith(MAGIC[kind])


@pytest.mark.parametrize("step", [None, 0, 2])
def test_any_step_that_there_is_can_be_asked_for_but_not_of_a_trace_without_a_pass(step, square: TraceDocument) -> None:
    assert export("svg", square, Selection(step)).startswith(b"<?xml")
    with pytest.raises(NothingToExport, match="no step 3"):
        export("svg", square, Selection(3))
    square["events"] = [e for e in square["events"] if e["type"] in ("started", "finished")]
    for exporter in (one for one in EXPORTERS if one.is_still):
        with pytest.raises(NothingToExport, match="no backward pass"):
            exporter.write(square, Selection(step))


@pytest.mark.parametrize("name", ["double-backward", "chain-of-two"])
def test_the_dot_of_a_step_is_its_pass_as_graphviz_reads_it(name: str) -> None:
    document = golden(name)
    passes = [event for event in document["events"] if event["type"] == "pass_started"]
    steps = [event for event in document["events"] if event["type"] == "step"]
    for number, step in enumerate(steps, start=1):
        graph = next(one["graph"] for one in passes if one["pass"] == step["pass"])
        dot = export("dot", document, Selection(number))
        nodes, edges = drawn_by_graphviz(dot)
        assert set(nodes) == {node["id"] for node in graph["nodes"]}
        assert sorted(edges) == sorted((edge["from"]["node"], edge["to"]["node"]) for edge in graph["edges"])
        assert all(nodes[node["id"]].startswith(node["label"]) for node in graph["nodes"])
        assert all(f"label={group['label']}" in dot.decode().replace('"', "") for group in graph["groups"])


def test_a_missing_gradient_is_a_word_on_its_edge_and_its_reason_is_in_the_picture(square: TraceDocument) -> None:
    assert "None returned" in export("dot", square, Selection(1)).decode()
    assert "None returned" not in export("dot", {**square, "events": square["events"][:2]}, Selection(0)).decode()
    assert "None that a custom backward returned" in words_of(write_svg(golden("none-zeros-undefined"), Selection(6)))
