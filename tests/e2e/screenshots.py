"""Shoots every example at three widths, light, dark and projected, into `.screenshots/`, to be looked at one by one.

.venv/bin/python -m tests.e2e.screenshots [SLUG ...]
"""

import sys
from pathlib import Path

from playwright.sync_api import Browser

from gradwalk.examples.catalogue import EXAMPLES
from tests.e2e.player import STREAM_MS, PlayerPage
from tests.world.browser import running_browser
from tests.world.processes import ROOT
from tests.world.server import running_server

FOLDER = ROOT / ".screenshots"
SIZES = [(1920, 1080), (1280, 800), (390, 844)]
# A theme, or projector mode, which is light.
LOOKS = [*((size, theme) for size in SIZES for theme in ("light", "dark")), ((1920, 1080), "projector")]


def shoot(browser: Browser, server: str, slug: str, size: tuple[int, int], look: str) -> Path:
    """One picture of one example at its opening step."""
    width, height = size
    with browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce") as context:
        player = PlayerPage(context.new_page(), server)
        player.open(f"example={slug}&{'projector=1' if look == 'projector' else f'theme={look}'}")
        player.wait_for_end_of_run()
        player.page.wait_for_selector("[aria-label='Autograd graph'] article", timeout=STREAM_MS)
        player.page.wait_for_function("document.fonts.ready.then(() => true)")
        target = FOLDER / f"{slug}-{width}-{look}.png"
        player.page.screenshot(path=target)
        return target


def main() -> None:
    """Everything, or the examples named on the command line."""
    FOLDER.mkdir(exist_ok=True)
    with running_server() as server, running_browser() as browser:
        for size, look in LOOKS:
            for slug in sys.argv[1:] or [example.slug for example in EXAMPLES]:
                sys.stdout.write(f"{shoot(browser, server.url, slug, size, look)}\n")


if __name__ == "__main__":
    main()
