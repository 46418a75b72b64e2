"""A deck in the newest reveal.js: the clicker walk, windows in step. Versions 4 and 5, the speaker view, frames without
the plugin and the printed pages are in `hosts/test_decks_reveal.py`.
"""

from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Page

from gradwalk.cli.main import main
from tests.e2e.host_page import HostPage
from tests.e2e.test_embed import PROGRAM, STOPS
from tests.hosts.recipes import recipe
from tests.house.tree import ROOT
from tests.world.shared import SharedServer
from tests.world.sites import keep_program

RANGES = {"": STOPS, "1-1": STOPS[1:6], "1.3-2.2": STOPS[3:7]}
DECK = """<link rel="stylesheet" href="/npm/reveal.js/dist/reveal.css">
<style>grad-walk {{ height: 560px; width: 940px; font-size: 16px }}</style>
<div class="reveal"><div class="slides">
<section><h2>First</h2></section>{slides}<section><h2>Last</h2></section>
</div></div>
<script src="/npm/reveal.js/dist/reveal.js"></script><script src="{server}/kit/reveal.js"></script>
<script>Reveal.initialize({{
  hash: true, fragmentInURL: true, transition: "none", controls: false, plugins: [RevealGradwalk], {config}
}});</script>"""
SLIDE = '<section><grad-walk src="{embed}/trace.json" steps="{steps}"></grad-walk></section>'
PLACE = "document.querySelector('section.present grad-walk')?.state.place ?? null"


@pytest.fixture(scope="module")
def embed(server: SharedServer) -> str:
    return f"{server.url}/embed/{keep_program(server.url, PROGRAM)[1]}"


def open_deck(host: HostPage, embed: str, config: str = "") -> Page:
    """A slide for each range."""
    slides = "".join(SLIDE.format(embed=embed, steps=steps) for steps in RANGES)
    host.paste(DECK.format(slides=slides, server=host.server, config=config))
    host.page.wait_for_function("() => Reveal.isReady()")
    return host.page


def test_with_the_plugin_a_clicker_shows_every_phase_once_in_every_window(new_page, host, embed):
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
    for key in ("PageUp", "PageUp", "PageDown", "PageUp", "PageUp"):
        press(key)
    lead.evaluate("Reveal.slide(1, 0, -1)")
    lead.locator("section.present grad-walk").get_by_role("button", name="Next step").click()
    assert lead.evaluate("Reveal.getIndices().f") == STOPS.index("1.3") - 1
    # reveal.js writes its address at most once a second.
    lead.wait_for_function("() => location.hash === '#/1/0/2'")
    lead.reload()
    lead.wait_for_function(f"() => ({PLACE}) === '1.3'")


def test_a_deck_that_init_writes_walks_from_its_folder_without_a_network(new_page, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lesson.py").write_text(PROGRAM)
    init, check = (line.split()[1:] for line in recipe("reveal.md", "sh").splitlines())
    assert CliRunner().invoke(main, init).exit_code == 0
    Path("deck/node_modules").symlink_to(ROOT / "frontend" / "node_modules")
    assert CliRunner().invoke(main, check).exit_code == 0
    page = new_page(offline=True).page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "deck" / "index.html").as_uri())
    page.wait_for_function("() => Reveal.isReady()")
    seen = []
    while not page.evaluate("Reveal.isLastSlide()"):
        page.keyboard.press("PageDown")
        seen.append(page.evaluate(PLACE))
    assert seen == [*STOPS[1:], None]
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.soak
def test_a_trace_that_comes_late_still_opens_at_the_fragment_that_the_address_names(host: HostPage, embed: str) -> None:
    page = open_deck(host, embed, config="gradwalk: {patience_ms: 1}")
    address = page.url
    page.goto("about:blank")
    page.goto(f"{address}#/2/0/3")
    page.wait_for_function(f"() => ({PLACE}) === '1.5'")
    assert page.evaluate("Reveal.getIndices()")["f"] == 3
