"""Graphs of real size in a real browser: frames while panning, zooming, scrubbing, dragging an input; layouts.

The server has traced the program before, so that the page is measured and not the tracer. Beside every rate stands its
share of what an empty page reached just before, doing the same motion with one plain element.
"""

import statistics

from playwright.sync_api import Browser, Page

from tests.benchmarks.page import PICTURE, RUN, VIEWPORT, waiting
from tests.benchmarks.programs import residual
from tests.world.browser import running_browser
from tests.world.server import Server, running_server
from tests.world.stream import trace_events

SIZES = (50, 500, 1_000, 5_000)
FRAMES = 90
TOGGLES = 10

FRAMES_OF = """async ([motion, frames]) => {
    const host = document.querySelector("[aria-label='Autograd graph']");
    const plain = document.querySelector("i.plain");
    const box = host?.getBoundingClientRect();
    const mouse = { bubbles: true, cancelable: true, view: window, button: 0, buttons: 1 };
    const at = (x, y) => ({ ...mouse, clientX: box.x + x, clientY: box.y + y });
    const slide = (name, share) => {
        const slider = document.querySelector(`input[type=range][aria-label=${name}]`);
        const [min, max] = [Number(slider.min), Number(slider.max)];
        slider.value = String(min + share * (max - min));
        slider.dispatchEvent(new Event("input", { bubbles: true }));
    };
    const [way, round] = [(i) => 180 * Math.sin(i / 12), (i) => 60 * Math.cos(i / 12)];
    const move = (x, y, k) => { plain.style.transform = `translate(${x}px, ${y}px) scale(${k})`; };
    const acts = host === null ? {
        pan: (i) => move(way(i), round(i), 1),
        zoom: (i) => move(0, 0, 1 + Math.abs((i % 60) - 30) / 30),
        scrub: (i) => { slide("Step", i / frames); move(4 * i, 0, 1); },
        drag: (i) => slide("k", i / frames),
    } : {
        pan: (i) => window.dispatchEvent(new MouseEvent("mousemove", at(400 + way(i), 200 + round(i)))),
        zoom: (i) => host.dispatchEvent(new WheelEvent("wheel", { ...at(400, 200), deltaY: i % 60 < 30 ? 24 : -24 })),
        scrub: (i) => slide("Step", (i + 1) / frames),
        drag: (i) => slide("k", (i + 1) / frames),
    };
    if (host !== null && motion === "pan") host.dispatchEvent(new MouseEvent("mousedown", at(400, 200)));
    const begin = await new Promise(requestAnimationFrame);
    let last = begin;
    for (let i = 0; i < frames; i += 1) {
        acts[motion](i);
        last = await new Promise(requestAnimationFrame);
    }
    if (host !== null && motion === "pan") window.dispatchEvent(new MouseEvent("mouseup", at(400, 200)));
    return 1000 * frames / (last - begin);
}"""
EMPTY_PAGE = """
    <i class="plain" style="position: absolute; width: 100px; height: 60px; background: #888"></i>
    <input type="range" aria-label="Step" max="1000"><input type="range" aria-label="k" min="-3" max="3" step="0.01">
"""
TOGGLE = """async () => {
    const id = document.querySelector(".group:not(.open) > button").closest("[data-group]").dataset.group;
    const toggle = async (open) => {
        document.querySelector(`[data-group="${id}"] > button`).click();
        const isDone = () => document.querySelector(`[data-group="${id}"]`)?.classList.contains("open") === open;
        while (!isDone()) await new Promise((resolve) => setTimeout(resolve));
    };
    const begin = performance.now();
    await toggle(true);
    const opened = performance.now() - begin;
    await toggle(false);
    return opened;
}"""
WATCH_LAYOUTS = """
    window.layouts = [];
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (...message) {
        const begin = performance.now();
        this.addEventListener("message", () => window.layouts.push(performance.now() - begin), { once: true });
        return postMessage.apply(this, message);
    };
"""


def measure(browser: Browser, server: Server, size: int, blank: Page) -> dict[str, str]:
    """One column of the table."""
    source = residual(size)
    finished = trace_events(server.client, source, seed=0)[-1]
    assert (finished["truncated"], finished["problems"]) == (None, 0)
    page = browser.new_context(viewport=VIEWPORT).new_page()
    page.add_init_script(WATCH_LAYOUTS)
    player = waiting(page, server.url, source, "1.3")
    picture, _ = page.evaluate(RUN, [PICTURE, PICTURE])
    column = {"nodes": f"{finished['steps']:,}", "Run to first picture, ms": f"{picture:.0f}"}
    column["  of which: layout in the worker"] = f"{page.evaluate('window.layouts[0]'):.0f}"
    player.wait_for_end_of_run()

    def add(motion: str, state: str = "") -> None:
        reference = blank.evaluate(FRAMES_OF, [motion, FRAMES])
        rate = page.evaluate(FRAMES_OF, [motion, FRAMES])
        column[f"{motion}{state}: frames per second, share"] = f"{rate:.1f} {rate / reference:.2f}"

    for motion in ("pan", "zoom", "scrub"):
        add(motion)
    toggles = [page.evaluate(TOGGLE) for _ in range(TOGGLES)]
    column["open a group, ms p50, max"] = f"{statistics.median(toggles):.0f} {max(toggles):.0f}"
    page.evaluate("window.layouts.length = 0")
    player.button("open all").click()
    player.button("close all").wait_for()
    page.wait_for_function("window.layouts.length > 0")
    column["open all groups: layout, ms"] = f"{page.evaluate('window.layouts[0]'):.0f}"
    for motion in ("pan", "zoom", "scrub"):
        add(motion, ", all groups open")
    player.button("Fit").click()
    add("drag")
    page.context.close()
    return column


def main() -> None:
    """Prints the table."""
    with running_server(run_seconds=120) as server, running_browser() as browser:
        blank = browser.new_context(viewport=VIEWPORT).new_page()
        blank.set_content(EMPTY_PAGE)
        columns = [measure(browser, server, size, blank) for size in SIZES]
    for name in columns[-1]:
        print(f"{name:<48}" + "".join(f"{column.get(name, ''):>16}" for column in columns))


if __name__ == "__main__":
    main()
