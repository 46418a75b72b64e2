"""reveal.js itself: its speaker view on a hundred random walks, the ink of its printed pages."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.exports.readers import ink_of
from tests.hosts.conftest import PROGRAM
from tests.hosts.readers import draw_pages, words_of_pdf
from tests.hosts.recipes import filled_for, recipe
from tests.world.shared import SharedServer
from tests.world.sites import serving

pytestmark = pytest.mark.host

SOURCE = f"import torch\n{PROGRAM}"
WALKS, PRESSES = 34, 5
"""In each of the three versions; a hundred and two walks in all."""
PRINTED = 9 + 4 + 2
"""Pages: all stops of steps 1 and 2, of 2.3 to 3.1, of step 3, a leaf at which two contributions add up."""
KEYS = ("PageDown", "ArrowRight", "Space", "PageUp", "ArrowLeft")
VERSIONS = {"4": "reveal4", "5": "reveal5", "newest": "reveal.js"}
NOTES = {"4": "plugin/notes/notes.js", "5": "plugin/notes/notes.js", "newest": "dist/plugin/notes.js"}
DECK = """<!doctype html><html><head><meta charset="utf-8"><title>deck</title>
<link rel="stylesheet" href="/npm/{package}/dist/reveal.css">
<style>grad-walk {{ height: 560px; width: 940px; font-size: 16px }}</style></head>
<body><div class="reveal"><div class="slides"><section><h2>First</h2></section>{slides}<section><h2>Last</h2></section>
</div></div><script src="/npm/{package}/dist/reveal.js"></script><script src="/npm/{package}/{notes}"></script>
{plugin}</body></html>"""


@pytest.fixture(scope="module")
def filled(server: SharedServer) -> dict[str, str]:
    return filled_for(server.url, SOURCE)


@pytest.fixture
def deck(request: pytest.FixtureRequest, tmp_path: Path, filled: dict[str, str]) -> Iterator[str]:
    """The address of a deck with three walks of the page's recipe and reveal's own notes plugin."""
    version: str = request.param
    slide = recipe("reveal.md", "html", **filled)
    slides = slide + slide.replace("1-2", "2.3-3.1") + slide.replace("1-2", "3-3")
    start = recipe("reveal.md", "html", 1, **filled).replace("[RevealGradwalk]", "[RevealGradwalk, RevealNotes]")
    start = start.replace("hash: true", "hash: true, transition: 'none', width: 960, height: 700")
    text = DECK.format(package=VERSIONS[version], notes=NOTES[version], slides=slides, plugin=start)
    (tmp_path / "deck.html").write_text(text)
    with serving(tmp_path) as address:
        yield f"{address}/deck.html"


def opened(page: Page, address: str) -> Page:
    page.goto(address)
    page.wait_for_function("() => window.Reveal?.isReady()")
    return page


WHERE = "[Reveal.getIndices().h, document.querySelector('section.present grad-walk')?.state.place ?? null]"


@pytest.mark.parametrize("deck", VERSIONS, indirect=True)
def test_the_speaker_view_shows_the_same_step_after_every_key(browser: Browser, deck: str) -> None:
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    lead = opened(context.new_page(), deck)
    with context.expect_page() as popup:
        lead.keyboard.press("s")
    speaker = popup.value
    speaker.wait_for_function("() => document.querySelector('#current-slide iframe')")
    current = speaker.query_selector("#current-slide iframe")
    mirror = current.content_frame()
    mirror.wait_for_function("() => window.Reveal?.isReady()")

    def settled() -> list[object]:
        """Where the lead stands once the speaker view has followed: what that sends back then changes nothing."""
        where = lead.evaluate(WHERE)
        mirror.wait_for_function(f"(where) => JSON.stringify({WHERE}) === JSON.stringify(where)", arg=where)
        assert lead.evaluate(WHERE) == where
        return list(where)

    walk = random.Random(11)
    seen = set()
    for _ in range(WALKS):
        lead.evaluate("(h) => Reveal.slide(h, 0, -1)", walk.randrange(5))
        settled()
        for key in walk.choices(KEYS, [4, 2, 1, 2, 1], k=PRESSES):
            lead.keyboard.press(key)
            seen.add(tuple(settled()))
    assert {place for _, place in seen} >= {"1.1", "2.5", "3.1", None}
    context.close()


@pytest.mark.parametrize("deck", VERSIONS, indirect=True)
def test_no_printed_page_is_blank(browser: Browser, deck: str, tmp_path: Path) -> None:
    page = browser.new_page()
    page.goto(f"{deck}?print-pdf")
    page.wait_for_function("() => document.documentElement.dataset.gradwalkPrint === 'ready'", timeout=60_000)
    (tmp_path / "deck.pdf").write_bytes(page.pdf(prefer_css_page_size=True, print_background=True))
    page.close()
    shown = [ink_of(picture) for picture in draw_pages(tmp_path / "deck.pdf")]
    walked = shown[1 : 1 + PRINTED]  # between the deck's own first and last slide
    assert len(walked) == PRINTED
    assert min(walked) > 0.01, walked
    assert "times the local Jacobian" in words_of_pdf(tmp_path / "deck.pdf")


@pytest.mark.parametrize("deck", ["newest"], indirect=True)
def test_a_frame_without_the_plugin_gives_the_deck_its_keys_back(browser, deck, filled, tmp_path):
    text = (tmp_path / "deck.html").read_text()
    frame = recipe("reveal.md", "html", 2, **filled)
    before, _, rest = text.partition(recipe("reveal.md", "html", **filled))
    listen = "<script>heard = []; addEventListener('message', ({data}) => data.place && heard.push(data))</script>"
    (tmp_path / "deck.html").write_text((before + frame + rest + listen).replace("[RevealGradwalk, RevealNotes]", "[]"))
    page = opened(browser.new_page(), deck)
    page.keyboard.press("ArrowRight")
    page.frame_locator("section.present iframe").get_by_role("button", name="Next phase").click()
    frame_of_slide = page.frames[1]
    places = []
    while page.evaluate("Reveal.getIndices().h") == 1:
        places.append(frame_of_slide.evaluate("document.querySelector('grad-walk').state.place"))
        # What the frame says of it is on its way: else it would be taken for the answer to the next key.
        page.wait_for_function("(place) => heard.at(-1)?.place === place", arg=places[-1])
        page.keyboard.press("PageDown")
        page.wait_for_function(
            "([place]) => Reveal.getIndices().h !== 1 || heard.at(-1)?.place !== place", arg=[places[-1]]
        )
    assert places[1:] == ["1.3", "1.4", "1.5", *(f"2.{phase}" for phase in range(2, 6))], places
    page.close()
