"""What a person waits for: Run to a picture and to numbers, sliders, a slow line.

Each visit has a browser context of its own, so an empty cache. A slider's time is from the browser's `input` event to
the frame after the new product is in the document.
"""

import json
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

from tests.benchmarks.programs import BACKWARD, perceptron, report, transformer
from tests.e2e.player import PlayerPage, fragment, slow_down
from tests.world.browser import running_browser
from tests.world.server import ELSEWHERE, running_server

PROGRAMS = {
    "10 nodes": """
import torch
k = torch.tensor(1.0, requires_grad=True)
y = torch.tensor(1.5, requires_grad=True)
loss = torch.sin(k * y) + torch.exp(k) * y - k / y
loss.backward()
""",
    "50 nodes": perceptron(9) + "k = torch.tensor(1.0, requires_grad=True)\n(k * net(x)).square().mean().backward()\n",
    "490 nodes": transformer(8) + BACKWARD,
}
SLIDERS = {"10 nodes": "5.3", "50 nodes": "2.3"}
"""Programs whose `k` is moved, and a step and phase whose numbers depend on it."""
VIEWPORT: Any = {"width": 1280, "height": 800}
VISITS = 7
MOVES = 30
STOPS, STOP_MS = 40, 200
CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline", "__metadata"]
SLOW_BYTES, SLOW_LATENCY = 50_000, 300
PICTURE = "[aria-label='Autograd graph'] :is(article, section)"
NUMBERS = "[aria-label='Vector-Jacobian product'] td"

RUN = """async ([picture, numbers]) => {
    const until = async (selector) => {
        while (document.querySelector(selector) === null) await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
        return performance.now() - begin;
    };
    const begin = performance.now();
    [...document.querySelectorAll("button")].find((each) => each.textContent.trim() === "Run").click();
    return [await until(picture), await until(numbers)];
}"""
MOVE_SLIDER = """async ([value, numbers]) => {
    const slider = document.querySelector("input[type=range][aria-label=k]");
    const cells = () => [...document.querySelectorAll(numbers)].map((cell) => cell.textContent).join(" ");
    const before = cells();
    const begin = performance.now();
    slider.value = value;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    while (cells() === before || cells() === "") {
        if (performance.now() - begin > 10000) throw new Error("the numbers did not change");
        await new Promise(requestAnimationFrame);
    }
    return performance.now() - begin;
}"""

Found = defaultdict[str, list[float]]
"""Seconds, by what took them."""


def waiting(page: Page, server: str, source: str, place: str = "2.3") -> PlayerPage:
    """The player with a program that waits for Run, as it came by a link from elsewhere."""
    player = PlayerPage(page, server.replace("127.0.0.1", ELSEWHERE))
    player.open(fragment(source, s=place))
    page.wait_for_load_state("networkidle")
    return player


def measure_run(page: Page, server: str, name: str, found: Found) -> None:
    """From Run to the first picture and to the numbers of a step, of a program that the server has not seen."""
    player = waiting(page, server, f"{PROGRAMS[name].strip()}\n# {time.monotonic_ns()}")
    picture, numbers = player.page.evaluate(RUN, [PICTURE, NUMBERS])
    found[f"Run to first picture, {name}"].append(picture / 1e3)
    found[f"Run to numbers, {name}"].append(numbers / 1e3)


def measure_slider(page: Page, server: str, name: str, found: Found) -> None:
    """Slider moves to numbers on screen."""
    player = waiting(page, server, PROGRAMS[name].strip(), SLIDERS[name])
    player.button("Run").click()
    player.wait_for_end_of_run()
    for move in range(MOVES):
        milliseconds = page.evaluate(MOVE_SLIDER, [str(1.1 + 0.05 * move), NUMBERS])
        found[f"slider to new numbers, {name}"].append(milliseconds / 1e3)


def thread_seconds(page: Page, act: Callable[[], None]) -> tuple[list[float], list[float]]:
    """What the page's own thread computed meanwhile, in seconds: its tasks, the longest first, and its frames."""
    page.context.browser.start_tracing(page=page, categories=CATEGORIES)
    act()
    events = json.loads(page.context.browser.stop_tracing())["traceEvents"]
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }

    def spent(name: str) -> list[float]:
        mine = [event for event in events if event["name"] == name and (event["pid"], event["tid"]) in threads]
        return sorted((event.get("tdur", 0) / 1e6 for event in mine), reverse=True)

    return spent("RunTask"), spent("FireAnimationFrame")


def measure_walk(page: Page, server: str, name: str, found: Found) -> None:
    """Processor time of the longest task of a stop, and of a frame, of a program that is walked by keys and played."""
    player = waiting(page, server, PROGRAMS[name].strip(), "0")
    player.button("Run").click()
    player.wait_for_end_of_run()
    page.locator(PICTURE).first.wait_for(state="attached")

    def step() -> None:
        for _ in range(STOPS):
            page.keyboard.press("ArrowRight")
            page.wait_for_timeout(STOP_MS)

    def play() -> None:
        player.button("Play").click()
        page.wait_for_timeout(STOPS * STOP_MS)

    page.keyboard.press("Escape")
    tasks, _ = thread_seconds(page, step)
    _, frames = thread_seconds(page, play)
    found[f"a stop, {name} (processor)"] += tasks[:STOPS]
    found[f"a frame while playing, {name} (processor)"] += frames


def measure_slow_line(page: Page, server: str, name: str, found: Found) -> None:
    """A first visit by a link over a slow line, to the transformer's first picture."""
    slow_down(page, SLOW_BYTES, SLOW_LATENCY)
    page.goto(f"{server}/#{fragment(PROGRAMS[name].strip())}", wait_until="commit")
    page.wait_for_selector(PICTURE, timeout=60_000)
    found[f"first picture over a slow line, {name}"].append(page.evaluate("performance.now()") / 1e3)


def main() -> None:
    """Prints the table."""
    found = Found(list)
    visits = [*((measure_slider, name) for name in SLIDERS), (measure_walk, "490 nodes")]
    visits += [(measure_run, name) for _ in range(VISITS) for name in PROGRAMS]
    with running_server() as server, running_browser() as browser:
        for measure, name in (*visits, (measure_slow_line, "490 nodes")):
            with browser.new_page(viewport=VIEWPORT) as page:
                measure(page, server.url, name, found)
    report("a visit with an empty cache", found)


if __name__ == "__main__":
    main()
