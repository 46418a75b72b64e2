"""Decks in the real reveal.js, 4, 5 and the newest: the clicker walk, windows in step, the print view."""

import itertools
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.e2e.conftest import Opener
from tests.world.shared import SharedServer
from tests.world.sites import keep_program, serving

PROGRAM = "import torch\nx = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\n"
STOPS = ["0", "1.1", "1.2", "1.3", "1.4", "1.5", "2.1", "2.5"]
RANGES = {"": STOPS, "1-1": STOPS[1:6], "1.3-2.2": STOPS[3:7]}
VERSIONS = {"4": "reveal4", "5": "reveal5", "newest": "reveal.js"}
NEWEST_IN_RING_2 = [pytest.param("4", marks=pytest.mark.soak), pytest.param("5", marks=pytest.mark.soak), "newest"]
ALL_IN_RING_3 = [pytest.param(version, marks=pytest.mark.soak) for version in VERSIONS]
DECK = """<!doctype html><html><head><meta charset="utf-8"><title>deck</title>
<link rel="stylesheet" href="/npm/{package}/dist/reveal.css">
<link rel="stylesheet" href="/npm/{package}/dist/theme/white.css">
<style>grad-walk, iframe {{ height: 560px; width: 940px; font-size: 16px }}</style></head>
<body><div class="reveal"><div class="slides">
<section><h2>First</h2></section>{embeds}<section><h2>Last</h2></section>
</div></div>
<script src="/npm/{package}/dist/reveal.js"></script>{plugin}
<script>Reveal.initialize({{
  hash: true, fragmentInURL: true, transition: "none", controls: false, {config}
}});</script></body></html>"""
PAGE = re.compile(rb"/Type\s*/Page\b")
PLUGIN = '<script src="{server}/kit/reveal.js"></script>'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    folder = tmp_path_factory.mktemp("decks")
    with serving(folder) as address:
        yield folder, address


@pytest.fixture(scope="module")
def snippet(server: SharedServer) -> str:
    return keep_program(server.url, PROGRAM)[1]


def write_deck(
    site: tuple[Path, str], version: str, server: str, embeds: str, *, plugin: bool, patience_ms: int = 6000
) -> str:
    folder, address = site
    script = PLUGIN.format(server=server) if plugin else ""
    config = f"plugins: [RevealGradwalk], gradwalk: {{patience_ms: {patience_ms}}}" if plugin else ""
    deck = DECK.format(package=VERSIONS[version], embeds=embeds, plugin=script, config=config)
    name = f"{version}-{'plugin' if plugin else 'bare'}-{patience_ms}.html"
    (folder / name).write_text(deck)
    return f"{address}/{name}"


def elements(server: str, snippet: str) -> str:
    return "".join(
        f'<section><grad-walk src="{server}/embed/{snippet}/trace.json" steps="{steps}"></grad-walk></section>'
        for steps in RANGES
    )


def open_deck(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_function("() => Reveal.isReady()")


def place(page: Page) -> str | None:
    shown: str | None = page.evaluate("document.querySelector('section.present grad-walk')?.state.place ?? null")
    return shown


@pytest.mark.parametrize("version", NEWEST_IN_RING_2)
def test_with_the_plugin_a_clicker_shows_every_phase_once_in_every_window(
    new_page: Opener, site, server, snippet, version
) -> None:
    address = write_deck(site, version, server.url, elements(server.url, snippet), plugin=True)
    lead, follower = new_page().page, new_page().page
    for page in (lead, follower):
        open_deck(page, address)
    seen: list[tuple[int, str]] = []

    def press(key: str) -> None:
        lead.keyboard.press(key)
        # what speaker view and multiplex send to the other window
        follower.evaluate("(state) => Reveal.setState(state)", lead.evaluate("Reveal.getState()"))
        assert place(follower) == place(lead)

    for _ in range(1 + sum(map(len, RANGES.values()))):
        press("PageDown")
        shown = place(lead)
        if shown is not None:
            seen.append((lead.evaluate("Reveal.getIndices().h"), shown))
            # the worst that a presenter can do: click into the player
            lead.locator("section.present grad-walk .viewport").click(position={"x": 30, "y": 60})
    assert seen == [(n, stop) for n, stops in enumerate(RANGES.values(), start=1) for stop in stops]
    assert lead.evaluate("Reveal.isLastSlide()")
    walk = random.Random(5)
    for _ in range(12):
        press(walk.choices(["PageUp", "PageDown"], [3, 1])[0])
    lead.evaluate("Reveal.slide(1, 0, -1)")
    lead.locator("section.present grad-walk").get_by_role("button", name="Next step").click()
    assert lead.evaluate("Reveal.getIndices().f") == STOPS.index("1.3") - 1
    # reveal.js writes its address at most once a second
    lead.wait_for_function("() => location.hash === '#/1/0/2'")
    lead.reload()
    lead.wait_for_function("() => document.querySelector('section.present grad-walk')?.state.place === '1.3'")


@pytest.mark.parametrize("version", ALL_IN_RING_3)
def test_a_trace_that_comes_late_still_opens_at_the_fragment_that_the_address_names(
    new_page: Opener, site, server, snippet, version
) -> None:
    address = write_deck(site, version, server.url, elements(server.url, snippet), plugin=True, patience_ms=1)
    page = new_page().page
    page.goto(f"{address}#/2/0/3")
    page.wait_for_function("() => document.querySelector('section.present grad-walk')?.state.place === '1.5'")
    assert page.evaluate("Reveal.getIndices()")["f"] == 3


@pytest.mark.parametrize("version", NEWEST_IN_RING_2)
def test_frames_alone_give_the_deck_its_keys_back(new_page: Opener, site, server, snippet, version) -> None:
    frames = "".join(
        f'<section><iframe title="walk" src="{server.url}/embed/{snippet}#deck=reveal&steps={steps}">'
        "</iframe></section>"
        for steps in RANGES
    )
    page = new_page().page
    open_deck(page, write_deck(site, version, server.url, frames, plugin=False))
    for frame in page.frames[1:]:
        frame.wait_for_function("() => document.querySelector('grad-walk').isReady")
        frame.evaluate(
            """() => { const element = document.querySelector('grad-walk'); window.walked = [element.state.place];
               element.addEventListener('gradwalk-step', () => walked.push(element.state.place)) }"""
        )
    page.evaluate("window.said = 0; addEventListener('message', () => { said += 1 })")
    presses = 0
    while not page.evaluate("Reveal.isLastSlide()"):
        before = page.evaluate("[Reveal.getIndices().h, said]")
        page.keyboard.press("PageDown")
        page.wait_for_function("(before) => Reveal.getIndices().h !== before[0] || said > before[1]", arg=before)
        presses += 1
        if page.evaluate("Reveal.getIndices().h") not in (before[0], len(RANGES) + 1):
            page.wait_for_function("() => document.activeElement.localName === 'iframe'")
    assert [frame.evaluate("walked") for frame in page.frames[1:]] == list(RANGES.values())
    assert presses == 1 + sum(map(len, RANGES.values()))


@pytest.mark.parametrize("version", ALL_IN_RING_3)
def test_in_print_every_phase_has_its_page_and_none_is_blank(new_page: Opener, site, server, snippet, version) -> None:
    address = write_deck(site, version, server.url, elements(server.url, snippet), plugin=True)
    page = new_page().page
    page.goto(f"{address}?print-pdf")
    page.wait_for_function("() => document.documentElement.dataset.gradwalkPrint === 'ready'", timeout=60_000)
    pages = page.locator(".pdf-page")
    expected = [None, *itertools.chain(*RANGES.values()), None]
    assert pages.count() == len(expected)
    shown = page.evaluate(
        "[...document.querySelectorAll('.pdf-page')].map("
        "(each) => each.querySelector('grad-walk')?.state.place ?? null)"
    )
    assert shown == expected
    cards = page.evaluate(
        "[...document.querySelectorAll('grad-walk')].map((each) => each.shadowRoot.querySelectorAll('article').length)"
    )
    assert set(cards) == {2}
    unseen = page.evaluate(
        """[...document.querySelectorAll('grad-walk')].filter((each) => [...each.shadowRoot.querySelectorAll('article')]
           .some((card) => !card.checkVisibility({ opacityProperty: true, visibilityProperty: true }))).length"""
    )
    assert unseen == 0, "a page is blank"
    pdf = page.pdf(prefer_css_page_size=True)
    # reveal.js 4 ends every PDF with an empty page, with or without us
    assert len(PAGE.findall(pdf)) == len(expected) + (version == "4")
    assert b"/Font" in pdf
