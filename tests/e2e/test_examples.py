"""Every shipped example opens in the gallery, runs, and can be walked to its end and back."""

import pytest
from playwright.sync_api import Page, expect

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.examples.example import Example
from gradwalk.words.catalogue import tell, tell_attribute
from tests.e2e.conftest import Opener
from tests.e2e.overlaps import overlaps
from tests.e2e.player import STREAM_MS, PlayerPage, fragment
from tests.e2e.stills import walk, walk_to

SAMPLE = {
    "attention", "double-backward", "gradcheck", "gradient-accumulation", "map", "none-zeros-undefined", "rows-of-j",
    "used-twice", "vanishing", "wrong-shape",
}  # fmt: skip
"""They differ in kind: several passes, groups, custom functions, an error, findings, stacks of rows."""
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
OTHERS = [
    "h = torch.zeros(2)\nw = torch.ones(2, requires_grad=True)\nfor x in (1.0, 2.0, 3.0):\n"
    "    h = torch.tanh(w * x + h)\nh.sum().backward()",
    "a = torch.tensor([[1.0, -2.0]], requires_grad=True)\nb = a.relu() @ a.T + a.max()\n"
    "b.backward()\n(a * a).sum().backward()",
]


def shown(text: str | None) -> str:
    """As on the screen, where code is set as code."""
    return (text or "").replace("`", "")


def expect_opened(player: PlayerPage, example: Example) -> None:
    """With what it is about above it, at the step where it should."""
    expect(player.page.get_by_role("region", name="Program", exact=True)).to_contain_text(shown(tell(example.fact)))
    player.wait_for_place(example.start)
    player.wait_for_end_of_run()


def faults(page: Page) -> list[str]:
    """Of the still on show."""
    return [*overlaps(page), *([] if page.evaluate(FITS) else ["the page scrolls sideways"])]


@pytest.mark.parametrize("is_sample", [True, pytest.param(False, marks=pytest.mark.soak)], ids=["sample", "others"])
def test_examples_open_where_they_should_and_end_at_their_last_step(new_page: Opener, is_sample: bool) -> None:
    player = new_page(reduced_motion="reduce")
    player.open()
    found: dict[str, object] = {}
    for example in (each for each in EXAMPLES if (each.slug in SAMPLE) is is_sample):
        player.change_hash(f"example={example.slug}")
        expect_opened(player, example)
        at_start = faults(player.page)
        (last,) = walk(player.page, "Last step")
        steps = player.rows.count()
        wrong = [*at_start, *faults(player.page)]
        if wrong or not last["sentence"] or last["place"] not in (f"{steps}.5", f"{steps}.3"):
            found[example.slug] = (last["place"], wrong)
    assert found == {}


@pytest.mark.soak
@pytest.mark.parametrize(
    "program", [*(f"example={each.slug}" for each in EXAMPLES), *(fragment(f"import torch\n{each}") for each in OTHERS)]
)
def test_every_still_is_free_of_overlaps_and_the_same_there_back_and_by_link(new_page: Opener, program: str) -> None:
    player = new_page(reduced_motion="reduce")
    player.open(program)
    expect(player.rows.first).to_be_visible(timeout=STREAM_MS)
    player.wait_for_end_of_run()
    stops = walk_to(player.page)
    there = walk(player.page, "First step")
    for _ in range(stops):
        there += walk(player.page, "Next phase")
        assert faults(player.page) == [], there[-1]["place"]
    back = walk(player.page, *["Previous phase"] * stops)
    for stop, again in zip(reversed(there[:-1]), back, strict=True):
        assert again == stop, f"another picture on the way back at {stop['place']}"
    by_link = there[len(there) // 2]
    player.open(f"{program}&s={by_link['place']}")
    player.wait_for_end_of_run()
    # There and back again: the still itself has to be asked for.
    assert walk(player.page, "Next phase", "Previous phase")[1] == by_link


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
