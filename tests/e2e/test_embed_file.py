"""The page in one file, opened from a folder on a machine without a network."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from gradwalk.exports import kit
from gradwalk.exports.catalogue import find_exporter
from gradwalk.exports.exporter import Selection
from gradwalk.exports.html import write_html
from gradwalk.exports.scene import Scene
from gradwalk.exports.walk import Walk
from gradwalk.words.catalogue import say
from gradwalk.words.problems import tell_problem
from tests.e2e.conftest import Opener
from tests.e2e.host_page import place, wait_until_ready
from tests.examples.traced import trace_example
from tests.exports.readers import golden


def open_file(new_page: Opener, file: Path, content: bytes, **options: str) -> tuple[Page, list[str]]:
    """A page without a network at the file, and what it asked for."""
    file.write_bytes(content)
    page = new_page(offline=True, **options).page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    wait_until_ready(page)
    return page, asked


def test_every_step_can_be_reached_and_groups_open_without_a_network(new_page: Opener, tmp_path: Path) -> None:
    document, file = golden("mlp-step"), tmp_path / "page.html"
    page, asked = open_file(new_page, file, write_html(document, Selection()))
    stops = page.evaluate("document.querySelector('grad-walk').stops")
    page.keyboard.press("Home")
    said = set()
    for stop in stops:
        assert place(page) == stop
        said.add(page.get_by_role("status", name="Narration").inner_text())
        page.keyboard.press("ArrowRight")
    steps = [event for event in document["events"] if event["type"] == "step"]
    assert stops[0] == "0"
    assert {int(stop.partition(".")[0]) for stop in stops[1:]} == set(range(1, len(steps) + 1))
    assert len(stops) == 1 + len(Walk(document).stops(Selection(every="phase")))
    assert len(said) > len(steps)
    articles = page.get_by_role("article")
    before = articles.count()
    page.locator(".group button[aria-expanded=true]").last.press("Enter")
    expect(articles).not_to_have_count(before)
    assert asked == [file.as_uri()]


@pytest.mark.parametrize(("language", "reader"), [("de", "en-GB"), ("en", "de-DE")])
def test_it_speaks_the_language_it_was_made_in_and_asks_for_none(new_page, tmp_path, language, reader):
    exporter, file = find_exporter("html"), tmp_path / "page.html"
    content = exporter.make(golden("x-times-x"), Selection(lang=language))
    page, asked = open_file(new_page, file, content, locale=reader)
    expect(page.locator("html")).to_have_attribute("lang", language)
    for address in ("", "#lang=de"):
        page.evaluate("address => { location.hash = address }", address)
        expect(page.get_by_role("button", name=say("player-next-step", language), exact=True)).to_be_visible()
        expect(page.get_by_role("status", name=say("player-narration", language), exact=True)).to_be_visible()
    assert asked == [file.as_uri()]


def test_what_went_wrong_is_told_beside_the_graph(new_page: Opener, tmp_path: Path) -> None:
    document = trace_example("backward-twice")
    problems = [event for event in document["events"] if event["type"] == "problem"]
    page, _ = open_file(new_page, tmp_path / "page.html", write_html(document, Selection()))
    expect(page.get_by_role("article").first).to_be_visible()
    expect(page.get_by_text(tell_problem(problems[-1]).title).first).to_be_visible()


PLACES = """(element) => Object.fromEntries(
  [...element.shadowRoot.querySelectorAll("[data-node], [data-group]")].map((box) => {
    const {e: x, f: y} = new DOMMatrix(box.style.transform);
    return [box.dataset.node ?? box.dataset.group, [x, y, parseFloat(box.style.width), parseFloat(box.style.height)]];
  }))"""


def test_a_file_from_where_there_is_no_v8_is_laid_out_by_its_reader(new_page, tmp_path, monkeypatch) -> None:
    """As the engine without a browser lays it out, and with as many formulas; this graph has groups."""
    file, document = tmp_path / "page.html", golden("mlp-step")
    layout = kit.with_baked(document)["baked"]["layouts"][0]
    expected = layout["nodes"] | {group: place[:4] for group, place in layout["groups"].items()}
    formulas = []
    for has_engine in (True, False):
        if not has_engine:
            monkeypatch.setattr("gradwalk.exports.scene.HAS_ENGINE", False)
            monkeypatch.setattr(kit, "SCENE", Scene())
        page, asked = open_file(new_page, file, write_html(document, Selection()))
        assert asked == [file.as_uri()]
        seen = page.locator("grad-walk").evaluate(PLACES)
        assert seen == {box: pytest.approx([*place], abs=0.011) for box, place in expected.items()}
        page.locator("grad-walk").evaluate("element => element.goTo('1.3')")
        expect(page.locator("grad-walk math").first).to_be_attached()
        formulas.append(page.locator("grad-walk math").count())
    assert formulas[0] == formulas[1] > 0
