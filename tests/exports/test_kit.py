"""The lecture kit: one module, and traces with everything worked out beforehand."""

import gzip
import json
import re
from pathlib import Path

import pytest

from gradwalk.exports import kit
from gradwalk.exports.exporter import Selection
from gradwalk.exports.kit import KIT, MODULE, write_kit
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.merging import merge
from gradwalk.protocol.upgrades import load_document
from gradwalk.protocol.wire import write_document

pytestmark = pytest.mark.usefixtures("run")
"""Graphviz and ffmpeg are processes."""
GOLDEN = Path(__file__).parents[1] / "golden"
VIEWER_GZIP_BYTES_MAX = 176_000
"""Of these the messages that the viewer can say take 35 kB, once for all traces; the borders that one draws, 12 kB."""


def golden(name: str) -> TraceDocument:
    return load_document(json.loads((GOLDEN / f"{name}.json").read_text()))


def test_the_viewer_without_editor_graphviz_and_typesetter_is_small() -> None:
    assert len(gzip.compress(MODULE.read_bytes(), 9)) <= VIEWER_GZIP_BYTES_MAX


def test_the_module_needs_no_other_file_to_start() -> None:
    source = MODULE.read_text()
    fetched_later = set(re.findall(r'import\(["`\']\./([^"`\']+)', source))
    assert not re.findall(r'(?:^|[;}])\s*import\s*[\w{*"\']', source)
    assert {name.split("-")[0] for name in fetched_later} == {
        "chunks/typesetter",
        "chunks/worker",
        "chunks/InputsPanel",
        "chunks/client",
        "chunks/de",
    }
    assert all((KIT / name).is_file() for name in fetched_later)


def test_a_baked_trace_is_the_trace_and_its_layouts_and_formulas() -> None:
    document = golden("mlp-step")
    written = json.loads(write_kit(document, Selection()))
    baked = written.pop("baked")
    assert written == json.loads(write_document(document))
    graph = next(event for event in merge(document["events"]) if event["type"] == "pass_started")["graph"]
    first = baked["layouts"][0]
    assert set(first["nodes"]) == {node["id"] for node in graph["nodes"]}
    assert set(first["edges"]) == {edge["id"] for edge in graph["edges"]}
    formulas = {node["formula"]["forward"] for node in graph["nodes"] if node["formula"]} - {""}
    assert formulas <= set(baked["math"])
    assert all(markup.startswith("<math") for markup in baked["math"].values())


def test_without_an_engine_the_trace_goes_out_as_it_is(square: TraceDocument, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit, "HAS_ENGINE", False)
    assert load_document(json.loads(write_kit(square, Selection()))) == square
