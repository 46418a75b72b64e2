"""Every shipped example opens in the gallery, runs, and can be walked to its end and back."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.examples.example import Example
from gradwalk.words.catalogue import tell, tell_attribute
from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage, fragment

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
    const found = pairs([...boxes("article"), ...boxes(".group:not(.open)"), ...boxes(".token")]);
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


def overlaps(page: Page) -> list[str]:
    """Pairs of marks that overlap in the still on show; cards may go on behind the callout, which is opaque."""
    found: list[str] = page.evaluate(_OVERLAPS)
    return found


_WALK = """async ([buttons, columns]) => {
    const frame = () => new Promise(requestAnimationFrame);
    const settled = async () => {
        let last = "";
        for (let same = 0; same < 3; ) {
            await frame();
            await document.fonts.ready;
            const now = [...document.querySelectorAll(".world, .token")].map((each) => each.style.cssText).join();
            same = now === last ? same + 1 : 0;
            last = now;
        }
    };
    // Ids that count mounted components and the order of attributes change without anybody stepping.
    const counted = ["id", "aria-controls", "aria-describedby", "aria-labelledby", "for"];
    const spelled = (element) => {
        const attributes = [...element.attributes].filter(({ name, value }) => !counted.includes(name) && value !== "");
        const named = attributes.map(({ name, value }) =>
            name === "class" ? `class=${[...element.classList].sort().join(" ")}` : `${name}=${value}`,
        );
        const children = [...element.childNodes].map((child) =>
            child instanceof Element ? spelled(child) : child instanceof Text ? child.textContent : "",
        );
        return `<${element.tagName} ${named.sort().join(" ")}>${children.join("")}`;
    };
    while (!document.querySelector(".stage :is(article, .group, path.box)")) await frame();
    const stops = [];
    for (const button of buttons) {
        document.querySelector(`button[aria-label="${button}"]`).click();
        await frame();
        await settled();
        stops.push({
            place: document.querySelector(".transport").dataset.place,
            sentence: document.querySelector("[role=status][aria-label=Narration]").textContent.trim(),
            picture: columns.map((each) => spelled(document.querySelector(each))).join(""),
        });
    }
    return stops;
}"""


def walk(page: Page, *buttons: str) -> list[dict[str, Any]]:
    """Presses buttons of the transport one after another; what each reaches: `place`, `sentence`, `picture`.

    Meant for pages with reduced motion, where a still follows at once.
    """
    stops: list[dict[str, Any]] = page.evaluate(_WALK, [buttons, [".stage", ".transport"]])
    return stops


def walk_to(page: Page, place: str | None = None) -> int:
    """From the start stop by stop, to a place or as far as the walk goes; how many stops that were."""
    walk(page, "First step")
    shown, count = "0", 0
    while shown != place:
        (stop,) = walk(page, "Next phase")
        if stop["place"] == shown:
            break
        shown = stop["place"]
        count += 1
    return count


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
        steps = player.slider("Step").get_attribute("max")
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
