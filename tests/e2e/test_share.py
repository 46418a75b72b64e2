"""The share dialog: what it hands out for each host is pasted there and looked at."""

import re

import httpx
import pytest
from playwright.sync_api import Locator, expect

from gradwalk.words.catalogue import say
from tests.e2e.host_page import HostPage
from tests.e2e.player import PlayerPage, fragment, named
from tests.hosts.recipes import recipe
from tests.world.sites import TWO_LAYERS

REVEAL = """<link rel="stylesheet" href="/npm/reveal.js/dist/reveal.css">
<div class="reveal"><div class="slides">{}</div></div>
<script src="/npm/reveal.js/dist/reveal.js"></script>"""


@pytest.fixture
def dialog(player: PlayerPage) -> Locator:
    """The dialog, opened as a person does, at step 2, phase 3."""
    player.open(fragment(TWO_LAYERS, s="2.3"))
    player.wait_for_place("2.3")
    player.wait_for_end_of_run()
    player.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    player.named("button", "page-share").click()
    player.named("button", "page-more-sharing").click()
    found = player.named("dialog", "page-share")
    expect(found.locator("iframe")).to_be_visible()
    return found


def choice(dialog: Locator, key: str) -> Locator:
    """The menu with this label, which begins with the message and goes on with the options."""
    return dialog.get_by_role("combobox", name=re.compile(rf"^{say(key)}\b"))


def texts(dialog: Locator) -> dict[str, str]:
    """What is handed out, by host."""
    host, text = choice(dialog, "page-share-for"), named(dialog, "textbox", "page-to-be-copied")
    handed = {}
    for value in host.locator("option").evaluate_all("(options) => options.map((each) => each.value)"):
        host.select_option(value)
        handed[value] = text.input_value()
    return handed


@pytest.mark.soak
def test_what_is_handed_out_is_the_printed_recipe_or_works(dialog: Locator, player: PlayerPage, site, new_page) -> None:
    """The recipes on the pages for lecturers are run in `tests/hosts`."""
    handed = texts(dialog)
    filled = {
        "HOST": player.server,
        "ID": handed["link"].partition("/t/")[2].partition("?")[0],
        "TITLE": "A backward pass, step by step",
    }
    for name, printed in (
        ("iframe", recipe("web.md", "html", **filled)),
        ("element", recipe("web.md", "html", 1, **filled)),
        ("lti", recipe("lms.md", "html", **filled)),
        ("notion", recipe("lms.md", "text", **filled)),
    ):
        assert printed.strip().replace("1.3", "2.3") == handed[name], name
    host = HostPage(new_page().page, *site, player.server)
    page = host.page
    host.paste(handed["reveal-frame"])
    host.wait_for_place("2.3")
    assert "deck=reveal" in handed["reveal-frame"]
    html = re.fullmatch(r"```\{=html\}\n(.*)\n```", handed["quarto"], re.DOTALL)
    assert html
    host.paste(html[1])
    page.wait_for_function("() => document.querySelector('grad-walk')?.state?.place === '2.3'")
    section, script = handed["reveal"].split("\n\n")
    start = re.search(r"<!-- (.*) -->", script)
    assert start
    host.paste(REVEAL.format(section) + script + f"<script>{start[1]}</script>")
    page.wait_for_function("() => document.querySelector('.present grad-walk')?.state?.place === '2.3'")
    picture = re.search(r"!\[.*\]\((\S+)\)\]\((\S+)\)", handed["markdown"])
    assert picture
    assert picture[2] == handed["link"] == handed["notion"]
    assert httpx.get(picture[1]).headers["content-type"] == "image/png"
    page.goto(handed["link"])
    expect(named(page, "textbox", "page-program")).to_contain_text("Two layers, one step")
    assert len(handed["hash"].removeprefix(player.server)) < 400
    assert "s=2.3" in handed["hash"]


def test_what_viewers_see_is_seen_at_once_and_handed_out(dialog: Locator) -> None:
    preview = dialog.frame_locator("iframe")
    program, inputs = (named(preview.locator("body"), "button", f"player-{part}") for part in ("program", "inputs"))
    expect(program).to_be_visible()
    expect(inputs).to_have_count(0)
    named(dialog, "checkbox", "player-program").uncheck()
    named(dialog, "checkbox", "page-viewers-inputs").check()
    named(dialog, "textbox", "page-opens-at").fill("1.5")
    expect(inputs).to_be_visible()
    expect(program).to_have_count(0)
    text = named(dialog, "textbox", "page-to-be-copied")
    choice(dialog, "page-share-for").select_option("iframe")
    expect(text).to_have_value(re.compile("s=1.5&amp;hide=program&amp;inputs=on"))
    named(dialog, "button", "page-copy").click()
    expect(dialog.get_by_role("status").filter(has_text=say("page-copied"))).to_be_visible()
    assert dialog.page.evaluate("navigator.clipboard.readText()") == text.input_value()

    frame = dialog.locator("iframe")
    choice(dialog, "page-colours").select_option("dark")
    expect(frame).to_have_attribute("src", re.compile("theme=dark"))
    assert 'theme="dark"' in texts(dialog)["element"]
    # The page's own colours are the preview's, but not those of viewers who have chosen none.
    choice(dialog, "page-colours").select_option("")
    expect(frame).not_to_have_attribute("src", re.compile("theme="))
    dialog.page.evaluate("location.hash += '&theme=dark'")
    expect(frame).to_have_attribute("src", re.compile("theme=dark"))
    assert "theme" not in texts(dialog)["iframe"]
