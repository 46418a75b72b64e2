"""What a person feels: from Run to a picture and to numbers, a slider, the way through a long walk, a slow line.

The server has seen none of the programs, and each visit has an empty cache. `FEEL_BEFORE` names another checkout
with a built page; its rows stand beside ours, taken in turn in the same run. "Numbers" are those of the step that the
link names. `FEEL_SIZES` takes some of the sizes.
"""

import inspect
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page, expect
from playwright.sync_api import TimeoutError as TookTooLong

from tests.benchmarks import graphs, peers
from tests.benchmarks.page import percentile
from tests.e2e.player import PlayerPage, fragment, slow_down
from tests.world.browser import running_browser
from tests.world.processes import ROOT
from tests.world.server import ELSEWHERE, running_server

VIEWPORT = {"width": 1280, "height": 800}
TEN_NODES = """
import torch
k = torch.tensor(1.0, requires_grad=True)
y = torch.tensor(1.5, requires_grad=True)
loss = torch.sin(k * y) + torch.exp(k) * y - k / y
loss.backward()
""".strip()
TRANSFORMER = f"""
import torch
from torch import nn
from torch.nn.functional import gelu

{inspect.getsource(peers.Block)}
torch.manual_seed(0)
net = nn.Sequential(*[Block(16, 2) for _ in range(DEPTH)])
net(torch.randn(2, 4, 16)).square().mean().backward()
""".strip()
PROGRAMS = {
    10: TEN_NODES,
    50: graphs.program(50),
    490: TRANSFORMER.replace("DEPTH", "8"),
    4_882: TRANSFORMER.replace("DEPTH", "80"),
}
SIZES = tuple(int(size) for size in os.environ.get("FEEL_SIZES", "10,50,490,4882").split(","))
ROUNDS = {10: 5, 50: 5, 490: 3, 4_882: 1}
MOVES = 60
SCRUBBED = 5_944
POSITIONS = 20
SLOW_BYTES, SLOW_LATENCY = 50_000, 300
LONGEST_MS = 30_000
GOALS = {"slider, 50 nodes, p95": "60", f"scrub {POSITIONS} of {SCRUBBED:,} steps": "500", "slow line": "5,000"}

RUN = """async (longest) => {
    const shown = (what) => document.querySelector(what) !== null;
    const until = async (done) => {
        while (!done()) {
            if (performance.now() - begin > longest) return NaN;
            await new Promise(requestAnimationFrame);
        }
        await new Promise(requestAnimationFrame);
        return performance.now() - begin;
    };
    const begin = performance.now();
    [...document.querySelectorAll("button")].find((each) => each.textContent.trim() === "Run").click();
    const picture = await until(() => shown("[aria-label='Autograd graph'] :is(article, section)"));
    const numbers = await until(() => shown("[aria-label='Vector-Jacobian product'] td"));
    const whole = await until(() => shown("[data-is-running=false]"));
    return [picture, numbers, whole];
}"""
MOVE_SLIDER = """async (value) => {
    const slider = document.querySelector("input[type=range][aria-label=k]");
    const cells = () => [...document.querySelectorAll("[aria-label='Vector-Jacobian product'] td")]
        .map((cell) => cell.textContent).join(" ");
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

Measured = dict[str, list[float]]


def visit(browser: Browser, server: str, source: str, place: str) -> PlayerPage:
    """A page with the program in it, which waits for Run as it came by a link from elsewhere."""
    page = browser.new_context(viewport=VIEWPORT).new_page()  # type: ignore[arg-type]
    player = PlayerPage(page, server.replace("127.0.0.1", ELSEWHERE))
    player.open(fragment(source, s=place))
    page.wait_for_load_state("networkidle")
    return player


def run(browser: Browser, size: int, server: str, found: Measured) -> None:
    """From Run to the first picture, to the numbers of the step and to the end."""
    player = visit(browser, server, f"{PROGRAMS[size]}\n# {time.monotonic_ns()}", "2.3")
    times = player.page.evaluate(RUN, LONGEST_MS)
    for name, taken in zip(("first picture", "numbers", "everything"), times, strict=True):
        found.setdefault(f"Run to {name}, {size:,} nodes", []).append(taken)
    player.page.context.close()


def slide(browser: Browser, size: int, server: str, found: Measured) -> None:
    """From the move of an input's slider to new numbers."""
    player = visit(browser, server, PROGRAMS[size], "5.3" if size < 50 else "2.3")
    player.button("Run").click()
    player.wait_for_end_of_run()
    moves = [player.page.evaluate(MOVE_SLIDER, str(round(1.1 + 0.05 * move, 2))) for move in range(MOVES)]
    found[f"slider, {size} nodes, p50"] = [statistics.median(moves)]
    found[f"slider, {size} nodes, p95"] = [percentile(moves, 0.95)]
    player.page.context.close()


def scrub(browser: Browser, server: str, found: Measured) -> None:
    """A drag of the mouse over the whole walk, until the last step is told."""
    player = visit(browser, server, graphs.program(SCRUBBED), "1.3")
    page = player.page
    player.button("Run").click()
    player.wait_for_end_of_run()
    box = page.get_by_role("slider", name="Step", exact=True).bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8, y)
    page.mouse.down()
    before = player.narration.inner_text()
    begin = time.perf_counter()
    for position in range(1, POSITIONS + 1):
        page.mouse.move(box["x"] + 8 + (box["width"] - 16) * position / POSITIONS, y)
    expect(player.narration).not_to_have_text(before, timeout=LONGEST_MS)
    page.evaluate("new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))")
    taken = 1e3 * (time.perf_counter() - begin)
    page.mouse.up()
    found.setdefault(f"scrub {POSITIONS} of {SCRUBBED:,} steps", []).append(taken)
    page.context.close()


def wait_for_picture(page: Page) -> float:
    """Milliseconds since the page began."""
    try:
        page.wait_for_selector("[aria-label='Autograd graph'] :is(article, section)", timeout=LONGEST_MS)
    except TookTooLong:
        return float("nan")
    taken: float = page.evaluate("performance.now()")
    return taken


def over_slow_line(browser: Browser, server: str, found: Measured) -> None:
    """The transformer over a slow line: a first visit by a link, and Run on a page that is there."""
    for name, is_there in (("slow line, first visit", False), ("slow line, page there", True)):
        context = browser.new_context(viewport=VIEWPORT)  # type: ignore[arg-type]
        page = context.new_page()
        source = f"{PROGRAMS[490]}\n# {name}"
        if is_there:
            player = PlayerPage(page, server.replace("127.0.0.1", ELSEWHERE))
            player.open(fragment(source))
            page.wait_for_load_state("networkidle")
        slow_down(page, SLOW_BYTES, SLOW_LATENCY)
        if is_there:
            taken = page.evaluate(RUN, LONGEST_MS)[0]
        else:
            page.goto(f"{server}/#{fragment(source)}", wait_until="commit")
            taken = wait_for_picture(page)
        found.setdefault(name, []).append(taken)
        context.close()


@contextmanager
def serving(checkout: Path) -> Iterator[str]:
    """The server and the page of a checkout."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(checkout / "server")
    try:
        with running_server() as server:
            yield server.url
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def main() -> None:
    """Prints the table."""
    other = os.environ.get("FEEL_BEFORE")
    checkouts = {**({} if other is None else {"before": Path(other)}), "now": ROOT}
    found: dict[str, Measured] = {name: {} for name in checkouts}
    with ExitStack() as stack:
        browser = stack.enter_context(running_browser())
        servers = {name: stack.enter_context(serving(path)) for name, path in checkouts.items()}
        print(f"{'milliseconds, medians':<44}" + "".join(f"{name:>12}" for name in checkouts) + f"{'goal':>10}")
        told: set[str] = set()

        def measure(what: Callable[[str, Measured], None], rounds: int = 1) -> None:
            for _ in range(rounds):
                for name, server in servers.items():
                    what(server, found[name])
            for row in [row for row in found["now"] if row not in told]:
                told.add(row)
                goal = next((goal for name, goal in GOALS.items() if row.startswith(name)), "")
                medians = (statistics.median(each.get(row, [float("nan")])) for each in found.values())
                print(f"{row:<44}" + "".join(f"{taken:>12,.0f}" for taken in medians) + f"{goal:>10}", flush=True)

        for size in {10, 50} & set(SIZES):
            measure(partial(slide, browser, size))
        measure(partial(over_slow_line, browser))
        for size in SIZES:
            measure(partial(run, browser, size), ROUNDS[size])
        measure(partial(scrub, browser))


if __name__ == "__main__":
    main()
