"""Shoots every example at three widths, light, dark and projected, into `.screenshots/`, to be looked at one by one.

Each way of looking also gives sheets of six, `sheet-1280-light-1.png`, on which what is wrong stands out.

.venv/bin/python -m tests.e2e.screenshots [SLUG ...]
"""

import sys
from pathlib import Path

from PIL import Image
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
ON_A_SHEET, SHEET_COLUMNS, THUMBNAIL_PX = 6, 2, 960


def shoot(browser: Browser, server: str, slug: str, size: tuple[int, int], look: str) -> Path:
    """One picture of one example at its opening step."""
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce")
    try:
        player = PlayerPage(context.new_page(), server)
        player.open(f"example={slug}&{'projector=1' if look == 'projector' else f'theme={look}'}")
        player.page.wait_for_function("() => new URLSearchParams(location.hash.slice(1)).has('s')", timeout=STREAM_MS)
        player.wait_for_end_of_run()
        player.page.wait_for_selector("[aria-label='Autograd graph'] article", timeout=STREAM_MS)
        player.page.wait_for_load_state("networkidle")
        target = FOLDER / f"{slug}-{width}-{look}.png"
        player.page.screenshot(path=target)
        return target
    finally:
        context.close()


def gather(pictures: list[Path], target: Path) -> None:
    """Several pictures of one size on one sheet."""
    thumbnails = []
    for path in pictures:
        with Image.open(path) as image:
            width = min(THUMBNAIL_PX, image.width)
            thumbnails.append(image.convert("RGB").resize((width, image.height * width // image.width)))
    width, height = thumbnails[0].size
    rows = -(-len(thumbnails) // SHEET_COLUMNS)
    sheet = Image.new("RGB", (SHEET_COLUMNS * (width + 6), rows * (height + 6)), "grey")
    for place, thumbnail in enumerate(thumbnails):
        sheet.paste(thumbnail, (place % SHEET_COLUMNS * (width + 6), place // SHEET_COLUMNS * (height + 6)))
    sheet.save(target)


def main() -> None:
    """Everything, or the examples named on the command line."""
    FOLDER.mkdir(exist_ok=True)
    wanted = sys.argv[1:] or [example.slug for example in EXAMPLES]
    with running_server() as server, running_browser() as browser:
        for size, look in LOOKS:
            pictures = [shoot(browser, server.url, slug, size, look) for slug in wanted]
            for number, start in enumerate(range(0, len(pictures), ON_A_SHEET), start=1):
                sheet = FOLDER / f"sheet-{size[0]}-{look}-{number}.png"
                gather(pictures[start : start + ON_A_SHEET], sheet)
                sys.stdout.write(f"{sheet}\n")


if __name__ == "__main__":
    main()
