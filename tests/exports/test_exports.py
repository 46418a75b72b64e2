"""Every exporter over its list, and what a still must show, read back by Graphviz and an XML parser."""

import json
import shutil
import xml.etree.ElementTree as ET

import pytest

from gradwalk.exports import raster
from gradwalk.exports.catalogue import EXPORTERS, find_exporter
from gradwalk.exports.exporter import ExportUnavailable, NothingToExport, Selection
from gradwalk.exports.moment import LAND, MULTIPLY, SEND, find_moment
from gradwalk.exports.picture import write_dot
from gradwalk.exports.spelling import spell_gradient, spell_number
from gradwalk.protocol.document import TraceDocument, encode

SVG = "{http://www.w3.org/2000/svg}"
MAGIC = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF", "json": b"{", "dot": b"digraph", "kit": b"{"}


def words_of(svg: bytes) -> str:
    return " ".join("".join(text.itertext()) for text in ET.fromstring(svg).iter(f"{SVG}text"))


@pytest.mark.parametrize("exporter", EXPORTERS, ids=lambda exporter: exporter.name)
@pytest.mark.parametrize("step", [None, 0, 1, 2])
def test_an_export_is_what_it_says_and_the_same_every_time(exporter, step, square: TraceDocument) -> None:
    first = exporter.write(square, Selection(step=step))
    assert first.startswith(MAGIC[exporter.name])
    assert exporter.write(square, Selection(step=step)) == first


@pytest.mark.parametrize("exporter", [e for e in EXPORTERS if e.is_still], ids=lambda exporter: exporter.name)
def test_the_library_in_the_wheel_draws_what_dot_draws(exporter, square, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raster, "which", lambda _name: None)
    assert exporter.write(square, Selection(step=1)).startswith(MAGIC[exporter.name])


def test_without_graphviz_the_export_says_how_to_get_it(square, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raster, "which", lambda _name: None)
    monkeypatch.setattr(raster, "HAS_LIBRARY", False)
    exporter = find_exporter("svg")
    assert exporter is not None
    with pytest.raises(ExportUnavailable, match="pip install pygraphviz"):
        exporter.write(square, Selection())


def test_json_is_the_document(square: TraceDocument) -> None:
    exporter = find_exporter("json")
    assert exporter is not None
    assert exporter.write(square, Selection()) == encode(square)
    assert json.loads(exporter.write(square, Selection())) == square


def test_a_still_shows_the_equation_only_when_its_phase_has_come(square: TraceDocument) -> None:
    assert "×" not in write_dot(square, Selection(step=1, phase=1)).decode()
    assert "×" in write_dot(square, Selection(step=1, phase=2)).decode()
    before, after = (write_dot(square, Selection(step=1, phase=phase)).decode() for phase in (2, MULTIPLY))
    assert " = " in after.replace("y = ", "").replace("v = ", "")
    assert len(after) > len(before)


def test_gradients_are_on_the_edges_from_the_send_phase_on(square: TraceDocument) -> None:
    assert not find_moment(square, Selection(step=1, phase=SEND - 1)).sent
    sent = find_moment(square, Selection(step=1, phase=SEND)).sent
    assert [spell_gradient(sent[edge]) for edge in ("e0", "e1")] == ["3", "None returned"]


def test_a_leaf_keeps_its_old_gradient_until_the_new_one_has_landed(square: TraceDocument) -> None:
    before = find_moment(square, Selection(step=2, phase=LAND - 1)).leaf_grads["x<&>"]
    after = find_moment(square, Selection(step=2, phase=LAND)).leaf_grads["x<&>"]
    assert (spell_gradient(before), spell_gradient(after)) == ("not computed", "6")


def test_names_from_a_program_are_text_in_the_picture(square: TraceDocument) -> None:
    exporter = find_exporter("svg")
    assert exporter is not None
    assert "x<&>" in words_of(exporter.write(square, Selection(step=2)))


def test_a_missing_gradient_is_a_word_never_a_zero(square: TraceDocument) -> None:
    exporter = find_exporter("svg")
    assert exporter is not None
    assert "None returned" in words_of(exporter.write(square, Selection(step=1, phase=SEND)))


def test_a_trace_without_a_pass_says_why_it_cannot_be_drawn(square: TraceDocument) -> None:
    square["events"] = [e for e in square["events"] if e["type"] in ("started", "finished")]
    with pytest.raises(NothingToExport, match="no backward pass"):
        find_moment(square, Selection())


@pytest.mark.parametrize(
    ("number", "spelled"),
    [(3.0, "3"), (-0.5, "−0.5"), (0.123456, "0.1235"), ("-Infinity", "−∞"), ("NaN", "NaN"), ([1.0, -2.0], "1−2i")],
)
def test_numbers_are_short_and_carry_a_true_minus(number: object, spelled: str) -> None:
    assert spell_number(number) == spelled


def test_dot_itself_reads_the_source(square: TraceDocument) -> None:
    assert shutil.which("dot")
    raster.draw(write_dot(square, Selection()).decode(), "svg")
