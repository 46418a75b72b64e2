"""Every shipped example opens in the gallery and runs.

That its walk is the same there and back, and that no card, token or word covers another: `scene.test.ts`,
`place.test.ts`, `picture.test.ts`.
"""

import pytest
from playwright.sync_api import expect

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.examples.example import Example
from gradwalk.words.catalogue import tell, tell_attribute
from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage

SAMPLE = {
    "attention", "double-backward", "gradcheck", "gradient-accumulation", "map", "none-zeros-undefined", "rows-of-j",
    "used-twice", "vanishing", "wrong-shape",
}  # fmt: skip
"""They differ in kind: several passes, groups, custom functions, an error, findings, stacks of rows."""
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


def shown(text: str | None) -> str:
    """As on the screen, where code is set as code."""
    return (text or "").replace("`", "")


def expect_opened(player: PlayerPage, example: Example) -> None:
    """With what it is about above it, at the step where it should."""
    expect(player.page.get_by_role("region", name="Program", exact=True)).to_contain_text(shown(tell(example.fact)))
    player.wait_for_place(example.start)
    player.wait_for_end_of_run()


@pytest.mark.parametrize("is_sample", [True, pytest.param(False, marks=pytest.mark.soak)], ids=["sample", "others"])
def test_examples_open_where_they_should_and_end_at_their_last_step(new_page: Opener, is_sample: bool) -> None:
    player = new_page()
    player.open()
    found: list[str] = []
    for example in (each for each in EXAMPLES if (each.slug in SAMPLE) is is_sample):
        player.change_hash(f"example={example.slug}")
        expect_opened(player, example)
        fits = player.page.evaluate(FITS)
        steps = player.slider("Step")
        if steps.input_value() != steps.get_attribute("max"):
            player.button("Last step").click()
        expect(steps).to_have_value(steps.get_attribute("max") or "")
        if not (fits and player.page.evaluate(FITS) and player.narration.inner_text()):
            found.append(example.slug)
    assert found == []


def test_the_gallery_asks_the_questions(player: PlayerPage) -> None:
    player.open()
    player.wait_for_steps(2)
    player.named("button", "page-examples").click()
    dialog = player.page.get_by_role("dialog")
    questions = {example.slug: shown(tell_attribute(example.fact, "question")) for example in EXAMPLES}
    for question in questions.values():
        expect(dialog.get_by_text(question, exact=True).first).to_be_visible()
    dialog.get_by_role("button", name=questions["why-grad-output"]).click()
    expect_opened(player, next(example for example in EXAMPLES if example.slug == "why-grad-output"))
