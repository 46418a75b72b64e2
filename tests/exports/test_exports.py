"""Every exporter over its list, and what a still must show, read back by Graphviz and an XML parser."""

import io
import os
import re
import subprocess
from pathlib import Path

import pytest
from pypdf import PdfReader

from gradwalk.exports import graphviz_engine
from gradwalk.exports.catalogue import EXPORTERS
from gradwalk.exports.exporter import ExportUnavailable, NothingToExport, Selection
from gradwalk.exports.labels import FONT, MONO
from gradwalk.exports.moment import LAND, MULTIPLY, SEND, find_moment
from gradwalk.exports.picture import write_dot
from gradwalk.exports.raster import write_still
from gradwalk.exports.spelling import spell_gradient
from gradwalk.protocol.document import TraceDocument
from tests.exports.readers import golden, ink_of, pages_of, words_of

MAGIC = {
    "json": b"{", "kit": b"{", "dot": b"digraph", "svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF", "pages": b"%PDF",
    "tex": b"PK", "pptx": b"PK", "gif": b"GIF89a", "mp4": b"\0\0\0", "webm": b"\x1a\x45\xdf\xa3",
    "html": b"<!doctype html",
}  # fmt: skip
pytestmark = pytest.mark.usefixtures("run")
"""Graphviz and ffmpeg are processes."""


@pytest.mark.parametrize("exporter", EXPORTERS, ids=lambda exporter: exporter.name)
def test_an_export_is_what_it_says_and_the_same_every_time(exporter, square: TraceDocument, sweeps: bool) -> None:
    first = exporter.write(square, Selection(step=1))
    assert first.startswith(MAGIC[exporter.name])
    # Stills and pages are written twice on every change, each format in ring 3.
    if sweeps or exporter.name in ("svg", "tex"):
        assert exporter.write(square, Selection(step=1)) == first


@pytest.mark.parametrize("name", ["attention", "structures", "double-backward"])
def test_stills_of_the_examples_have_ink_and_selectable_words(name: str) -> None:
    document = golden(name)
    selection = Selection(step=2, phase=MULTIPLY)
    moment = find_moment(document, selection)
    assert ink_of(write_still("png", document, selection)) > 0.01
    page = pages_of(write_still("pdf", document, selection))[0]
    for words in (words_of(write_still("svg", document, selection)), page):
        assert moment.active_node["name"] in words
        assert moment.where in words


def test_the_rule_is_written_unless_it_was_found_wrong(square: TraceDocument) -> None:
    step = next(event for event in square["events"] if event["type"] == "step")
    (started,) = [event for event in square["events"] if event["type"] == "pass_started"]
    (node,) = [each for each in started["graph"]["nodes"] if each["id"] == step["node"]]
    line = {"argnum": 0, "latex": "v y", "text": "v * why", "because": ""}
    node["formula"] = {"forward": "", "vjp": [line], "derivatives_yaml": []}
    assert "v * why" in write_dot(square, Selection(step=1, phase=2)).decode()
    assert "v * why" not in write_dot(square, Selection(step=1, phase=1)).decode()
    step["formula_checked"] = False
    assert "v * why" not in write_dot(square, Selection(step=1, phase=2)).decode()


def test_nothing_moves_from_step_to_step() -> None:
    document = golden("chain-of-two")
    drawn = [write_dot(document, Selection(step, phase)).decode() for step in range(4) for phase in (1, 5)]
    places = {tuple(re.findall(r'^\t(n\d+) \[.*pos="([^"]+)"', dot, re.MULTILINE)) for dot in drawn}
    assert len(places) == 1


@pytest.mark.parametrize("exporter", [e for e in EXPORTERS if e.is_still], ids=lambda exporter: exporter.name)
def test_the_library_in_the_wheel_draws_what_dot_draws(exporter, square, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphviz_engine, "which", lambda _name: None)
    assert exporter.write(square, Selection(step=1)).startswith(MAGIC[exporter.name])


def test_without_graphviz_or_its_library_the_export_says_what_is_missing(square, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(graphviz_engine, "which", lambda _name: None)
    (tmp_path / "libgobject-2.0.so.0").write_text("not a library")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    with pytest.raises(ExportUnavailable, match=r"cannot be loaded here \(.*libgobject-2.0.so.0.*\): install Graphviz"):
        write_still("svg", square, Selection(step=1))
    monkeypatch.setattr(graphviz_engine, "HAS_LIBRARY", False)
    with pytest.raises(ExportUnavailable, match=r"gradwalk\[files\]"):
        write_still("svg", square, Selection())


@pytest.mark.parametrize("font", [FONT, MONO])
def test_pictures_have_letters_where_the_system_has_no_fonts(font: str, tmp_path: Path) -> None:
    rules = Path(graphviz_engine.FONTS["FONTCONFIG_FILE"]).read_text()
    alone = "".join(line for line in rules.splitlines(keepends=True) if "/etc/" not in line and "~" not in line)
    (tmp_path / "fonts.conf").write_text(alone)
    surroundings = {**os.environ, **graphviz_engine.FONTS, "FONTCONFIG_FILE": str(tmp_path / "fonts.conf")}
    dot = f'digraph {{ node [fontname="{font}"]; plain [label=<plain>]; bold [label=<<B>bold</B>>] }}'
    page = subprocess.run(
        [*graphviz_engine.LIBRARY, "pdf"], input=dot.encode(), env=surroundings, capture_output=True, check=True
    ).stdout
    (read,) = PdfReader(io.BytesIO(page)).pages
    assert {"plain", "bold"} == set(read.extract_text().split())
    names = {str(each.get_object()["/BaseFont"]).partition("+")[2] for each in read["/Resources"]["/Font"].values()}
    assert names == {font.replace(" ", ""), font.replace(" ", "") + "-Bold"}


def test_operands_are_called_as_on_the_page(square: TraceDocument) -> None:
    source = write_dot(square, Selection(step=1)).decode()
    assert "x&lt;&amp;&gt;, use 1: " in source
    assert "x&lt;&amp;&gt;, use 2: " in source
    del square["events"][1]["graph"]["nodes"][0]["inputs"][1]
    assert "x&lt;&amp;&gt;: " in write_dot(square, Selection(step=1)).decode()


def test_a_still_shows_the_equation_only_when_its_phase_has_come(square: TraceDocument) -> None:
    assert "×" not in write_dot(square, Selection(step=1, phase=1)).decode()
    assert "×" in write_dot(square, Selection(step=1, phase=2)).decode()
    before, after = (write_dot(square, Selection(step=1, phase=phase)).decode() for phase in (2, MULTIPLY))
    assert " = " in after.replace("y = ", "").replace("v = ", "")
    assert len(after) > len(before)


def test_the_forward_walk_is_drawn_phase_by_phase(square: TraceDocument) -> None:
    """Operands arrive, the result is there from the second phase on, what is saved from the third; no gradient yet."""
    square["events"][1]["graph"]["nodes"][0]["saved"] = [
        {"name": "self", "value": {"shape": [], "dtype": "float32", "data": [3.0]}, "version": 0, "is_input": True}
        | {"is_output": False}
    ]
    selections = [Selection(1, phase, direction="forward") for phase in (1, 2, 3)]
    arrive, compute, save = (write_dot(square, each).decode() for each in selections)
    assert "mulbackward0 gets x&lt;&amp;&gt; = 3 and x&lt;&amp;&gt; = 3." in arrive
    assert arrive.count("x&lt;&amp;&gt; = 3") == 4, "twice in the sentence, and a line for each operand"
    assert "y = 9" not in arrive
    assert "y = 9" in compute
    assert "saved" not in compute
    assert "saved x&lt;&amp;&gt; = 3" in save
    assert "Operation 1 of 1, save" in save
    assert ".grad" not in save
    assert "Before the program" in write_dot(square, Selection(0, direction="forward")).decode()


def test_gradients_are_on_their_edges_once_sent_and_in_a_leaf_once_landed(square: TraceDocument) -> None:
    before, sent, waiting, landed = (
        find_moment(square, Selection(step, phase))
        for step, phase in ((1, SEND - 1), (1, SEND), (2, LAND - 1), (2, LAND))
    )
    assert not before.sent
    assert [spell_gradient(sent.sent[edge]) for edge in ("e0", "e1")] == ["3", "None returned"]
    assert [spell_gradient(one.leaf_grads["x<&>"]) for one in (waiting, landed)] == ["not computed", "6"]


@pytest.mark.parametrize("name", ["a_name_longer_than_any_card" * 3, "とても長い名前" * 5, "W" * 200])
def test_a_long_name_is_cut_and_stays_in_its_card(name: str, square: TraceDocument) -> None:
    node = square["events"][1]["graph"]["nodes"][0]
    node["outputs"][0]["name"] = name
    dot = write_dot(square, Selection(step=1)).decode()
    (card,) = re.findall(r"^\tn0 \[label=<(.*?)\s+pos=", dot, re.MULTILINE | re.DOTALL)
    width = float(re.findall(r'WIDTH="(\d+)"', card)[0])
    lines = [re.sub(r"<[^>]+>", "", line).strip() for line in card.split("</TR>")]
    (value,) = [line for line in lines if "\N{HORIZONTAL ELLIPSIS}" in line]
    assert value.endswith(" 9"), "the value is whole"
    assert sum(2 if ord(character) > 0x2E80 else 1 for character in value) * 7.0 <= width


def test_the_lines_of_a_card_say_what_they_are(square: TraceDocument) -> None:
    dot = write_dot(square, Selection(step=1, phase=MULTIPLY)).decode()
    cards = re.findall(r"^\tn[01] \[label=<(.*?)\s+pos=", dot, re.MULTILINE | re.DOTALL)
    lines = [[re.sub(r"<[^>]+>", "", line).strip() for line in card.split("</TR>")[:-1]] for card in cards]
    assert [[line for line in card if line] for card in lines] == [
        ["MulBackward0", "y 9", "v 1"],
        ["x&lt;&amp;&gt; leaf", "value 3", ".grad not computed"],
    ]


def test_a_missing_gradient_is_a_word_and_a_name_from_a_program_is_text(square: TraceDocument) -> None:
    said = words_of(write_still("svg", square, Selection(step=1, phase=SEND)))
    assert "None returned" in said
    assert "x<&>" in said


@pytest.mark.parametrize("step", [None, 0, 2])
def test_any_step_that_there_is_can_be_asked_for_but_not_of_a_trace_without_a_pass(step, square: TraceDocument) -> None:
    assert write_still("svg", square, Selection(step=step)).startswith(b"<?xml")
    square["events"] = [e for e in square["events"] if e["type"] in ("started", "finished")]
    with pytest.raises(NothingToExport, match="no backward pass"):
        find_moment(square, Selection(step=step))
