"""The share dialog: what it hands out for each host, and what viewers see of it."""

import re

import pytest
from playwright.sync_api import Locator, expect

from gradwalk.words.catalogue import say
from tests.e2e.player import PlayerPage, fragment, named
from tests.hosts.recipes import recipe

PROGRAM = "# two products\nx = torch.tensor(3.0, requires_grad=True)\n(x * x * x).backward()\n"


@pytest.fixture
def dialog(player: PlayerPage) -> Locator:
    """The dialog, opened as a person does, at step 2, phase 3."""
    player.open(fragment(PROGRAM, s="2.3"))
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
def test_what_is_handed_out_is_what_the_pages_for_lecturers_print(dialog: Locator, player: PlayerPage) -> None:
    """Those recipes are run in `tests/hosts`; frames, elements and decks in `test_embed*.py`."""
    handed, title = texts(dialog), "A backward pass, step by step"
    number = handed["link"].partition("/t/")[2].partition("?")[0]
    filled = {"HOST": player.server, "ID": number, "TITLE": title}
    printed = {
        "iframe": recipe("web.md", "html", **filled),
        "element": recipe("web.md", "html", 1, **filled),
        "lti": recipe("lms.md", "html", **filled),
        "notion": recipe("lms.md", "text", **filled),
    }
    printed = {host: text.strip().replace("1.3", "2.3") for host, text in printed.items()}
    _, _, element = printed["element"].partition("\n")
    plugin, _ = recipe("reveal.md", "html", 1, **filled).strip().splitlines()
    assert handed == {
        **printed,
        "link": printed["notion"],
        "hash": handed["hash"],
        "reveal-frame": printed["iframe"].replace("s=2.3", "s=2.3&amp;deck=reveal"),
        "reveal": f"<section>\n{element}\n</section>\n\n{plugin}\n"
        "<!-- Reveal.initialize({ plugins: [RevealGradwalk] }) -->",
        "quarto": f"```{{=html}}\n{printed['element']}\n```",
        "markdown": f"[![{title}]({player.server}/t/{number}/preview.png?s=2.3)]({handed['link']})",
    }
    player.page.goto(handed["link"])
    expect(player.program).to_contain_text("two products")
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
