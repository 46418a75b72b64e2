"""Accessible and whole in every theme and at every width."""

import json
import urllib.parse
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage, fragment
from tests.e2e.test_main_story import MAP
from tests.world.processes import ROOT

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
WIDTHS = {"phone": (390, 844), "smallest": (320, 640), "laptop": (1280, 800), "projector": (1920, 1080)}
THEMES = ["light", "dark", "contrast"]


def axe_findings(page: Page) -> list[Any]:
    """Rule, element and reason of everything that axe finds wrong."""
    page.evaluate(AXE.read_text())
    found: list[Any] = page.evaluate(
        """async () => {
            const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
            const { violations } = await axe.run(document, { runOnly: { type: "tag", values: tags } });
            return violations.flatMap(({ id, nodes }) => nodes.map((node) => [id, node.html, node.failureSummary]));
        }"""
    )
    return found


def opened(new_page: Opener, width: str, theme: str, **keys: Any) -> PlayerPage:
    across, down = WIDTHS[width]
    player = new_page(viewport={"width": across, "height": down}, reduced_motion="reduce")
    player.open(fragment(MAP, theme=theme, **{"s": "1.3", **keys}))
    expect(player.product).to_be_visible()
    return player


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing(new_page: Opener, width: str, theme: str) -> None:
    player = opened(new_page, width, theme)
    findings = axe_findings(player.page)
    assert findings == [], json.dumps(findings, indent=1)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_gallery_menu_and_problems(new_page: Opener, theme: str) -> None:
    player = opened(new_page, "laptop", theme)
    player.button("View").click()
    assert axe_findings(player.page) == []
    player.page.keyboard.press("Escape")
    player.button("Examples").click()
    assert axe_findings(player.page) == []
    player.page.keyboard.press("Escape")
    player.type_program("import torch\ntorch.sine(1)")
    player.button("Run").click()
    expect(player.problems).to_have_count(1)
    assert axe_findings(player.page) == []


MODES = {
    "forward": {"s": "f1.2"},
    "predict": {"s": "1.3", "predict": "1"},
    "by hand": {"byhand": "1"},
    "projector": {"projector": "1"},
    "two outputs": {"example": "none-zeros-undefined", "s": "4.4"},
    "stopped": {"example": "wrong-shape", "s": "1.3"},
    "accumulate": {"example": "used-twice", "s": "5.5"},
    "vanishing": {"example": "vanishing"},
}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_any_mode(new_page: Opener, theme: str) -> None:
    """On the widest and the smallest screen, each mode in one theme on the one and in the other on the other."""
    player = new_page(reduced_motion="reduce")
    for place, (mode, keys) in enumerate(MODES.items(), start=theme == "dark"):
        across, down = WIDTHS["smallest" if place % 2 else "projector"]
        player.page.set_viewport_size({"width": across, "height": down})
        known = urllib.parse.urlencode({**keys, "theme": theme}) if "example" in keys else None
        player.page.goto("about:blank")  # else only the hash changes, and the callout is still the last mode's
        player.open(known or fragment(MAP, theme=theme, **keys))
        player.page.wait_for_selector(".callout")
        player.page.wait_for_load_state("networkidle")  # the whole trace is there, and nothing comes in any more
        findings = axe_findings(player.page)
        assert findings == [], f"{mode} at {across}: {json.dumps(findings, indent=1)}"


def test_axe_finds_nothing_where_things_are_shared(new_page: Opener) -> None:
    """Share and room dialogs, a presenter, the second screen, a follower and an embed, on a phone and in the hall."""
    presenter = new_page(viewport={"width": 390, "height": 844}, color_scheme="dark", reduced_motion="reduce")
    presenter.open(fragment(MAP, s="1.3"))
    expect(presenter.product).to_be_visible()
    presenter.button("Share").click()
    presenter.button("Embed, slides, LMS…").click()
    page = presenter.page
    embed = page.get_by_title("Preview")
    expect(embed.content_frame.get_by_role("region", name="Vector-Jacobian product")).to_be_visible()
    assert axe_findings(page) == []
    address = embed.get_attribute("src") or ""
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    presenter.button("Room").click()
    assert axe_findings(page) == []
    presenter.button("Open a room").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".code")).to_be_visible()
    assert axe_findings(page) == []
    code = dialog.locator(".code").inner_text()
    screen = dialog.get_by_role("link", name="Open the second screen").get_attribute("href") or ""
    presenter.button("Done").click()
    for link, what in ((screen, "Now"), (f"{presenter.server}/room/{code}", "You follow"), (address, "v = ")):
        other = new_page(viewport={"width": 1920, "height": 1080}, reduced_motion="reduce").page
        other.goto(link)
        expect(other.get_by_text(what).first).to_be_visible()
        findings = axe_findings(other)
        assert findings == [], f"{link}: {json.dumps(findings, indent=1)}"
    page.get_by_role("region", name="Room").get_by_role("button", name="Close the room").click()


def test_forced_colours_keep_what_is_pressed_filled_and_lit(new_page: Opener) -> None:
    """As with a contrast theme of Windows: grounds and shadows are gone."""
    player = new_page(forced_colors="active", reduced_motion="reduce")
    player.open(fragment(MAP, s="1.3"))
    expect(player.product).to_be_visible()
    assert axe_findings(player.page) == []
    looks = player.page.evaluate(
        """() => {
            const look = (selector) => {
                const shown = getComputedStyle(document.querySelector(selector));
                const { backgroundColor, outlineStyle, borderTopColor } = shown;
                return { backgroundColor, outlineStyle, borderTopColor };
            };
            return {
                filled: look(".dots i.filled"), empty: look(".dots i:not(.filled)"),
                active: look("article.active"), waiting: look("article:not(.active)"),
                lit: look(".callout td.lit"), other: look(".callout td:not(.lit)"),
                pressed: look(".callout [aria-pressed=true]"), free: look(".callout [aria-pressed=false]"),
            };
        }"""
    )
    assert looks["filled"] != looks["empty"]
    assert looks["active"] != looks["waiting"]
    assert looks["lit"] != looks["other"]
    assert looks["pressed"] != looks["free"]


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_sticks_out_and_every_target_is_large_enough(new_page: Opener, width: str) -> None:
    page = opened(new_page, width, "light").page
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, [role=slider], [role=tab]")]
            .filter((element) => element.checkVisibility())
            .map((element) => [element, element.getBoundingClientRect()])
            .filter(([element, box]) => box.width > 0 && (box.width < 24 || box.height < 24))
            .filter(([element]) => !element.closest("label, td, th"))
            // Cards are as large as the camera's zoom; the step table and the arrow keys lead to the same nodes.
            .filter(([element]) => !element.closest("article"))
            .map(([element, box]) => `${element.outerHTML.slice(0, 120)} ${box.width} x ${box.height}`)"""
    )
    assert small == []


def test_the_phone_has_the_panels_as_tabs(new_page: Opener) -> None:
    player = opened(new_page, "phone", "light")
    page = player.page
    for name in ("Steps", "Output", "Code"):
        page.get_by_role("tab", name=name).click()
        expect(page.get_by_role("tabpanel", name=name)).to_be_visible()
    page.get_by_role("tab", name="Code").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Steps")).to_be_focused()
    expect(page.get_by_role("table", name="Steps")).to_be_visible()


def test_the_view_menu_changes_theme_digits_and_size_and_the_link_keeps_them(new_page: Opener) -> None:
    player = new_page()
    player.open(fragment("sin(x)", i={"x": 1.0}, s="1.3"))
    player.wait_for_steps(2)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = player.page.evaluate(ground)
    player.button("View").click()
    player.page.get_by_role("radio", name="Dark").check()
    player.button("More digits").click()
    player.button("Larger text").click()
    player.page.wait_for_function(
        "() => ['theme=dark', 'digits=5', 'font=1.15'].every((key) => location.hash.includes(key))"
    )
    assert player.page.evaluate(ground) != light
    other = new_page()
    other.open(player.page.url.split("#")[1])
    other.wait_for_steps(2)
    assert other.page.evaluate(ground) == player.page.evaluate(ground)
    expect(other.product.get_by_role("table", name="v times J")).to_have_text("0.5403")


def test_code_and_step_light_up_together(new_page: Opener) -> None:
    player = new_page()
    player.open(fragment("sin(x*y) + x", i={"x": 2.0, "y": 3.0}, s="1.3"))
    player.wait_for_steps(5)
    lit = player.page.locator(".active-span")
    expect(lit).to_have_text("sin(x*y) + x")
    player.rows.nth(1).click()
    expect(lit).to_have_text("sin(x*y)")
    expect(player.rows.nth(1)).to_have_attribute("aria-current", "step")
    player.program.get_by_text("*", exact=True).first.click()
    expect(lit).to_have_text("x*y")
    expect(player.rows.nth(2)).to_have_attribute("aria-current", "step")
