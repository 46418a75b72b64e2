"""The page, the frame, an element and a single file in Firefox; Chromium's share is in tests/e2e."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import torch

from tests.e2e.player import number
from tests.hosts.firefox import ARROW_RIGHT, PAGE_DOWN, Firefox
from tests.hosts.recipes import filled_for, recipe
from tests.world.shared import SharedServer
from tests.world.sites import LISTEN, serving

pytestmark = pytest.mark.host

SOURCE = """import torch
x = torch.tensor([2.0, 3.0], requires_grad=True)
y = x * x
y.backward(torch.tensor([1.0, 0.5]))
"""
PLAYER = "document.querySelector('grad-walk')"
READY = f"{PLAYER}?.isReady"
CELLS = f"""return [...{PLAYER}.shadowRoot.querySelector(`section table[aria-label='${{arguments[0]}}']`).rows]
  .map((row) => [...row.cells].map((cell) => cell.innerText))"""


@pytest.fixture(scope="module")
def filled(server: SharedServer) -> dict[str, str]:
    return filled_for(server.url, SOURCE)


@pytest.fixture
def paste(tmp_path: Path, firefox: Firefox) -> Iterator:
    """Puts markup on a page of an origin of its own."""
    with serving(tmp_path) as address:

        def paste(markup: str) -> None:
            (tmp_path / "page.html").write_text(LISTEN + markup)
            firefox.open(f"{address}/page.html")

        yield paste


def expect_torchs_numbers(firefox: Firefox) -> None:
    """v, the local Jacobian and their product at step 1, which is `x * x` as a function of its first operand."""
    x, v = torch.tensor([2.0, 3.0]), torch.tensor([1.0, 0.5])
    jacobian = torch.autograd.functional.jacobian(lambda first: first * x, x)
    for table, expected in (
        ("v", [v.tolist()]),
        ("Local Jacobian", jacobian.tolist()),
        ("v times J", [(v @ jacobian).tolist()]),
    ):
        assert [[number(text) for text in row] for row in firefox.run(CELLS, table)] == expected, table


@pytest.mark.parametrize("locked", [False, True])
def test_a_frame_shows_torchs_numbers_walks_by_keys_and_messages_and_gives_the_keys_back(
    firefox: Firefox, filled: dict[str, str], paste, locked: bool
) -> None:
    frame = recipe("web.md", "html", **filled).replace("?s=1.3", "?s=1.3&amp;view=jacobian&amp;deck=reveal")
    paste(frame.replace("<iframe", '<iframe sandbox="allow-scripts"') if locked else frame)
    firefox.wait_until("told('ready').length === 1")
    assert firefox.run("return told('ready')[0].stops.length") == 8
    with firefox.frame():
        firefox.wait_until(f"{PLAYER}.state.place === '1.3'")
        assert (firefox.run("return origin") == "null") == locked
        expect_torchs_numbers(firefox)
        firefox.click(f"{PLAYER}.shadowRoot.querySelector(\"button[aria-label='Next phase']\")")
        firefox.press(ARROW_RIGHT)
    firefox.wait_until("told('step').at(-1).place === '1.5'")
    firefox.run("tell({type: 'goto', step: 2, phase: 4})")
    firefox.wait_until("told('step').at(-1).place === '2.1'")
    with firefox.frame():
        # A leaf at which two contributions add up, and land.
        firefox.press(PAGE_DOWN)
        firefox.press(PAGE_DOWN)
    firefox.wait_until("told('edge').length === 1")
    assert firefox.run("return told('edge')[0].side") == "end"
    assert firefox.run("return heard.filter((each) => typeof each === 'string')") == ['{"method":"next","args":[]}']
    firefox.run("tell({type: 'goto', step: 'x'})")
    firefox.wait_until("told('error').length === 1")
    assert firefox.run("return document.cookie") == ""


def test_files_on_any_web_space_and_a_single_file_are_enough(firefox: Firefox, lesson: Path, run, paste) -> None:
    """Nothing but them is fetched, and every step can be reached."""
    run("bash", "-ec", recipe("web.md", "sh"), cwd=lesson)
    paste(recipe("web.md", "html", 2))
    firefox.wait_until(READY)
    assert firefox.run(f"return {PLAYER}.state.place") == "1.3"
    fetched = "return performance.getEntriesByType('resource').map(({name}) => name)"
    assert {urlsplit(name).netloc for name in firefox.run(fetched)} == {firefox.run("return location.host")}
    run("bash", "-ec", recipe("web.md", "sh", 1), cwd=lesson)
    firefox.open((lesson / "lesson.html").as_uri())
    firefox.wait_until(READY)
    seen = firefox.run(
        f"const element = {PLAYER};"
        "return element.stops.map((stop) => (element.goTo(stop), element.state.sentence !== '' && element.state.place))"
    )
    assert seen == firefox.run(f"return {PLAYER}.stops")
    assert len(seen) == 12
    assert firefox.run(fetched) == []


def test_the_page_fits_walks_by_keys_and_draws_its_formulas(firefox: Firefox, server: SharedServer) -> None:
    firefox.open(f"{server.url}/#example=vanishing&s=1.3")
    firefox.wait_until("document.querySelectorAll('section math').length >= 4")
    heights = firefox.run(
        "return [...document.querySelectorAll('section math')].map((each) => each.getBoundingClientRect().height)"
    )
    assert min(heights) > 8
    assert firefox.run("return document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    firefox.press(ARROW_RIGHT)
    firefox.wait_until("new URLSearchParams(location.hash.slice(1)).get('s') === '1.4'")
