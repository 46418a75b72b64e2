"""Every shipped example opens in the gallery, runs, and can be walked to its end."""

import pytest
from playwright.sync_api import expect

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.examples.example import Example
from tests.e2e.player import STREAM_MS, PlayerPage

FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)
def test_example_opens_where_it_should_and_walks_to_its_end(player: PlayerPage, example: Example) -> None:
    player.open(f"example={example.slug}")
    player.wait_for_place(example.start)
    expect(player.rows.first).to_be_visible(timeout=STREAM_MS)
    expect(player.page.get_by_role("region", name="Program", exact=True)).to_contain_text(example.learning_goal)
    player.page.wait_for_function("() => !document.querySelector('[role=status][aria-label=Run]').textContent")

    steps = player.rows.count()
    player.button("First step").click()
    player.wait_for_place("0")
    for step in range(1, steps + 1):
        player.button("Next step").click()
        player.wait_for_place(f"{step}.3")
        expect(player.narration).not_to_be_empty()
    player.button("Last step").click()
    player.wait_for_place(f"{steps}.5")
    assert player.page.evaluate(FITS), "the page scrolls sideways"


def test_the_gallery_asks_the_questions(player: PlayerPage) -> None:
    player.open()
    player.wait_for_steps(2)
    player.button("Examples").click()
    dialog = player.page.get_by_role("dialog")
    for example in EXAMPLES:
        expect(dialog.get_by_text(example.question, exact=True).first).to_be_visible()
    wanted = next(example for example in EXAMPLES if example.slug == "why-grad-output")
    dialog.get_by_role("button").filter(has_text=wanted.question).click()
    expect(player.page.get_by_role("region", name="Program", exact=True)).to_contain_text(wanted.learning_goal)
    player.wait_for_place(wanted.start)
