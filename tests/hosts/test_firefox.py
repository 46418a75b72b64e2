"""The main story in Firefox: the same numbers, keys, names and looks as in Chromium."""

import json
from pathlib import Path

import pytest
import torch

from tests.e2e.player import number
from tests.exports.readers import ink_of
from tests.hosts.firefox import ARROW_RIGHT, Firefox
from tests.world.browser import axe
from tests.world.shared import SharedServer

pytestmark = [pytest.mark.host, pytest.mark.group("firefox")]

PRODUCT = "[aria-label='Vector-Jacobian product']"


def open_at(firefox: Firefox, server: SharedServer, slug: str, place: str, **keys: str) -> None:
    firefox.open("about:blank")
    more = "".join(f"&{key}={value}" for key, value in keys.items())
    firefox.open(f"{server.url}/#example={slug}&s={place}{more}")
    at_place(firefox, place)
    firefox.wait_until(f'document.querySelector("{PRODUCT}")')


def at_place(firefox: Firefox, place: str) -> None:
    firefox.wait_until("new URLSearchParams(location.hash.slice(1)).get('s') === arguments[0]", place)


def cells(firefox: Firefox, table: str) -> list[list[float]]:
    rows = firefox.run(
        "return [...document.querySelector(`section table[aria-label='${arguments[0]}']`).rows]"
        ".map((row) => [...row.cells].map((cell) => cell.innerText))",
        table,
    )
    return [[number(text) for text in row] for row in rows]


def test_buttons_keys_and_slider_walk(firefox: Firefox, server: SharedServer) -> None:
    open_at(firefox, server, "used-twice", "3.1")
    firefox.click("button[aria-label='Next phase']")
    at_place(firefox, "3.2")
    firefox.type("button[aria-label='Next phase']", ARROW_RIGHT)
    at_place(firefox, "3.3")
    firefox.type("input[aria-label=Step]", ARROW_RIGHT)
    at_place(firefox, "4.5")
    sentence = firefox.run("return document.querySelector('[aria-label=Narration]').innerText")
    firefox.click("button[aria-label='Previous step']")
    at_place(firefox, "3.3")
    firefox.click("button[aria-label='Next step']")
    at_place(firefox, "4.5")
    firefox.wait_until("document.querySelector('[aria-label=Narration]').innerText === arguments[0]", sentence)


def test_an_input_moves_the_numbers(firefox: Firefox, server: SharedServer) -> None:
    open_at(firefox, server, "why-grad-output", "4.3")
    firefox.type("input[type=range][aria-label=w]", ARROW_RIGHT)
    w = torch.tensor(float(firefox.run("return document.querySelector('input[type=range][aria-label=w]').value")))
    assert w.item() > 3
    slope = 2 * (w * 2 + 1)
    firefox.wait_until(
        "document.querySelector(`section table[aria-label='v times J']`).innerText.trim() === arguments[0]",
        f"{(slope * 2).item():.4g}",
    )
    assert cells(firefox, "v") == [[pytest.approx(slope.item(), rel=1e-3)]]


@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (1440, "dark"), (500, "light"), (1920, "contrast")])
def test_nothing_sticks_out_and_axe_finds_nothing(
    firefox: Firefox, server: SharedServer, width: int, theme: str, tmp_path: Path
) -> None:
    firefox.resize(width, 900)
    open_at(firefox, server, "map", "1.3", theme=theme)
    assert firefox.run("return document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    findings = firefox.run(axe())
    assert findings == [], json.dumps(findings, indent=1)
    picture = tmp_path / "firefox.png"
    picture.write_bytes(firefox.picture())
    assert ink_of(picture) > 0.01


def test_every_formula_is_drawn(firefox: Firefox, server: SharedServer) -> None:
    open_at(firefox, server, "vanishing", "1.3")
    heights = firefox.run(
        "return [...document.querySelectorAll('section math')].map((each) => each.getBoundingClientRect().height)"
    )
    assert len(heights) >= 4
    assert min(heights) > 8
