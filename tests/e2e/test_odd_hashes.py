"""A thousand addresses that nobody wrote, one after another in the same page and the same frame."""

import json
import random
import re
import urllib.parse

import pytest
from playwright.sync_api import Frame, Page, expect

from gradwalk.examples.catalogue import EXAMPLES
from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage, fragment
from tests.world.server import ELSEWHERE
from tests.world.shared import SharedServer
from tests.world.sites import keep_program

COUNT = 1000
KEYS = ["v", "c", "i", "g", "s", "seed", "theme", "digits", "font", "projector", "predict", "compare", "byhand", "view"]
FRAME_KEYS = [
    "s",
    "step",
    "phase",
    "steps",
    "theme",
    "digits",
    "hide",
    "keys",
    "inputs",
    "deck",
    "heading",
    "projector",
]
TEXTS = [
    "",
    "-1",
    "1e999",
    "NaN",
    "null",
    "{",
    "[" * 300,
    '{"__proto__":1}',
    "<img src=x onerror=alert(1)>",
    "7.9",
    "f0.9",
]
TEXTS += [
    "%",
    "%00",
    "%F0%9F",
    "\u202e",
    "0" * 400,
    "javascript:alert(1)",
    "eNo",
    "AAAA",
    "x" * 3000,
    "pink",
    "on,off,,",
    "1-",
    "9-1",
]
# Each is answered before the next comes: the event has been heard, and what it began has had its turn.
WALK = """async (hashes) => {
  let heard = 0;
  addEventListener("hashchange", () => { heard += 1 });
  for (const hash of hashes) {
    location.hash = hash;
    await new Promise((resolve) => setTimeout(resolve));
  }
  return heard;
}"""


def odd_hashes(keys: list[str], start: str) -> list[str]:
    some = random.Random(6)

    def text() -> str:
        if some.random() < 0.6:
            return some.choice(TEXTS)
        return "".join(chr(some.choice([some.randrange(32, 127), some.randrange(1, 0x2FFF)])) for _ in range(12))

    hashes = []
    for number in range(COUNT):
        pairs = [(some.choice([*keys, text()]), text()) for _ in range(some.randrange(1, 6))]
        spelled = urllib.parse.urlencode(pairs) if some.random() < 0.7 else "&".join("=".join(pair) for pair in pairs)
        # The first key makes each another address than the one before.
        hashes.append(f"odd={number}&{start}{spelled}")
    return hashes


def walk(where: Page | Frame, hashes: list[str]) -> None:
    # a page that waits for what it asked of a server may hear two at once
    assert where.evaluate(WALK, hashes) >= COUNT * 0.99


def test_the_page_says_that_a_link_is_damaged_and_works_afterwards(new_page: Opener) -> None:
    player = new_page()
    # where programs from links do not run by themselves
    player.server = player.server.replace("127.0.0.1", ELSEWHERE)
    player.open(fragment("x * y"))
    ran: set[str] = set()
    player.page.on(
        "request", lambda request: ran.add(request.post_data_json["source"]) if request.method == "POST" else None
    )
    player.page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    walk(player.page, odd_hashes(KEYS, "code=x*y&"))
    player.page.evaluate("location.hash = 'code=x*y&theme=pink'")
    expect(player.page.get_by_text(re.compile("This link is damaged: the theme could not be read"))).to_be_visible()
    assert player.page.locator("img[src='x']").count() == 0
    # A program that cannot be read gives way to the first example, as an empty address does.
    assert ran <= {EXAMPLES[0].source}
    _expect_a_player_that_works(player)


def _expect_a_player_that_works(player: PlayerPage) -> None:
    player.page.evaluate("(hash) => { location.hash = hash }", fragment("x * y", i={"x": 2.0, "y": 3.0}, s="1.3"))
    expect(player.page.get_by_text("This link brought a program")).to_be_visible()
    player.button("Run").click()
    player.wait_for_steps(3)
    player.wait_for_place("1.3")
    assert player.cells("v times J") == [[3.0]]
    player.button("Next phase").click()
    player.wait_for_place("1.4")


def test_a_frame_says_that_its_address_is_damaged_and_walks_on(new_page: Opener, server: SharedServer) -> None:
    source = "import torch\nx = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\n"
    page = new_page().page
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.goto(f"{server.url}/embed/{keep_program(server.url, source)[1]}?s=1.3")
    page.wait_for_function("() => document.querySelector('grad-walk').isReady")
    walk(page, odd_hashes(FRAME_KEYS, ""))
    page.evaluate("location.hash = 'theme=pink'")
    expect(page.get_by_role("alert")).to_contain_text("theme could not be read")
    page.evaluate("(hash) => { location.hash = hash }", "hide=&keys=on&steps=&theme=light&projector=off&s=1.2")
    page.wait_for_function("() => document.querySelector('grad-walk').state.place === '1.2'")
    page.get_by_role("button", name="Next phase").click()
    assert page.evaluate("document.querySelector('grad-walk').state.place") == "1.3"
    assert page.locator("img[src='x']").count() == 0
    assert json.loads(page.evaluate("JSON.stringify(document.cookie)")) == ""
