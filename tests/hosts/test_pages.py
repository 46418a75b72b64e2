"""Frames on pages of somebody else for a whole lecture: a server that dies, a link that others embed."""

import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.e2e.host_page import HostPage
from tests.hosts.conftest import HOST_PYTHON, PROGRAM
from tests.hosts.recipes import filled_for, recipe
from tests.world.server import running_server

pytestmark = [pytest.mark.host, pytest.mark.group("decks")]

SOURCE = f"import torch\n{PROGRAM}"
STOPS = [*(f"1.{phase}" for phase in range(1, 6)), *(f"2.{phase}" for phase in range(2, 6)), "3.1", "3.5"]


def paste(page: Page, site: tuple[Path, str], markup: str) -> None:
    host = HostPage(page, *site, server="")
    host.paste(markup)
    host.wait_for("ready")


def test_when_the_server_dies_in_the_lecture_what_is_on_screen_goes_on(browser: Browser, site) -> None:
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    with ExitStack() as serving_lecture:
        server = serving_lecture.enter_context(running_server())
        filled = filled_for(server.url, SOURCE)
        paste(page, site, recipe("web.md", "html", **filled) + recipe("web.md", "html", 1, **filled))
        page.wait_for_function("document.querySelector('grad-walk').isReady")
    assert page.evaluate("(address) => fetch(address).then(() => true, () => false)", server.url) is False
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    player = page.frame_locator("iframe").locator("grad-walk")
    player.get_by_role("button", name="Next phase").click()
    page.wait_for_function("told('step').at(-1).place === '1.4'")
    page.keyboard.press("Home")
    for stop in STOPS:
        page.keyboard.press("ArrowRight")
        page.wait_for_function("(stop) => told('step').at(-1).place === stop", arg=stop)
    element = page.locator("grad-walk")
    assert element.evaluate(
        "(walk) => walk.stops.every((stop) => (walk.goTo(stop), walk.state.place === stop && walk.state.sentence))"
    )
    assert complaints == []
    page.close()


CONSUMER = """import sys
from micawber.providers import Provider, ProviderRegistry
server, link = sys.argv[1:]
registry = ProviderRegistry()
registry.register(server + r"/t/\\S+", Provider(server + "/oembed"))
said = registry.request(link, maxwidth=640, maxheight=400)
assert (said["type"], said["width"], said["height"]) == ("rich", 640, 400), said
print(registry.parse_text(link))
"""


def test_a_consumer_of_oembed_that_is_not_ours_shows_the_frame(browser: Browser, site, run, tmp_path: Path) -> None:
    page = browser.new_page()
    with running_server() as server:
        link = recipe("lms.md", "text", **filled_for(server.url, SOURCE)).strip()
        (tmp_path / "consumer.py").write_text(CONSUMER)
        done: subprocess.CompletedProcess[str] = run(HOST_PYTHON, "consumer.py", server.url, link, cwd=tmp_path)
        paste(page, site, done.stdout)
        page.wait_for_function("told('step').at(-1).place === '1.3'")
    page.close()
