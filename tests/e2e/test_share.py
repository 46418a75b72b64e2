"""The share dialog: what it hands out for each host is pasted there and looked at."""

import re
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.player import PlayerPage, fragment
from tests.hosts.recipes import recipe
from tests.world.server import ELSEWHERE
from tests.world.shared import SharedServer
from tests.world.sites import TWO_LAYERS

REVEAL = """<link rel="stylesheet" href="/npm/reveal.js/dist/reveal.css">
<div class="reveal"><div class="slides">{}</div></div>
<script src="/npm/reveal.js/dist/reveal.js"></script>"""


@pytest.fixture
def dialog(player: PlayerPage) -> Locator:
    """The dialog, opened as a person does, at step 2, phase 3."""
    player.open(fragment(TWO_LAYERS, s="2.3"))
    player.button("Run").click()
    player.wait_for_place("2.3")
    expect(player.rows.first).to_be_visible(timeout=30_000)
    player.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    player.button("Share").click()
    player.button("Embed, slides, LMS…").click()
    found = player.page.get_by_role("dialog", name="Share")
    expect(found.locator("iframe")).to_be_visible(timeout=30_000)
    return found


def texts(dialog: Locator) -> dict[str, str]:
    """What is handed out, by host."""
    choice = dialog.get_by_role("combobox", name=re.compile(r"^For\b"))
    handed = {}
    for value in choice.locator("option").evaluate_all("(options) => options.map((each) => each.value)"):
        choice.select_option(value)
        handed[value] = dialog.get_by_role("textbox", name="To be copied").input_value()
    return handed


@pytest.mark.soak
def test_the_pages_for_lecturers_print_what_is_handed_out(dialog: Locator, player: PlayerPage) -> None:
    dialog.get_by_role("textbox", name="Opens at step").fill("1.3")
    handed = texts(dialog)
    filled = {
        "HOST": player.server,
        "ID": handed["link"].partition("/t/")[2].partition("?")[0],
        "TITLE": "A backward pass, step by step",
    }
    assert recipe("web.md", "html", **filled).strip() == handed["iframe"]
    assert recipe("web.md", "html", 1, **filled).strip() == handed["element"]
    assert recipe("lms.md", "html", **filled).strip() == handed["lti"]
    assert recipe("lms.md", "text", **filled).strip() == handed["notion"]


@pytest.mark.soak
def test_the_preview_has_the_pages_colours_and_viewers_those_that_are_chosen(dialog: Locator) -> None:
    viewer = dialog.frame_locator("iframe").locator("grad-walk .viewer")
    light = viewer.evaluate("(element) => getComputedStyle(element).backgroundColor")
    dialog.get_by_role("combobox", name="Colours").select_option("dark")
    expect(dialog.locator("iframe")).to_have_attribute("src", re.compile("theme=dark"))
    expect(viewer.get_by_role("article").first).to_be_visible()
    expect(viewer).not_to_have_css("background-color", light)
    handed = texts(dialog)
    assert "theme=dark" in handed["iframe"]
    assert 'theme="dark"' in handed["element"]
    dialog.get_by_role("combobox", name="Colours").select_option("")
    expect(dialog.locator("iframe")).not_to_have_attribute("src", re.compile("theme="))
    dialog.page.evaluate("location.hash += '&theme=dark'")
    expect(dialog.locator("iframe")).to_have_attribute("src", re.compile("theme=dark"))
    assert "theme" not in texts(dialog)["iframe"]


def paste(page: Page, site: tuple[Path, str], markup: str) -> None:
    folder, address = site
    listen = "<script>heard = []; addEventListener('message', ({data}) => heard.push(data))</script>"
    name = f"{len(list(folder.iterdir()))}.html"
    (folder / name).write_text(f'<!doctype html><meta charset="utf-8"><title>t</title>{listen}{markup}')
    page.goto(f"{address}/{name}")


@pytest.mark.soak
def test_what_is_handed_out_for_each_host_works_there(dialog: Locator, player: PlayerPage, site, new_page) -> None:
    handed = texts(dialog)
    page = new_page(reduced_motion="reduce").page
    for host in ("iframe", "lti", "reveal-frame"):
        paste(page, site, handed[host])
        page.wait_for_function("heard.some((each) => each.type === 'step' && each.place === '2.3')")
    assert "deck=reveal" in handed["reveal-frame"]
    html = re.fullmatch(r"```\{=html\}\n(.*)\n```", handed["quarto"], re.DOTALL)
    assert html
    for markup in (handed["element"], html[1]):
        paste(page, site, markup)
        page.wait_for_function("() => document.querySelector('grad-walk')?.state?.place === '2.3'")
    section, script = handed["reveal"].split("\n\n")
    start = re.search(r"<!-- (.*) -->", script)
    assert start
    paste(page, site, REVEAL.format(section) + script + f"<script>{start[1]}</script>")
    page.wait_for_function("() => document.querySelector('.present grad-walk')?.state?.place === '2.3'")
    picture = re.search(r"!\[.*\]\((\S+)\)\]\((\S+)\)", handed["markdown"])
    assert picture
    assert picture[2] == handed["link"] == handed["notion"]
    assert httpx.get(picture[1]).headers["content-type"] == "image/png"
    page.goto(handed["link"])
    expect(page.get_by_role("textbox", name="Program")).to_contain_text("Two layers, one step")
    _expect_a_short_private_link_that_runs_nothing(page, player.server, handed["hash"])


def _expect_a_short_private_link_that_runs_nothing(page: Page, server: SharedServer, link: str) -> None:
    assert len(link.removeprefix(server)) < 400
    assert "s=2.3" in link
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
    # as anybody but the one who runs the server meets it
    page.goto(link.replace("127.0.0.1", ELSEWHERE))
    expect(page.get_by_text("This link brought a program. Read it, then run it.")).to_be_visible()
    assert asked == []


def test_what_viewers_see_is_seen_at_once(dialog: Locator) -> None:
    preview = dialog.frame_locator("iframe")
    expect(preview.get_by_role("button", name="Program")).to_be_visible()
    expect(preview.get_by_role("button", name="Inputs")).to_have_count(0)
    dialog.get_by_role("checkbox", name="Program").uncheck()
    dialog.get_by_role("checkbox", name="Inputs can be changed").check()
    dialog.get_by_role("textbox", name="Opens at step").fill("1.5")
    expect(preview.get_by_role("button", name="Inputs")).to_be_visible()
    expect(preview.get_by_role("button", name="Program")).to_have_count(0)
    text = dialog.get_by_role("textbox", name="To be copied")
    dialog.get_by_role("combobox", name=re.compile(r"^For\b")).select_option("iframe")
    expect(text).to_have_value(re.compile("s=1.5&amp;hide=program&amp;inputs=on"))
    dialog.get_by_role("button", name="Copy").click()
    expect(dialog.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    assert dialog.page.evaluate("navigator.clipboard.readText()") == text.input_value()


@pytest.mark.soak
def test_a_file_of_the_walk_is_made_and_fetched(dialog: Locator, player: PlayerPage) -> None:
    dialog.get_by_role("combobox", name="Format").select_option("pages")
    dialog.get_by_role("combobox", name="A page for").select_option("step")
    dialog.get_by_role("button", name="Make the file").click()
    link = dialog.get_by_role("link", name="Download the file")
    expect(link).to_be_visible(timeout=60_000)
    with player.page.expect_download() as download:
        link.click()
    body = Path(download.value.path()).read_bytes()
    assert body.startswith(b"%PDF")
    assert download.value.suggested_filename.endswith(".pdf")
