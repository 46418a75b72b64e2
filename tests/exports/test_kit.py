"""The lecture kit: one module, traces with everything worked out beforehand, and both as a page in one file."""

import gzip
import json
import re
from pathlib import Path

import pytest

from gradwalk.exports import kit
from gradwalk.exports.exporter import ExportUnavailable, Selection
from gradwalk.exports.html import script_code, script_json, write_html
from gradwalk.exports.kit import MODULE, write_kit
from gradwalk.exports.scene import Scene
from gradwalk.protocol.merging import merge
from gradwalk.protocol.wire import write_document
from tests.exports.readers import golden

pytestmark = pytest.mark.usefixtures("run")
"""V8 is a process."""
VIEWER_GZIP_BYTES_MAX = 175_000
"""Its own messages, once for all traces, take 35 kB of these, and the borders that one draws 12 kB."""


def test_the_viewer_without_editor_graphviz_and_typesetter_is_small() -> None:
    assert len(gzip.compress(MODULE.read_bytes(), 9)) <= VIEWER_GZIP_BYTES_MAX


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


@pytest.mark.parametrize("name", ["mlp-step", "attention", "x-times-x"])
def test_a_page_is_small_the_same_every_time_and_names_nobody(name: str, scene: Scene, monkeypatch) -> None:
    document = golden(name)
    page = write_html(document, Selection())
    assert len(page) <= 1_000_000
    if name == "x-times-x":
        monkeypatch.setattr(kit, "SCENE", scene)
        assert write_html(document, Selection()) == page
    text = page.decode()
    head = text.split("<script", 1)[0]
    assert not re.search(r'(?:src|href)="(?!data:)', head)
    assert text.count("</script>") == 2
    assert "<!--" not in text.split('<script type="module">', 1)[1]


def test_it_opens_where_it_is_told(square) -> None:
    assert b' step="2.4"' in write_html(square, Selection(step=2, phase=4))
    assert b' step="0"' in write_html(square, Selection(step=0))


def test_text_of_a_program_stays_text() -> None:
    assert "<" not in script_json({"source": "</script><!-- <script>"})
    assert json.loads(script_json("\u2028<b>")) == "\u2028<b>"
    assert script_code("a='</script>';b='<!--'") == "a='<\\/script>';b='<\\!--'"


def test_without_the_built_front_end_it_says_what_to_do(square, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit, "MODULE", Path("nowhere.js"))
    with pytest.raises(ExportUnavailable, match="make install"):
        write_html(square, Selection())
