"""Every shipped example opens in the gallery and runs; that its walk is the same there and back: `scene.test.ts`."""

import pytest
from playwright.sync_api import Page, expect

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


_OVERLAPS = """() => {
    const graph = document.querySelector("[aria-label='Autograd graph']");
    if (graph === null) return [];
    const view = graph.getBoundingClientRect();
    const inView = (box, name) => ({
        name,
        left: Math.max(box.left, view.left), right: Math.min(box.right, view.right),
        top: Math.max(box.top, view.top), bottom: Math.min(box.bottom, view.bottom),
    });
    const isSeen = (box) => box.right - box.left > 1 && box.bottom - box.top > 1;
    const across = (a, b) => a.left < b.right - 1.5 && b.left < a.right - 1.5;
    const meet = (a, b) => across(a, b) && a.top < b.bottom - 1.5 && b.top < a.bottom - 1.5;
    const boxes = (selector) => [...graph.querySelectorAll(selector)]
        .filter((element) => Number(getComputedStyle(element).opacity) > 0.01)
        .map((element) => inView(element.getBoundingClientRect(),
            element.getAttribute("aria-label") ?? `${element.classList[0]} ${element.textContent.trim()}`))
        .filter(isSeen);
    const pairs = (list) => list.flatMap((a, at) =>
        list.slice(at + 1).filter((b) => meet(a, b)).map((b) => `${a.name} meets ${b.name}`));
    const found = pairs([...boxes("article"), ...boxes(".group:not(.open)"), ...boxes(".token rect")]);
    const callout = document.querySelector(".callout");
    if (callout === null) return found;
    const words = [];
    const walker = document.createTreeWalker(callout, NodeFilter.SHOW_TEXT);
    const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    // A line box is higher than its letters.
    const letters = (box, name) => ({ name, left: box.left, right: box.right,
        top: box.top + box.height * 0.2, bottom: box.bottom - box.height * 0.2 });
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        const element = node.parentElement;
        const isOut = element.closest("math, .visually-hidden") !== null;
        if (!node.textContent.trim() || isOut || !isShown(element)) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const box of range.getClientRects()) words.push(letters(box, node.textContent.trim().slice(0, 30)));
    }
    for (const formula of callout.querySelectorAll("math")) {
        if (isShown(formula)) words.push(letters(formula.getBoundingClientRect(), formula.textContent));
    }
    return [...found, ...pairs(words.filter(isSeen))];
}"""


def shown(text: str | None) -> str:
    """As on the screen, where code is set as code."""
    return (text or "").replace("`", "")


def expect_opened(player: PlayerPage, example: Example) -> None:
    """With what it is about above it, at the step where it should."""
    expect(player.page.get_by_role("region", name="Program", exact=True)).to_contain_text(shown(tell(example.fact)))
    player.wait_for_place(example.start)
    player.wait_for_end_of_run()


def faults(page: Page) -> list[str]:
    """Of the still on show: marks that overlap, and a page too wide; cards may go on behind the opaque callout."""
    return [*page.evaluate(_OVERLAPS), *([] if page.evaluate(FITS) else ["the page scrolls sideways"])]


@pytest.mark.parametrize("is_sample", [True, pytest.param(False, marks=pytest.mark.soak)], ids=["sample", "others"])
def test_examples_open_where_they_should_and_end_at_their_last_step(new_page: Opener, is_sample: bool) -> None:
    player = new_page()
    player.open()
    found: dict[str, object] = {}
    for example in (each for each in EXAMPLES if (each.slug in SAMPLE) is is_sample):
        player.change_hash(f"example={example.slug}")
        expect_opened(player, example)
        wrong = faults(player.page)
        steps = player.slider("Step")
        if steps.input_value() != steps.get_attribute("max"):
            player.button("Last step").click()
        expect(steps).to_have_value(steps.get_attribute("max") or "")
        player.page.evaluate("() => new Promise(requestAnimationFrame)")
        wrong += faults(player.page)
        if wrong or not player.narration.inner_text():
            found[example.slug] = wrong
    assert found == {}


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
