"""What a player on somebody else's page looks like: its colours, and what it keeps in a low frame."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Opener
from tests.world.shared import SharedServer
from tests.world.sites import keep_program

PROGRAM = """import torch
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = torch.tanh(x)
y.sum().backward()
"""
GROUND = """() => {
  const viewer = document.querySelector("grad-walk").shadowRoot.querySelector(".viewer");
  const [red] = getComputedStyle(viewer).backgroundColor.match(/\\d+/g);
  return red < 128 ? "dark" : "light";
}"""


@pytest.fixture(scope="module")
def kept(server: SharedServer) -> tuple[str, str]:
    return keep_program(server.url, PROGRAM)


def until_ready(page: Page) -> None:
    page.wait_for_function("() => document.querySelector('grad-walk')?.isReady")


@pytest.mark.parametrize("device", ["light", "dark"])
def test_a_frame_has_the_colours_of_the_device(new_page: Opener, server: SharedServer, kept, device: str) -> None:
    page = new_page(color_scheme=device).page
    page.goto(f"{server.url}/embed/{kept[1]}")
    until_ready(page)
    assert page.evaluate(GROUND) == device


@pytest.mark.parametrize(("of_page", "expected"), [("light", "light"), ("dark", "dark"), ("normal", "light")])
def test_an_element_has_the_colours_of_its_page(
    new_page: Opener, site, server: SharedServer, kept, of_page: str, expected: str
) -> None:
    folder, address = site
    (folder / "page.html").write_text(
        f"""<!doctype html><title>t</title><style>:root {{ color-scheme: {of_page} }}</style>
        <grad-walk src="{server.url}/api/traces/{kept[0]}"></grad-walk>
        <script type="module" src="{server.url}/kit/gradwalk.js"></script>"""
    )
    page = new_page(color_scheme="dark" if of_page == "light" else "light").page
    page.goto(f"{address}/page.html")
    until_ready(page)
    assert page.evaluate(GROUND) == expected


@pytest.mark.parametrize(("width", "height"), [(640, 360), (800, 400), (560, 315)])
def test_a_low_frame_shows_sentence_product_and_buttons(
    new_page: Opener, server: SharedServer, kept, width: int, height: int
) -> None:
    page = new_page(viewport={"width": width, "height": height}).page
    page.goto(f"{server.url}/embed/{kept[1]}?s=2.4")
    until_ready(page)
    expect(page.get_by_role("status", name="Narration")).to_be_visible()
    player = page.get_by_role("group", name="Player")
    expect(player.get_by_role("button", name="Next phase")).to_be_in_viewport(ratio=1)
    expect(player.get_by_role("slider", name="Phase")).to_be_in_viewport(ratio=1)
    box = player.bounding_box()
    assert box is not None
    assert box["height"] < 50
    callout = page.get_by_role("region", name="Vector-Jacobian product")
    expect(callout.get_by_role("table").first).to_be_in_viewport(ratio=1)
    node = page.get_by_role("group", name="Autograd graph").locator("[aria-current=step]").first
    # Of a card that is drawn smaller, browsers count the area with a rounding error.
    expect(node).to_be_in_viewport(ratio=0.9999)
    tools = page.get_by_role("group", name="Graph tools")
    assert tools.evaluate("(element) => element.scrollWidth <= element.clientWidth")
