"""Marks stay apart without colour: in grey and with each kind of colour blindness, as Chromium simulates them."""

import io
from itertools import combinations

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, expect

from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage

DEFICIENCIES = ["achromatopsia", "deuteranopia", "protanopia", "tritanopia"]
MARKS = {
    # Example and place, and what of it is looked at.
    ("why-grad-output", "4.3"): {
        "active": "article.active",
        "landed leaf": "article.leaf.done",
        "waiting leaf": "article.leaf.waiting >> nth=0",
    },
    ("used-twice", "1.5"): {"waiting for more": "article.pending >> nth=0"},
}
ROUND_THE_EDGE_PX = 7
LENGTH_PX = 60
LEAST_DIFFERENCE = 0.08
"""Of full brightness, along a row of pixels or in how it changes along the row."""


def edge_of(player: PlayerPage, card: Locator) -> np.ndarray:
    """The upper border of a card: brightness by row, and how it varies along each row (a dashed line varies)."""
    box = card.bounding_box()
    assert box is not None
    clip = {
        "x": box["x"] + box["width"] / 2 - LENGTH_PX / 2,
        "y": box["y"] - ROUND_THE_EDGE_PX,
        "width": LENGTH_PX,
        "height": 2 * ROUND_THE_EDGE_PX,
    }
    picture = player.page.screenshot(clip=clip)  # type: ignore[arg-type]
    with Image.open(io.BytesIO(picture)) as image:
        grey = np.asarray(image.convert("L"), dtype=float) / 255
    return np.concatenate([grey.mean(axis=1), grey.std(axis=1)])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_marks_differ_in_more_than_hue(new_page: Opener, theme: str) -> None:
    player = new_page(reduced_motion="reduce")
    session = player.page.context.new_cdp_session(player.page)
    seen: dict[str, dict[str, np.ndarray]] = {each: {} for each in DEFICIENCIES}
    for (slug, place), marks in MARKS.items():
        player.open(f"example={slug}&s={place}&theme={theme}")
        player.wait_for_place(place)
        for name, selector in marks.items():
            card = player.page.locator(selector)
            expect(card).to_be_visible()
            for deficiency in DEFICIENCIES:
                session.send("Emulation.setEmulatedVisionDeficiency", {"type": deficiency})
                seen[deficiency][name] = edge_of(player, card)
    for deficiency, edges in seen.items():
        assert len(edges) == 4
        for (one, a), (other, b) in combinations(edges.items(), 2):
            assert abs(a - b).max() > LEAST_DIFFERENCE, f"{one} looks like {other} with {deficiency}"


def test_directions_and_signs_have_shapes(player: PlayerPage) -> None:
    """Forward is solid with its arrowhead at the consumer, a gradient dashed with one at the producer."""
    player.open("example=composite&s=2.3")
    player.wait_for_place("2.3")
    player.page.locator(".world > svg > path").first.wait_for(state="attached")
    drawn = player.page.evaluate(
        """() => [...document.querySelectorAll(".world > svg > path")].map((path) => ({
            gradient: path.classList.contains("gradient"),
            dashed: getComputedStyle(path).strokeDasharray !== "none",
            start: path.hasAttribute("marker-start"),
            end: path.hasAttribute("marker-end"),
        }))"""
    )
    assert {each["gradient"] for each in drawn} == {True, False}
    for each in drawn:
        assert each["dashed"] is each["start"] is each["gradient"]
        assert each["end"] is not each["gradient"]
    coloured = player.page.evaluate(
        """() => [...document.querySelectorAll(".callout td")].map((cell) =>
            [cell.innerText, getComputedStyle(cell).backgroundColor])"""
    )
    signs = {colour: text.startswith("\u2212") for text, colour in coloured}
    assert all(text.startswith("\u2212") is signs[colour] for text, colour in coloured)
    assert set(signs.values()) == {True, False}
