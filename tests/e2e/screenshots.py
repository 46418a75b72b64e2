"""Shoots every example at three widths, light and dark, into `.screenshots/`, to be looked at one by one.

.venv/bin/python -m tests.e2e.screenshots [SLUG ...]
"""

import sys
from pathlib import Path

from playwright.sync_api import Browser

from gradwalk.examples.catalogue import EXAMPLES
from tests.e2e.live import ROOT, running_browser, running_server
from tests.e2e.player import STREAM_MS, PlayerPage

FOLDER = ROOT / ".screenshots"
SIZES = [(1920, 1080), (1280, 800), (390, 844)]
THEMES = ["light", "dark"]


def shoot(browser: Browser, server: str, slug: str, size: tuple[int, int], theme: str) -> Path:
    """One picture of one example at its opening step."""
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce")
    try:
        player = PlayerPage(context.new_page(), server)
        player.open(f"example={slug}&theme={theme}")
        player.page.wait_for_function("() => new URLSearchParams(location.hash.slice(1)).has('s')", timeout=STREAM_MS)
        player.page.wait_for_selector("table[aria-label=Steps] tbody th", state="attached", timeout=STREAM_MS)
        player.page.wait_for_selector("[aria-label='Autograd graph'] article", timeout=STREAM_MS)
        player.page.wait_for_load_state("networkidle")
        target = FOLDER / f"{slug}-{width}-{theme}.png"
        player.page.screenshot(path=target)
        return target
    finally:
        context.close()


def main() -> None:
    """Everything, or the examples named on the command line."""
    FOLDER.mkdir(exist_ok=True)
    wanted = sys.argv[1:] or [example.slug for example in EXAMPLES]
    with running_server() as server, running_browser() as browser:
        for slug in wanted:
            for size in SIZES:
                for theme in THEMES:
                    sys.stdout.write(f"{shoot(browser, server, slug, size, theme)}\n")


if __name__ == "__main__":
    main()
