"""The page in one file."""

import json
import re
from pathlib import Path

import pytest

from gradwalk.exports import kit
from gradwalk.exports.exporter import ExportUnavailable, Selection
from gradwalk.exports.html import script_code, script_json, write_html
from gradwalk.protocol.upgrades import load_document

pytestmark = pytest.mark.usefixtures("run")
"""Graphviz and ffmpeg are processes."""
GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize("name", ["mlp-step", "attention", "x-times-x"])
def test_a_page_is_small_the_same_every_time_and_names_nobody(name: str) -> None:
    document = load_document(json.loads((GOLDEN / f"{name}.json").read_text()))
    page = write_html(document, Selection())
    assert len(page) <= 1_000_000
    if name == "x-times-x":
        kit.work_out.cache_clear()
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
