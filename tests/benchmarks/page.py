"""The page in a real browser: first paint, first step on screen, and a slider's move to new numbers.

"Slider" is the time from the browser's `input` event to the frame after the new product is in the document,
beside the same round trip without a page (the POST's whole stream read by `fetch`), both in one run.
"""

import statistics

from playwright.sync_api import Browser, expect

from tests.e2e.player import PlayerPage, fragment
from tests.world.browser import running_browser
from tests.world.server import running_server

TEN_NODES = "sin(x*y) + exp(x)*y - x/y"
INPUTS = {"x": 0.5, "y": 1.5}
MOVES = 60
VISITS = 7

MOVE_SLIDER = """async (value) => {
    const slider = document.querySelector("input[type=range][aria-label=x]");
    const product = () => document.querySelector("table[aria-label='v times J']")?.textContent;
    const before = product();
    const begin = performance.now();
    slider.value = value;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    while (product() === before) {
        if (performance.now() - begin > 10000) throw new Error("the numbers did not change");
        await new Promise(requestAnimationFrame);
    }
    return performance.now() - begin;
}"""
ROUND_TRIP = """async ([source, x, y]) => {
    const begin = performance.now();
    const response = await fetch("/api/traces", {
        method: "POST",
        headers: { Accept: "text/event-stream", "Content-Type": "application/json" },
        body: JSON.stringify({ source, options: { seed: 0, inputs: { x, y } } }),
    });
    await response.text();
    return performance.now() - begin;
}"""


def percentile(samples: list[float], share: float) -> float:
    """The sample below which `share` of all lie."""
    return sorted(samples)[min(len(samples) - 1, int(len(samples) * share))]


def row(name: str, samples: list[float]) -> None:
    """One line of the table, in milliseconds."""
    print(f"{name:<44}{statistics.median(samples):>9.1f}{percentile(samples, 0.95):>9.1f}{len(samples):>7}")


def measure_visits(browser: Browser, server: str) -> tuple[list[float], list[float]]:
    """First contentful paint and first step on screen, each with an empty cache."""
    paints, steps = [], []
    for _ in range(VISITS):
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        player = PlayerPage(context.new_page(), server)
        player.open()
        player.product.wait_for()
        steps.append(player.page.evaluate("performance.now()"))
        paints.append(player.page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        context.close()
    return paints, steps


def measure_slider(browser: Browser, server: str) -> tuple[list[float], list[float]]:
    """Slider moves to numbers on screen, and bare round trips of equally fresh requests."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    player = PlayerPage(context.new_page(), server)
    player.open(fragment(TEN_NODES, i=INPUTS, s="5.3"))
    expect(player.slider("x")).to_be_visible()
    player.product.wait_for()
    moves, trips = [], []
    for move in range(MOVES):
        value = round(0.6 + move * 0.05, 2)
        moves.append(player.page.evaluate(MOVE_SLIDER, str(value)))
        trips.append(player.page.evaluate(ROUND_TRIP, [TEN_NODES, value + 0.013, 1.5]))
    context.close()
    return moves, trips


def main() -> None:
    """Prints the table."""
    with running_server() as server, running_browser() as browser:
        paints, steps = measure_visits(browser, server.url)
        moves, trips = measure_slider(browser, server.url)
    print(f"{'page, milliseconds':<44}{'p50':>9}{'p95':>9}{'n':>7}")
    row("first contentful paint, empty cache", paints)
    row("first step on screen, empty cache", steps)
    row("slider move to new numbers, 10 nodes", moves)
    row("  of which: the same request without a page", trips)


if __name__ == "__main__":
    main()
