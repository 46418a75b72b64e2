"""Accessible and whole in every theme and at every width."""

import json
import re
import urllib.parse
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage, fragment
from tests.e2e.test_examples import FITS
from tests.e2e.test_main_story import MAP
from tests.e2e.test_rooms import open_room
from tests.world.browser import axe

THEMES = ("light", "dark", "contrast")
SIZES = {"desktop": (1440, 900), "phone": (390, 844), "smallest": (320, 640), "projector": (1920, 1080)}
MODES = {
    "product": {"s": "1.3"},
    "forward": {"s": "f1.2"},
    "predict": {"s": "1.3", "predict": "1"},
    "by hand": {"byhand": "1"},
    "chain, nudged": {"code": "torch.stack([x * y, sin(x)])", "nudge": "x:0.1", "s": "1.3", "chain": ""},
    "two outputs": {"example": "none-zeros-undefined", "s": "4.4"},
    "stopped": {"example": "wrong-shape", "s": "1.3"},
    "accumulate, projected": {"example": "used-twice", "s": "5.5", "projector": "1"},
    "vanishing": {"example": "vanishing"},
}
"""Together they have every kind of element: each has some that no other has."""
MOST_KINDS = ("by hand", "chain, nudged", "two outputs", "stopped")
"""Ring 2 looks at these, in one theme."""


def axe_findings(page: Page) -> list[Any]:
    return page.evaluate(f"async () => {{ {axe()} }}")


def small_targets(page: Page) -> list[str]:
    """Controls below 24 by 24 pixels, and a page that is wider than the screen."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, [role=slider], [role=tab]")]
            .filter((element) => element.checkVisibility())
            .map((element) => [element, element.getBoundingClientRect()])
            .filter(([element, box]) => box.width > 0 && (box.width < 24 || box.height < 24))
            .filter(([element]) => !element.closest("label, td, th"))
            // Cards are as large as the camera's zoom; the step table and the arrow keys lead to the same nodes.
            .filter(([element]) => !element.closest("article"))
            .map(([element, box]) => `${element.outerHTML.slice(0, 120)} ${box.width} x ${box.height}`)"""
    )
    return found if page.evaluate(FITS) else [*found, "the page scrolls sideways"]


def show(player: PlayerPage, theme: str, keys: dict[str, str]) -> None:
    program = {} if "example" in keys else {"code": MAP}
    player.open(urllib.parse.urlencode({**program, **keys, "theme": theme}))
    player.page.wait_for_selector("[data-part=dock], [data-part=chain-panel]")
    player.wait_for_end_of_run()


@pytest.mark.parametrize(
    ("size", "theme", "modes"),
    [
        ("desktop", "light", MOST_KINDS),
        *(pytest.param(size, theme, [*MODES], marks=pytest.mark.soak) for size in SIZES for theme in THEMES),
    ],
)
def test_axe_finds_nothing_and_every_target_is_large_enough(new_page, size, theme, modes):
    width, height = SIZES[size]
    player = new_page(viewport={"width": width, "height": height})
    found: dict[str, list[Any]] = {}
    for mode in modes:
        show(player, theme, MODES[mode])
        if "nudge" in mode:
            expect(player.part("nudge")).to_have_attribute("data-state", "done")
        targets = small_targets(player.page) if mode in ("product", "by hand") else []
        found[mode] = axe_findings(player.page) + targets
    player.named("button", "page-view").click()
    found["menu"] = axe_findings(player.page)
    player.press("Escape")
    player.named("button", "page-examples").click()
    found["gallery"] = axe_findings(player.page)
    assert {mode: each for mode, each in found.items() if each} == {}, json.dumps(found, indent=1)


@pytest.mark.soak
def test_axe_finds_nothing_where_things_are_shared(new_page: Opener) -> None:
    """Share and room dialogs on a phone; the second screen, a follower and an embed in the hall."""
    presenter = new_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page, code = presenter.page, open_room(presenter)
    assert axe_findings(page) == []
    screen = presenter.named("link", "page-room-second").get_attribute("href") or ""
    presenter.named("button", "page-done").click()
    presenter.named("button", "page-share").click()
    presenter.named("button", "page-more-sharing").click()
    embed = page.locator("dialog iframe, [role=dialog] iframe")
    expect(embed.content_frame.get_by_role("article").first).to_be_visible()
    assert axe_findings(page) == []
    other = new_page(viewport={"width": 1920, "height": 1080}).page
    for link in (screen, f"{presenter.server}/room/{code}", embed.get_attribute("src") or ""):
        other.goto(link)
        expect(other.get_by_role("status").or_(other.get_by_role("heading")).first).to_be_attached()
        expect(other.get_by_text(re.compile(r"\w")).first).to_be_visible()
        findings = axe_findings(other)
        assert findings == [], f"{link}: {json.dumps(findings, indent=1)}"


LOOK = "(element, names) => names.map((name) => getComputedStyle(element)[name])"
SEEN = ["backgroundColor", "outlineStyle", "borderTopColor"]


@pytest.mark.soak
def test_forced_colours_keep_what_is_pressed_filled_and_lit(new_page: Opener) -> None:
    """As with a contrast theme of Windows: grounds and shadows are gone."""
    player = new_page(forced_colors="active")
    player.open(fragment(MAP, s="1.3"))
    expect(player.product).to_be_visible()
    assert axe_findings(player.page) == []
    for selected, other in (
        ("article[aria-current]", "article:not([aria-current])"),
        (".callout td.lit", ".callout td:not(.lit)"),
        (".callout [aria-pressed=true]", ".callout [aria-pressed=false]"),
    ):
        one, another = (player.page.locator(each).first.evaluate(LOOK, SEEN) for each in (selected, other))
        assert one != another, selected


def test_a_view_is_kept_in_the_link_and_code_and_step_light_up_together(player: PlayerPage) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    player.open(fragment("sin(x*y) + x", i={"x": 2.0, "y": 3.0}, s="1.3"))
    player.wait_for_steps(5)
    light = player.page.evaluate(ground)
    lit = player.page.locator(".active-span")
    expect(lit).to_have_text("sin(x*y) + x")
    player.show_panel("page-steps")
    player.rows.nth(1).click()
    player.show_panel("page-program")
    expect(lit).to_have_text("sin(x*y)")
    player.program.get_by_text("*", exact=True).first.click()
    expect(lit).to_have_text("x*y")
    player.show_panel("page-steps")
    expect(player.rows.nth(2)).to_have_attribute("aria-current", "step")
    player.named("button", "page-view").click()
    player.named("radio", "page-theme-dark").check()
    player.named("button", "page-more-digits").click()
    player.named("button", "page-larger-text").click()
    for key, value in (("theme", "dark"), ("digits", "5"), ("font", "1.15")):
        player.wait_for_key(key, value)
    dark = player.page.evaluate(ground)
    assert dark != light
    player.page.reload()
    player.wait_for_steps(5)
    assert player.page.evaluate(ground) == dark
    # A phone has the panels as tabs, too.
    player.page.set_viewport_size({"width": 390, "height": 844})
    for key in ("page-steps", "page-program"):
        player.named("tab", key).click()
        expect(player.named("tabpanel", key)).to_be_visible()


SIZES_OF_TEXT = """() => {
  const shown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    && element.getBoundingClientRect().width > 1 && !element.closest('.visually-hidden, [popover], dialog, .far');
  const scale = (element) => {
    let product = 1;
    if (element.closest('.world, .drawn') === null) return product;
    for (let each = element; each && !each.matches('.viewport, .written'); each = each.parentElement)
      product *= new DOMMatrix(getComputedStyle(each).transform).a;
    return product;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const [values, narration] = [':is(.world, .written) [style*="--mono"]', '[aria-label=Narration]'];
  const small = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || !shown(element) || element.closest('script, style, mfrac, msub, msup')) continue;
    const size = parseFloat(getComputedStyle(element).fontSize) * scale(element);
    const least = element.matches(values) || element.closest(narration) ? 28 : 22;
    if (size < least - 0.05) small.push([node.textContent.trim(), size]);
  }
  return small;
}"""


@pytest.mark.soak
def test_a_projected_page_can_be_read_from_the_last_row(new_page: Opener) -> None:
    player = new_page(viewport={"width": 1920, "height": 1080})
    for slug in ("map", "why-grad-output", "used-twice", "gradient-accumulation"):
        show(player, "light", {"example": slug, "projector": "1"})
        player.page.wait_for_function("document.fonts.ready.then(() => true)")
        assert player.page.evaluate(SIZES_OF_TEXT) == [], slug
