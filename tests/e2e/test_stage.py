"""The stage: the whole graph, the node at work in view, the equation in its own place, nothing that drifts."""

from typing import Any

import pytest

from gradwalk.examples.catalogue import EXAMPLES
from tests.e2e.conftest import Opener
from tests.e2e.player import STREAM_MS, PlayerPage, fragment

SIZES = [(1280, 800), (1920, 1080), (390, 844)]
TOLERANCE_PX = 1.5

_PLACES = """() => {
    const box = (element) => {
        const { left, top, right, bottom } = element.getBoundingClientRect();
        return { left, top, right, bottom };
    };
    const graph = document.querySelector("[data-part=graph]");
    const shown = [...graph.querySelectorAll("article, .group:not(.open), path.box")];
    const active = graph.querySelector("article[aria-current=step]") ?? graph.querySelector(".group.active");
    const dock = document.querySelector("[data-part=dock]");
    return {
        graph: box(graph), dock: dock === null ? null : box(dock), boxes: shown.map(box),
        active: active === null ? null : box(active),
    };
}"""

# 350 ms are what the camera has; what still moves after them is seen over many frames.
_SETTLED = """async (key) => {
    const moving = () => [...document.querySelectorAll(".world, .token, .stem")];
    const spelled = () => moving().map((each) => each.style.cssText).join();
    const frame = () => new Promise(requestAnimationFrame);
    document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    const start = performance.now();
    const phases = 4 * 350;
    while (performance.now() - start < phases) await frame();
    const seen = new Set();
    for (let count = 0; count < 30; count += 1) {
        seen.add(spelled());
        await frame();
    }
    return seen.size;
}"""


def places(player: PlayerPage) -> Any:
    return player.page.evaluate(_PLACES)


def is_inside(box: Any, frame: Any) -> bool:
    return bool(
        box["left"] >= frame["left"] - TOLERANCE_PX
        and box["right"] <= frame["right"] + TOLERANCE_PX
        and box["top"] >= frame["top"] - TOLERANCE_PX
        and box["bottom"] <= frame["bottom"] + TOLERANCE_PX
    )


def opened(player: PlayerPage, address: str) -> None:
    player.open(address)
    player.wait_for_end_of_run()
    drawn = "[data-part=graph] :is(article, .group, path.box)"
    player.page.wait_for_selector(drawn, state="attached", timeout=STREAM_MS)
    player.page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_example_opens_whole_and_keeps_the_node_at_work_in_view(new_page: Opener, size: tuple[int, int]) -> None:
    width, height = size
    player = new_page(viewport={"width": width, "height": height}, reduced_motion="reduce")
    for example in EXAMPLES:
        player.page.goto("about:blank")
        opened(player, f"example={example.slug}&s=0")
        found = places(player)
        assert found["boxes"], example.slug
        assert all(is_inside(box, found["graph"]) for box in found["boxes"]), f"{example.slug}: not whole"
        for _ in range(6):
            player.page.keyboard.press("Shift+ArrowRight")
            player.page.evaluate("() => new Promise(requestAnimationFrame)")
            found = places(player)
            assert found["active"] is None or is_inside(found["active"], found["graph"]), (
                f"{example.slug}, {player.place()}"
            )
            dock, graph = found["dock"], found["graph"]
            apart = dock["top"] >= graph["bottom"] - TOLERANCE_PX or dock["left"] >= graph["right"] - TOLERANCE_PX
            assert apart, f"{example.slug}: the dock covers the graph"


RNN = """
import torch
torch.manual_seed(0)
w_x, w_h = torch.randn(3, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)
h, loss = torch.zeros(2, 4), 0
for t in range(40):
    h = torch.tanh(torch.randn(2, 3) @ w_x + h @ w_h)
    loss = loss + h.pow(2).mean()
loss.backward()
""".strip()


@pytest.mark.parametrize("address", ["example=attention&s=3.2", "example=mlp-step&s=2.1", fragment(RNN, s="7.2")])
def test_nothing_moves_once_a_phase_has_come(new_page: Opener, address: str) -> None:
    """Of a loop of forty turns the camera drifted for twelve seconds."""
    player = new_page(viewport={"width": 1280, "height": 800})
    opened(player, address)
    for key in ["ArrowRight", "ArrowRight", "ArrowLeft"]:
        assert player.page.evaluate(_SETTLED, key) == 1


def test_turns_of_a_loop_are_one_box_that_tells_where_the_walk_is(new_page: Opener) -> None:
    player = new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    opened(player, fragment(RNN, s="9.3"))
    fold = player.page.locator("[data-part=graph] .group.repeated").first
    text = fold.inner_text()
    assert "40" in text or "39" in text, text
    assert is_inside(places(player)["active"], places(player)["graph"])


def test_the_border_of_the_dock_is_drawn_and_it_closes(new_page: Opener) -> None:
    player = new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    opened(player, "example=used-twice&s=3.3")
    before = places(player)
    divider = player.page.locator(".stage [data-pane-resizer]")
    grip = divider.bounding_box()
    assert grip is not None
    player.page.mouse.move(grip["x"] + 200, grip["y"] + 1)
    player.page.mouse.down()
    player.page.mouse.move(grip["x"] + 200, grip["y"] - 60, steps=4)
    player.page.mouse.up()
    after = places(player)
    assert after["dock"]["top"] == pytest.approx(before["dock"]["top"] - 61, abs=6)
    assert all(is_inside(box, after["graph"]) for box in after["boxes"])
    player.page.locator("[data-part=dock] + .dock-toggle").click()
    closed = places(player)
    assert closed["dock"]["bottom"] - closed["dock"]["top"] < 1
    assert closed["graph"]["bottom"] > before["graph"]["bottom"] + 100
    player.page.locator(".dock-toggle").click()
    assert places(player)["dock"]["bottom"] - places(player)["dock"]["top"] > 100


def test_before_the_first_step_the_order_of_the_engine_is_told(new_page: Opener) -> None:
    """z = a * b with b = a + 4: autograd runs mul, add, and only then the mul of a, which waits for both."""
    player = new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    opened(player, "example=used-twice&s=0")
    order = player.page.locator("[data-part=order] li")
    titles = [" ".join(text.split()[:2]) for text in order.all_inner_texts()]
    assert titles[:3] == ["1 mul", "2 add", "3 mul"]
    assert "2" in order.nth(2).inner_text().removeprefix("3")
    order.nth(2).get_by_role("button").click()
    player.wait_for_place("3.1")
