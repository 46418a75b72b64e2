"""Graphs of real size in a real browser: frames per second while panning, playing and scrubbing, beside an empty page.

The traces are real: `net` below, traced here, is handed to the page as the server would send it, because the server's
own time limit is shorter than tracing the largest takes beside other work. "Empty page" is the same browser moving one
plain element through the same number of frames, so that what this machine cannot do is not laid at our door.
"""

import json
import statistics
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Route

sys.path.insert(0, str(Path(__file__).parents[2]))

from gradwalk.protocol.events import Event  # noqa: E402
from gradwalk.protocol.requests import SERVER_LIMITS, TraceRequest  # noqa: E402
from gradwalk.tracer.run import trace_program  # noqa: E402
from tests.e2e.live import running_browser, running_server  # noqa: E402
from tests.e2e.player import PlayerPage, fragment  # noqa: E402

PROGRAM = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)

    def forward(self, x):
        return x + self.norm(self.b(torch.relu(self.a(x))) * 0.5)

net = nn.Sequential(*[Block() for _ in range(BLOCKS)], nn.Linear(4, 1))
net(torch.randn(3, 4)).square().mean().backward()
""".strip()
NODES_PER_BLOCK = 14
SIZES = (50, 500, 1000, 5000)
FRAMES = 120
TOGGLES = 12
GOALS = {"frames per second": 55.0, "open a group, ms": 50.0, "first paint of 1,000 nodes, ms": 1000.0}

FRAMES_OF = """async ([motion, frames]) => {
    const host = document.querySelector("[aria-label='Autograd graph']");
    const box = host?.getBoundingClientRect();
    const at = (x, y) => ({ clientX: box.x + x, clientY: box.y + y, bubbles: true, cancelable: true, view: window, button: 0, buttons: 1 });
    const slider = document.querySelector("input[aria-label=Step]");
    const far = { deltaY: 120 };
    const acts = {
        empty: (i) => { document.querySelector("i").style.transform = `translate(${i}px, ${i % 40}px)`; },
        pan: (i) => host.dispatchEvent(new MouseEvent("mousemove", at(400 + 180 * Math.sin(i / 12), 200 + 60 * Math.cos(i / 12)))),
        zoom: (i) => host.dispatchEvent(new WheelEvent("wheel", { ...at(400, 200), deltaY: i % 60 < 30 ? 24 : -24 })),
        scrub: (i) => {
            slider.value = String(1 + Math.round((i / frames) * (Number(slider.max) - 1)));
            slider.dispatchEvent(new Event("input", { bubbles: true }));
        },
        play: () => {},
    };
    if (motion === "pan") host.dispatchEvent(new MouseEvent("mousedown", at(400, 200)));
    const times = [];
    let last = await new Promise(requestAnimationFrame);
    for (let i = 0; i < frames; i += 1) {
        acts[motion](i);
        const now = await new Promise(requestAnimationFrame);
        times.push(now - last);
        last = now;
    }
    if (motion === "pan") window.dispatchEvent(new MouseEvent("mouseup", at(400, 200)));
    return times;
}"""
TOGGLE = """async () => {
    const group = [...document.querySelectorAll(".group:not(.open) > button")].find((each) => {
        const box = each.getBoundingClientRect();
        return box.width > 0 && box.top >= 0 && box.left >= 0 && box.right < innerWidth;
    }) ?? document.querySelector(".group:not(.open) > button");
    const id = group.closest("[data-group]").dataset.group;
    const begin = performance.now();
    group.click();
    const is = (open) => document.querySelector(`[data-group="${id}"]`)?.classList.contains("open") === open;
    while (!is(true)) {
        if (performance.now() - begin > 5000) throw new Error("the group did not open");
        await new Promise((resolve) => setTimeout(resolve));
    }
    const opened = performance.now() - begin;
    document.querySelector(`[data-group="${id}"] > button`).click();
    while (!is(false)) await new Promise(requestAnimationFrame);
    return opened;
}"""
FIRST_PAINT = """async () => {
    const button = [...document.querySelectorAll("button")].find((each) => each.textContent.trim() === "Run");
    const begin = performance.now();
    button.click();
    while (document.querySelector("[aria-label='Autograd graph'] :is(article, section)") === null) {
        if (performance.now() - begin > 20000) throw new Error("no graph appeared");
        await new Promise(requestAnimationFrame);
    }
    await new Promise(requestAnimationFrame);
    return performance.now() - begin;
}"""


def traced(nodes: int) -> list[Event]:
    """The events of a backward pass through about so many nodes."""
    events: list[Event] = []
    source = PROGRAM.replace("BLOCKS", str(max(1, nodes // NODES_PER_BLOCK)))
    trace_program(TraceRequest(source=source), events.append, SERVER_LIMITS)
    return events


def stream_of(events: list[Event]) -> str:
    """As the server streams them: first what begins, then the steps in batches."""
    batches = [events[:2], *(events[at : at + 100] for at in range(2, len(events), 100))]
    told = [f"id: {batch[-1]['seq']}\nevent: batch\ndata: {json.dumps(batch)}\n\n" for batch in batches if batch]
    return "".join(told) + 'event: done\ndata: {"id": "bench"}\n\n'


def opened(browser: Browser, server: str, stream: str, **keys: Any) -> tuple[PlayerPage, float]:
    """A page with the trace on it, and the milliseconds from Run to the first picture of it."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()

    def answer(route: Route) -> None:
        route.fulfill(status=200, content_type="text/event-stream", body=stream)

    page.route("**/api/traces", answer)
    player = PlayerPage(page, server.replace("127.0.0.1", "lecture.test"))
    player.open(fragment("sum(net)", **keys))
    player.button("Run").wait_for()
    page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length > 0")
    page.wait_for_timeout(1500)  # Graphviz is fetched beside the first paint.
    painted: float = page.evaluate(FIRST_PAINT)
    page.wait_for_function("() => !document.querySelector('.where')?.textContent.includes('…')", timeout=60_000)
    return player, painted


def rate(page: Page, motion: str) -> tuple[float, float]:
    """Frames per second and the 95th percentile of a frame's milliseconds."""
    times = page.evaluate(FRAMES_OF, [motion, FRAMES])
    return 1000 * len(times) / sum(times), sorted(times)[int(len(times) * 0.95)]


def main() -> None:
    """Prints the table."""
    print(f"{'graph, frames per second (p95 ms)':<36}" + "".join(f"{size:>16,}" for size in ("empty", *SIZES)) if False else "")
    rows: dict[str, list[str]] = {}
    with running_server() as server, running_browser() as browser:
        blank = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        blank.set_content("<i style='position:absolute;width:100px;height:60px;background:#888'></i>")
        fps, slow = rate(blank, "empty")
        print(f"empty page: {fps:.1f} fps, p95 {slow:.1f} ms")
        for size in SIZES:
            events = traced(size)
            measure(browser, server, size, stream_of(events), rows)
    for name, cells in rows.items():
        print(f"{name:<44}" + "".join(f"{cell:>18}" for cell in cells))


def measure(browser: Browser, server: str, size: int, stream: str, rows: dict[str, list[str]]) -> None:
    """Adds one column."""
    player, painted = opened(browser, server, stream, s="1.3")
    page = player.page
    column: dict[str, str] = {"nodes": f"{size:,}", "first picture after Run, ms": f"{painted:.0f}"}
    for motion in ("pan", "zoom", "scrub"):
        fps, slow = rate(page, motion)
        column[f"{motion}, fps (p95 ms)"] = f"{fps:.1f} ({slow:.0f})"
    player.button("First step").click()
    player.button("Play").click()
    fps, slow = rate(page, "play")
    column["play, fps (p95 ms)"] = f"{fps:.1f} ({slow:.0f})"
    player.button("Pause").click()
    opens = [page.evaluate(TOGGLE) for _ in range(TOGGLES)]
    column["open a group, ms p50 (max)"] = f"{statistics.median(opens):.0f} ({max(opens):.0f})"
    for name, cell in column.items():
        rows.setdefault(name, []).append(cell)
    page.context.close()


if __name__ == "__main__":
    main()
