"""The page in one file, opened from a folder on a machine without a network."""

import json
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from gradwalk.exports.catalogue import find_exporter
from gradwalk.exports.exporter import Selection
from gradwalk.exports.html import write_html
from gradwalk.exports.moment import Walk
from gradwalk.exports.places import find_layouts
from gradwalk.protocol.upgrades import load_document
from gradwalk.words.catalogue import say
from gradwalk.words.problems import tell_problem
from tests.e2e.conftest import Opener
from tests.examples.traced import trace_example
from tests.world.shared import SharedServer
from tests.world.sites import serving

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize("name", ["mlp-step"])
def test_it_opens_without_a_network_and_every_step_can_be_reached(new_page: Opener, tmp_path: Path, name: str) -> None:
    document = load_document(json.loads((GOLDEN / f"{name}.json").read_text()))
    file = tmp_path / "page.html"
    file.write_bytes(write_html(document, Selection()))
    page = new_page(offline=True).page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_function("() => document.querySelector('grad-walk').isReady")
    stops = page.evaluate("document.querySelector('grad-walk').stops")
    page.keyboard.press("Home")
    said = set()
    for stop in stops:
        assert page.evaluate("document.querySelector('grad-walk').state.place") == stop
        said.add(page.get_by_role("status", name="Narration").inner_text())
        page.keyboard.press("ArrowRight")
    steps = [event for event in document["events"] if event["type"] == "step"]
    assert stops[0] == "0"
    assert {int(stop.partition(".")[0]) for stop in stops[1:]} == set(range(1, len(steps) + 1))
    assert len(stops) == 1 + Walk(document).count(Selection(every="phase"))
    assert len(said) > len(steps)
    assert asked == [file.as_uri()]


@pytest.mark.parametrize(("language", "reader"), [("de", "en-GB"), ("en", "de-DE")])
def test_it_speaks_the_language_it_was_made_in_and_asks_for_none(
    new_page: Opener, tmp_path: Path, language: str, reader: str
) -> None:
    exporter = find_exporter("html")
    assert exporter is not None
    document = load_document(json.loads((GOLDEN / "x-times-x.json").read_text()))
    file = tmp_path / "page.html"
    file.write_bytes(exporter.make(document, Selection(language=language)))
    page = new_page(offline=True, locale=reader).page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    expect(page.locator("html")).to_have_attribute("lang", language)
    for address in ("", "#lang=de"):
        page.evaluate("address => { location.hash = address }", address)
        expect(page.get_by_role("button", name=say("player-next-step", language), exact=True)).to_be_visible()
        expect(page.get_by_role("status", name=say("player-narration", language), exact=True)).to_be_visible()
    assert asked == [file.as_uri()]


@pytest.mark.parametrize("name", ["backward-twice"])
def test_what_went_wrong_is_told_beside_the_graph(new_page: Opener, tmp_path: Path, name: str) -> None:
    document = trace_example(name)
    problems = [event for event in document["events"] if event["type"] == "problem"]
    file = tmp_path / "page.html"
    file.write_bytes(write_html(document, Selection()))
    page = new_page(offline=True).page
    page.goto(file.as_uri())
    page.wait_for_function("() => document.querySelector('grad-walk').isReady")
    expect(page.get_by_role("article").first).to_be_visible()
    expect(page.get_by_text(tell_problem(problems[-1]).title).first).to_be_visible()


def test_a_group_opens_and_closes_without_a_network(new_page: Opener, tmp_path: Path) -> None:
    document = load_document(json.loads((GOLDEN / "mlp-step.json").read_text()))
    file = tmp_path / "page.html"
    file.write_bytes(write_html(document, Selection(step=1, phase=3)))
    page = new_page(offline=True).page
    page.goto(file.as_uri())
    articles = page.get_by_role("article")
    page.wait_for_function("() => document.querySelector('grad-walk').isReady")
    expect(articles.first).to_be_visible()
    before = articles.count()
    page.locator(".group button[aria-expanded=true]").last.press("Enter")
    expect(articles).not_to_have_count(before)


PLACES = """(element) => Object.fromEntries(
  [...element.shadowRoot.querySelectorAll("[data-node], [data-group]")].map((box) => {
    const {e: x, f: y} = new DOMMatrix(box.style.transform);
    return [box.dataset.node ?? box.dataset.group, [x, y, parseFloat(box.style.width), parseFloat(box.style.height)]];
  }))"""


def test_pictures_and_files_have_the_places_of_the_page(new_page: Opener, server: SharedServer, tmp_path: Path) -> None:
    """Graphs with groups, laid out by a browser's own worker and, for files, in an engine without a browser."""
    names = ("chain-of-two", "mlp-step", "attention")
    for name in names:
        shutil.copy(GOLDEN / f"{name}.json", tmp_path)
    elements = "".join(f'<grad-walk src="{name}.json" step="1.3"></grad-walk>' for name in names)
    module = f'<script type="module" src="{server.url}/kit/gradwalk.js"></script>'
    (tmp_path / "page.html").write_text(f"<!doctype html><title>t</title>{module}{elements}")
    page = new_page().page
    with serving(tmp_path) as address:
        page.goto(f"{address}/page.html")
        for name, element in zip(names, page.locator("grad-walk").all(), strict=True):
            layouts = find_layouts(load_document(json.loads((GOLDEN / f"{name}.json").read_text())))
            expect(element.get_by_role("article").first).to_be_visible()
            seen = element.evaluate(PLACES)
            ours = {**layouts[0].nodes, **{group: each.box for group, each in layouts[0].groups.items()}}
            assert set(seen) == set(ours)
            for box, place in ours.items():
                assert seen[box] == pytest.approx([*place], abs=0.011), (name, box)
