"""What an embed costs who opens a page with one: a locked frame of another origin, and the element from plain files.

"Ready" of a frame is the time from its insertion to its own message; "evaluated" of the module and "first picture" of
the element count from the beginning of the page. Each visit has a browser context of its own, so an empty cache.
"""

import tempfile
from pathlib import Path

from playwright.sync_api import Browser

from gradwalk.exports.exporter import Selection
from gradwalk.exports.kit import MODULE, write_kit
from gradwalk.notebook.recording import trace
from tests.benchmarks.page import row
from tests.world.browser import running_browser
from tests.world.server import running_server
from tests.world.sites import TWO_LAYERS, keep_program, serving

VISITS = 15
HOST = "<!doctype html><meta charset=utf-8><title>A page of somebody else's</title>"
OPEN_FRAME = """(address) => new Promise((resolve) => {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.cssText = "width: 900px; height: 600px";
  const begin = performance.now();
  addEventListener("message", ({data}) => data.type === "ready" && resolve(performance.now() - begin));
  frame.src = address;
  document.body.append(frame);
})"""
ELEMENT = """<script type="module">
  await import("./gradwalk.js");
  window.evaluated = performance.now();
  const element = document.querySelector("grad-walk");
  while (!element.isReady) await new Promise(requestAnimationFrame);
  // the frame after the one in which it became ready has been painted
  await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  window.painted = performance.now();
</script><grad-walk src="lesson.kit.json" step="1.3" style="height: 600px"></grad-walk>"""


def measure_frames(browser: Browser, site: str, embed: str) -> list[float]:
    """Milliseconds until each visit's frame was ready."""
    found = []
    for _ in range(VISITS + 1):
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        page.goto(f"{site}/host.html")
        found.append(page.evaluate(OPEN_FRAME, embed))
        context.close()
    # The first one warms the server: its trace is worked out and kept then.
    return found[1:]


def measure_elements(browser: Browser, site: str) -> tuple[list[float], list[float]]:
    """Milliseconds until the module was evaluated, and until its first picture."""
    evaluated, painted = [], []
    for _ in range(VISITS):
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        page.goto(f"{site}/element.html")
        page.wait_for_function("window.painted > 0")
        evaluated.append(page.evaluate("evaluated"))
        painted.append(page.evaluate("painted"))
        context.close()
    return evaluated, painted


def main() -> None:
    """Prints the table."""
    with tempfile.TemporaryDirectory() as name, running_server() as server, running_browser() as browser:
        folder = Path(name)
        (folder / "host.html").write_text(HOST)
        (folder / "element.html").write_text(HOST + ELEMENT)
        (folder / "gradwalk.js").write_bytes(MODULE.read_bytes())
        (folder / "lesson.kit.json").write_bytes(write_kit(trace(TWO_LAYERS).document, Selection()))
        with serving(folder) as site:
            frames = measure_frames(
                browser, site, f"{server.url}/embed/{keep_program(server.url, TWO_LAYERS)[1]}?s=1.3"
            )
            evaluated, painted = measure_elements(browser, site)
    print(f"{'embeds, milliseconds':<44}{'p50':>9}{'p95':>9}{'n':>7}")
    row("locked frame of another origin, ready", frames)
    row("element from plain files, module evaluated", evaluated)
    row("element from plain files, first picture", painted)


if __name__ == "__main__":
    main()
