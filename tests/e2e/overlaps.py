"""What covers or crosses something else on the stage: cards, groups, tokens, the callout, and all text in it."""

from playwright.sync_api import Page

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
