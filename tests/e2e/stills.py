"""The picture on the stage as text, and walks through it: to tell whether two ways lead to the same still."""

from typing import Any

from playwright.sync_api import Page

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
