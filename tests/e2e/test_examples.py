"""Every shipped example opens in the gallery, runs, and can be walked to its end and back."""

import io
import os

import pytest
from PIL import Image, ImageChops
from playwright.sync_api import expect

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.examples.example import Example
from gradwalk.words.catalogue import tell, tell_attribute
from tests.e2e.conftest import Opener
from tests.e2e.overlaps import overlaps
from tests.e2e.player import STREAM_MS, PlayerPage, fragment
from tests.e2e.stills import walk, walk_to

EVERY_STILL = "EVERY_STILL" in os.environ
"""Looks for overlaps in every phase of every example, which takes minutes, not only where it opens and ends."""
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
THERE_AND_BACK = 6
"""Phases walked from the start and back again."""


OTHERS = {
    "scan": "h = torch.zeros(2)\nw = torch.ones(2, requires_grad=True)\nfor x in (1.0, 2.0, 3.0):\n"
    "    h = torch.tanh(w * x + h)\nh.sum().backward()",
    "branches": "a = torch.tensor([[1.0, -2.0]], requires_grad=True)\nb = a.relu() @ a.T + a.max()\n"
    "b.backward()\n(a * a).sum().backward()",
}


def walk_there_and_back(player: PlayerPage, phases: int) -> None:
    """Every still on the way back must be the one of the way there, whatever was shown in between."""
    there = walk(player.page, "First step", *["Next phase"] * phases)
    back = walk(player.page, *["Previous phase"] * phases)
    for stop, again in zip(reversed(there[:-1]), back, strict=True):
        assert again == stop, f"another picture on the way back at {stop['place']}"


@pytest.mark.parametrize("program", OTHERS.values(), ids=OTHERS)
def test_a_program_of_ones_own_is_the_same_there_and_back(new_page: Opener, program: str) -> None:
    player = new_page(reduced_motion="reduce")
    player.open(fragment(f"import torch\n{program}"))
    expect(player.rows.first).to_be_visible(timeout=STREAM_MS)
    player.wait_for_end_of_run()
    walk_there_and_back(player, walk_to(player.page))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)
def test_example_opens_where_it_should_and_walks_to_its_end_and_back(new_page: Opener, example: Example) -> None:
    player = new_page(reduced_motion="reduce")
    player.open(f"example={example.slug}")
    player.wait_for_place(example.start)
    expect(player.rows.first).to_be_visible(timeout=STREAM_MS)
    expect(player.page.get_by_role("region", name="Program", exact=True)).to_contain_text(shown(tell(example.fact)))
    player.wait_for_end_of_run()

    assert overlaps(player.page) == []

    steps = player.rows.count()
    stops = walk_to(player.page)
    walk_there_and_back(player, min(THERE_AND_BACK, stops))
    walked = walk(player.page, "First step", *["Next step"] * steps, "Last step")
    assert [stop["place"].split(".")[0] for stop in walked] == [*map(str, range(steps + 1)), str(steps)]
    assert walked[-1]["place"] == f"{steps}.5"
    assert all(stop["sentence"] for stop in walked)
    player.wait_for_place(f"{steps}.5")
    assert player.page.evaluate(FITS), "the page scrolls sideways"
    assert overlaps(player.page) == []
    if EVERY_STILL:
        (start,) = walk(player.page, "First step")
        assert start["place"] == "0"
        for _ in range(stops):
            (stop,) = walk(player.page, "Next phase")
            assert overlaps(player.page) == [], stop["place"]


@pytest.mark.parametrize(("slug", "place"), [("whole-jacobian", "2.3"), ("attention", "7.3"), ("vanishing", "6.3")])
def test_a_link_shows_the_pixels_of_walking_there(new_page: Opener, slug: str, place: str) -> None:
    pictures: list[Image.Image] = []
    for opened_at in (place, "0"):
        player = new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
        player.open(f"example={slug}&s={opened_at}")
        player.wait_for_place(opened_at)
        expect(player.page.locator(".stage")).to_be_visible(timeout=STREAM_MS)
        player.wait_for_end_of_run()
        if opened_at == "0":
            walk_to(player.page, place)
        player.wait_for_place(place)
        player.page.evaluate("document.activeElement.blur()")
        pictures.append(Image.open(io.BytesIO(player.page.screenshot())).convert("RGB"))
    linked, stepped = pictures
    assert linked.size == stepped.size
    # Rounding in the rasteriser may change a glyph's edge by a little.
    difference = ImageChops.difference(linked, stepped).convert("L").point(lambda value: 255 if value > 32 else 0)
    assert difference.getbbox() is None


def question_of(example: Example) -> str:
    return shown(tell_attribute(example.fact, "question") or "")


def shown(text: str) -> str:
    """As on the screen, where code is set as code."""
    return text.replace("`", "")


def test_the_gallery_asks_the_questions(player: PlayerPage) -> None:
    player.open()
    player.wait_for_steps(2)
    player.button("Examples").click()
    dialog = player.page.get_by_role("dialog")
    for example in EXAMPLES:
        expect(dialog.get_by_text(question_of(example), exact=True).first).to_be_visible()
    wanted = next(example for example in EXAMPLES if example.slug == "why-grad-output")
    dialog.get_by_role("button").filter(has_text=question_of(wanted)).click()
    expect(player.page.get_by_role("region", name="Program", exact=True)).to_contain_text(shown(tell(wanted.fact)))
    player.wait_for_place(wanted.start)
