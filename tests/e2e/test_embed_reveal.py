"""Decks in the newest reveal.js: the clicker walk, windows in step. Versions 4 and 5, the speaker view and the printed
pages are in `hosts/test_reveal.py`.
"""

import random

import pytest
from playwright.sync_api import Page

from tests.e2e.conftest import Opener
from tests.e2e.host_page import HostPage, wait_until_ready
from tests.e2e.test_embed import PROGRAM, STOPS
from tests.world.shared import SharedServer
from tests.world.sites import keep_program

RANGES = {"": STOPS, "1-1": STOPS[1:6], "1.3-2.2": STOPS[3:7]}
DECK = """<link rel="stylesheet" href="/npm/reveal.js/dist/reveal.css">
<style>grad-walk, iframe {{ height: 560px; width: 940px; font-size: 16px }}</style>
<div class="reveal"><div class="slides">
<section><h2>First</h2></section>{slides}<section><h2>Last</h2></section>
</div></div>
<script src="/npm/reveal.js/dist/reveal.js"></script>{plugin}
<script>Reveal.initialize({{
  hash: true, fragmentInURL: true, transition: "none", controls: false, {config}
}});</script>"""
ELEMENT = '<section><grad-walk src="{embed}/trace.json" steps="{steps}"></grad-walk></section>'
FRAME = '<section><iframe title="walk" src="{embed}#deck=reveal&steps={steps}"></iframe></section>'
PLACE = "document.querySelector('section.present grad-walk')?.state.place ?? null"


@pytest.fixture(scope="module")
def embed(server: SharedServer) -> str:
    return f"{server.url}/embed/{keep_program(server.url, PROGRAM)[1]}"


def open_deck(host: HostPage, embed: str, slide: str = ELEMENT, config: str = "") -> Page:
    """A slide for each range; with elements, the plugin."""
    has_plugin = slide is ELEMENT
    plugin = f'<script src="{host.server}/kit/reveal.js"></script>' if has_plugin else ""
    slides = "".join(slide.format(embed=embed, steps=steps) for steps in RANGES)
    host.paste(DECK.format(slides=slides, plugin=plugin, config=config or "plugins: [RevealGradwalk]" * has_plugin))
    host.page.wait_for_function("() => Reveal.isReady()")
    return host.page


def test_with_the_plugin_a_clicker_shows_every_phase_once_in_every_window(
    new_page: Opener, host: HostPage, embed: str
) -> None:
    lead, follower = open_deck(host, embed), new_page().page
    follower.goto(lead.url)
    follower.wait_for_function("() => Reveal.isReady()")
    seen: list[tuple[int, str]] = []

    def press(key: str) -> None:
        lead.keyboard.press(key)
        # What speaker view and multiplex send to the other window.
        follower.evaluate("(state) => Reveal.setState(state)", lead.evaluate("Reveal.getState()"))
        assert follower.evaluate(PLACE) == lead.evaluate(PLACE)

    for _ in range(1 + sum(map(len, RANGES.values()))):
        press("PageDown")
        shown = lead.evaluate(PLACE)
        if shown is not None:
            seen.append((lead.evaluate("Reveal.getIndices().h"), shown))
            # The worst that a presenter can do: click into the player.
            lead.locator("section.present grad-walk .viewport").click(position={"x": 30, "y": 60})
    assert seen == [(n, stop) for n, stops in enumerate(RANGES.values(), start=1) for stop in stops]
    assert lead.evaluate("Reveal.isLastSlide()")
    walk = random.Random(5)
    for _ in range(12):
        press(walk.choices(["PageUp", "PageDown"], [3, 1])[0])
    lead.evaluate("Reveal.slide(1, 0, -1)")
    lead.locator("section.present grad-walk").get_by_role("button", name="Next step").click()
    assert lead.evaluate("Reveal.getIndices().f") == STOPS.index("1.3") - 1
    # reveal.js writes its address at most once a second.
    lead.wait_for_function("() => location.hash === '#/1/0/2'")
    lead.reload()
    lead.wait_for_function(f"() => ({PLACE}) === '1.3'")


@pytest.mark.soak
def test_a_trace_that_comes_late_still_opens_at_the_fragment_that_the_address_names(host: HostPage, embed: str) -> None:
    page = open_deck(host, embed, config="plugins: [RevealGradwalk], gradwalk: {patience_ms: 1}")
    address = page.url
    page.goto("about:blank")
    page.goto(f"{address}#/2/0/3")
    page.wait_for_function(f"() => ({PLACE}) === '1.5'")
    assert page.evaluate("Reveal.getIndices()")["f"] == 3


def test_frames_alone_give_the_deck_its_keys_back(host: HostPage, embed: str) -> None:
    page = open_deck(host, embed, FRAME)
    for frame in page.frames[1:]:
        wait_until_ready(frame)
        frame.evaluate(
            """() => { const element = document.querySelector('grad-walk'); window.walked = [element.state.place];
               element.addEventListener('gradwalk-step', () => walked.push(element.state.place)) }"""
        )
    page.evaluate("heard.length = 0")
    presses = 0
    while not page.evaluate("Reveal.isLastSlide()"):
        before = page.evaluate("[Reveal.getIndices().h, heard.length]")
        page.keyboard.press("PageDown")
        page.wait_for_function("([h, count]) => Reveal.getIndices().h !== h || heard.length > count", arg=before)
        presses += 1
        if page.evaluate("Reveal.getIndices().h") not in (before[0], len(RANGES) + 1):
            page.wait_for_function("() => document.activeElement.localName === 'iframe'")
    assert [frame.evaluate("walked") for frame in page.frames[1:]] == list(RANGES.values())
    assert presses == 1 + sum(map(len, RANGES.values()))
