"""Graphs of real size in a real browser: frames while panning, zooming, scrubbing, playing, dragging an input; layouts.

The server has traced the program before, so that the page is measured and not the tracer. Beside every rate stands its
share of what an empty page reached just before, doing the same motion with one plain element: what this machine cannot
do is not laid at our door.
"""

import json
import os
import statistics
import urllib.request
from collections.abc import Callable

from playwright.sync_api import Browser, Page

from tests.e2e.player import PlayerPage, fragment
from tests.world.browser import running_browser
from tests.world.server import ELSEWHERE, running_server

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
k = torch.tensor(1.0, requires_grad=True)
(k * net(torch.randn(3, 4))).square().mean().backward()
""".strip()
NODES_PER_BLOCK = 14
SIZES = tuple(int(size) for size in os.environ.get("GRAPH_SIZES", "50,500,1000,5000").split(","))
FRAMES = 90
TOGGLES = 10
VIEWPORT = {"width": 1280, "height": 800}

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
        play: (i) => move(i, 0, 1),
    } : {
        pan: (i) => window.dispatchEvent(new MouseEvent("mousemove", at(400 + way(i), 200 + round(i)))),
        zoom: (i) => host.dispatchEvent(new WheelEvent("wheel", { ...at(400, 200), deltaY: i % 60 < 30 ? 24 : -24 })),
        scrub: (i) => slide("Step", (i + 1) / frames),
        drag: (i) => slide("k", (i + 1) / frames),
        play: () => {},
    };
    if (host !== null && motion === "pan") host.dispatchEvent(new MouseEvent("mousedown", at(400, 200)));
    const times = [];
    let last = await new Promise(requestAnimationFrame);
    for (let i = 0; i < frames; i += 1) {
        acts[motion](i);
        const now = await new Promise(requestAnimationFrame);
        times.push(now - last);
        last = now;
    }
    if (host !== null && motion === "pan") window.dispatchEvent(new MouseEvent("mouseup", at(400, 200)));
    return times;
}"""
EMPTY_PAGE = """
    <i class="plain" style="position: absolute; width: 100px; height: 60px; background: #888"></i>
    <input type="range" aria-label="Step" max="1000"><input type="range" aria-label="k" min="-3" max="3" step="0.01">
"""
TOGGLE = """async () => {
    const group = [...document.querySelectorAll(".group:not(.open) > button")].find((each) => {
        const box = each.getBoundingClientRect();
        return box.width > 0 && box.top >= 0 && box.left >= 0 && box.right < innerWidth;
    }) ?? document.querySelector(".group:not(.open) > button");
    const id = group.closest("[data-group]").dataset.group;
    const nameOf = (each) => each.dataset.node ?? each.dataset.group;
    const places = () => new Map([...document.querySelectorAll(".world > :is([data-node], [data-group])")]
        .filter((each) => nameOf(each) !== id && !each.classList.contains("open"))
        .map((each) => [nameOf(each), each.getBoundingClientRect()]));
    const before = places();
    const begin = performance.now();
    group.click();
    const is = (open) => document.querySelector(`[data-group="${id}"]`)?.classList.contains("open") === open;
    while (!is(true)) {
        if (performance.now() - begin > 5000) throw new Error("the group did not open");
        await new Promise((resolve) => setTimeout(resolve));
    }
    const opened = performance.now() - begin;
    await new Promise(requestAnimationFrame);
    const frame = document.querySelector(`[data-group="${id}"]`).getBoundingClientRect();
    const known = [...places()].filter(([name]) => before.has(name));
    const isBeside = ([, box]) => box.right <= frame.left || box.left >= frame.right;
    const most = (those) =>
        Math.max(0, ...those.map(([name, box]) => Math.abs(box.top - before.get(name).top)));
    const moved = [most(known.filter(isBeside)), most(known.filter((each) => !isBeside(each)))];
    document.querySelector(`[data-group="${id}"] > button`).click();
    while (!is(false)) await new Promise(requestAnimationFrame);
    return [opened, ...moved];
}"""
FIRST_PAINT = """async (steps) => {
    const button = [...document.querySelectorAll("button")].find((each) => each.textContent.trim() === "Run");
    const begin = performance.now();
    button.click();
    while (document.querySelector("[aria-label='Autograd graph'] :is(article, section)") === null) {
        if (performance.now() - begin > 20000) throw new Error("no graph appeared");
        await new Promise(requestAnimationFrame);
    }
    await new Promise(requestAnimationFrame);
    const painted = performance.now() - begin;
    const slider = document.querySelector("input[aria-label=Step]");
    while (Number(slider.max) < steps) await new Promise(requestAnimationFrame);
    return [painted, performance.now() - begin];
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


def program(nodes: int) -> str:
    """A residual network with about so many nodes in its graph, and one scalar that has a slider."""
    return PROGRAM.replace("BLOCKS", str(max(1, round(nodes / NODES_PER_BLOCK))))


def warm(server: str, source: str) -> int:
    """Has the server trace a program whole, so that the page need not wait for that; the number of its steps."""
    body = json.dumps({"source": source, "options": {"seed": 0}}).encode()
    headers = {"Accept": "text/event-stream", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{server}/api/traces", body, headers)) as answer:
        told = answer.read().decode()
    finished = json.loads(told.split("data: ")[-2].split("\n")[0])[-1]
    if finished["truncated"] is not None or finished["problems"] != 0:
        raise RuntimeError(f"not traced whole: {finished}")
    steps: int = finished["steps"]
    return steps


def opened(browser: Browser, server: str, source: str, steps: int) -> tuple[PlayerPage, float, float]:
    """A page with the trace on it; milliseconds from Run to its first picture and to its last step."""
    page = browser.new_context(viewport=VIEWPORT).new_page()  # type: ignore[arg-type]
    page.add_init_script(WATCH_LAYOUTS)
    player = PlayerPage(page, server.replace("127.0.0.1", ELSEWHERE))
    player.open(fragment(source, s="1.3"))
    page.wait_for_timeout(1500)  # Graphviz is fetched beside the first paint.
    painted, complete = page.evaluate(FIRST_PAINT, steps)
    return player, painted, complete


def rate(page: Page, motion: str) -> tuple[float, float]:
    """Frames per second and the 95th percentile of a frame's milliseconds."""
    times = page.evaluate(FRAMES_OF, [motion, FRAMES])
    return 1000 * len(times) / sum(times), sorted(times)[int(len(times) * 0.95)]


def main() -> None:
    """Prints the table."""
    os.environ["GRADWALK_RUN_SECONDS"] = "120"
    columns: list[dict[str, str]] = []
    with running_server() as server, running_browser() as browser:
        blank = browser.new_context(viewport=VIEWPORT).new_page()  # type: ignore[arg-type]
        blank.set_content(EMPTY_PAGE)
        columns += [measure(browser, server.url, size, blank) for size in SIZES]
    for name in columns[-1]:
        print(f"{name:<40}" + "".join(f"{column.get(name, ''):>20}" for column in columns))


def spelled(measured: tuple[float, float], reference: tuple[float, float]) -> str:
    """Frames per second, in brackets the milliseconds of a slow frame, and the share of the empty page's rate."""
    return f"{measured[0]:.1f} ({measured[1]:.0f}) {measured[0] / reference[0]:.2f}"


def measure(browser: Browser, server: str, size: int, blank: Page) -> dict[str, str]:
    """One column of the table."""
    source = program(size)
    steps = warm(server, source)
    player, painted, complete = opened(browser, server, source, steps)
    page = player.page
    column = {
        "nodes": f"{steps:,}",
        "Run to first picture, ms": f"{painted:.0f}",
        "  of which: layout in the worker": f"{page.evaluate('window.layouts[0]'):.0f}",
        "Run to all steps, ms": f"{complete:.0f}",
        "frames per second (slow frame, ms) share of empty page:": "",
    }

    def add(name: str, motion: str, before: Callable[[], None] = lambda: None) -> None:
        reference = rate(blank, motion)
        before()
        column[name] = spelled(rate(page, motion), reference)

    def play() -> None:
        player.button("Play").click()

    for motion in ("pan", "zoom", "scrub"):
        add(motion, motion)
    player.button("First step").click()
    add("play", "play", play)
    player.button("Pause").click()
    toggles = [page.evaluate(TOGGLE) for _ in range(TOGGLES)]
    page.evaluate("window.layouts.length = 0")
    player.button("open all").click()
    player.button("close all").wait_for()
    page.wait_for_timeout(500)
    layout = page.evaluate("window.layouts[0]")
    for motion in ("pan", "zoom"):
        add(f"{motion}, all groups open", motion)
    add("play, all groups open", "play", play)
    player.button("Pause").click()
    add("scrub, all groups open", "scrub")
    for _ in range(14):
        player.button("Zoom out").click()
    page.wait_for_timeout(500)
    for motion in ("pan", "zoom"):
        add(f"{motion}, all open, from far away", motion)
    player.button("Fit").click()
    add("drag an input's slider", "drag")
    opens = [time for time, *_ in toggles]
    column["open a group, ms p50 (max)"] = f"{statistics.median(opens):.0f} ({max(opens):.0f})"
    column["  moves what is before or after it, px"] = f"{max(beside for _, beside, _ in toggles):.0f}"
    column["  moves what is over or under it, px"] = f"{max(over for *_, over in toggles):.0f}"
    column["open all groups: layout, ms"] = f"{layout:.0f}"
    page.context.close()
    return column


if __name__ == "__main__":
    main()
