"""The stage: the whole graph, the node at work in view, the equation in its own place, nothing that drifts."""

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from playwright.sync_api import expect

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.exports.exporter import Selection
from gradwalk.exports.walk import write_svg
from gradwalk.notebook.recording import trace
from gradwalk.words.catalogue import say
from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage, fragment

SIZES = {"desktop": (1280, 800), "phone": (390, 844), "projector": (1920, 1080)}
TOLERANCE_PX = 1.5
WHOLE = ("1.3", "2.3", "3.3", "4.3")
_PLACES = """() => {
    const box = (element) => {
        const { left, top, right, bottom } = element.getBoundingClientRect();
        return { left, top, right, bottom };
    };
    const shownIn = (selector) =>
        [...document.querySelectorAll(selector)].filter((each) => each.getClientRects().length > 0).map(box);
    const graph = document.querySelector("[data-part=graph]");
    const shown = [...graph.querySelectorAll("article, .group:not(.open), path.box")];
    const code = document.querySelector(".cm-scroller");
    const active = graph.querySelector("article[aria-current=step]") ?? graph.querySelector(".group.active");
    return {
        graph: box(graph), dock: box(document.querySelector("[data-part=dock]")), boxes: shown.map(box),
        active: active === null ? null : box(active), seeds: [...graph.querySelectorAll(".token.seed")].map(box),
        blank: graph.querySelectorAll("path.box").length, isCodeCut: code.scrollWidth > code.clientWidth + 1,
        tables: shownIn("[data-part=equation] table"), rows: shownIn("[data-part=dock] .foot"),
        buttons: shownIn("[data-part=dock] .foot button").map(({ bottom }) => bottom),
        cut: [...graph.querySelectorAll("text")].map((line) => line.textContent).filter((line) => line.endsWith("…")),
    };
}"""
# The camera has come once nothing has moved for ten frames; then nothing moves any more.
_MOVES = """async (key) => {
    const frames = async (count) => {
        for (; count > 0; count -= 1) await new Promise(requestAnimationFrame);
    };
    let moves = 0;
    const observer = new MutationObserver(() => { moves += 1; });
    observer.observe(document.querySelector(".world"), { attributes: true, childList: true, subtree: true });
    document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    do {
        moves = 0;
        await frames(10);
    } while (moves > 0);
    await frames(30);
    return moves;
}"""
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


def is_inside(box: Any, frame: Any) -> bool:
    begins = all(box[side] >= frame[side] - TOLERANCE_PX for side in ("left", "top"))
    return begins and all(box[side] <= frame[side] + TOLERANCE_PX for side in ("right", "bottom"))


def opened(player: PlayerPage, address: str) -> None:
    player.open(address)
    drawn = "[data-part=graph] :is(article, .group, path.box)"
    player.page.wait_for_selector(drawn, state="attached")
    player.wait_for_end_of_run()


def faults(found: Any) -> list[str]:
    """What is out of view or covered, of what `_PLACES` found."""
    dock, graph = found["dock"], found["graph"]
    apart = dock["top"] >= graph["bottom"] - TOLERANCE_PX or dock["left"] >= graph["right"] - TOLERANCE_PX
    seen = found["active"] is None or is_inside(found["active"], graph)
    return [*([] if apart else ["the dock covers the graph"]), *([] if seen else ["the active node is out of view"])]


def test_nothing_moves_once_a_phase_has_come(new_page: Opener) -> None:
    """Of a loop of forty turns the camera drifted for twelve seconds."""
    player = new_page(reduced_motion="no-preference")
    opened(player, fragment(RNN, s="7.2"))
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        assert player.page.evaluate(_MOVES, key) == 0
    fold = player.page.locator("[data-part=graph] .group.repeated").first
    assert re.search("40|39", fold.inner_text())
    found = player.page.evaluate(_PLACES)
    assert (faults(found), found["cut"]) == ([], [])
    player.named("button", "player-open-all").click()
    overview = player.named("button", "player-map")
    world = player.page.locator(".world")
    for act in (lambda: overview.click(position={"x": 10, "y": 20}), lambda: overview.press("Enter")):
        before = world.get_attribute("style") or ""
        act()
        expect(world).not_to_have_attribute("style", before)


@pytest.mark.parametrize(("width", "side", "toward"), [(1440, "top", (0, -60)), (1920, "left", (-60, 0))])
def test_the_border_of_the_dock_is_drawn_moved_by_keys_and_kept(new_page, width, side, toward):
    player = new_page(viewport={"width": width, "height": 900})
    opened(player, "example=used-twice&s=3.3")
    before = player.page.evaluate(_PLACES)
    resizer = player.page.locator(".stage [data-pane-resizer]")
    grip = resizer.bounding_box()
    x, y = grip["x"] + min(200, grip["width"] / 2), grip["y"] + min(200, grip["height"] / 2)
    player.page.mouse.move(x, y)
    player.page.mouse.down()
    player.page.mouse.move(x + toward[0], y + toward[1], steps=4)
    player.page.mouse.up()
    after = player.page.evaluate(_PLACES)
    assert after["dock"][side] == pytest.approx(before["dock"][side] - 60, abs=6)
    assert all(is_inside(box, after["graph"]) for box in after["boxes"])
    resizer.focus()
    player.press("ArrowUp" if side == "top" else "ArrowLeft")
    by_keys = player.page.evaluate(_PLACES)["dock"][side]
    assert by_keys < after["dock"][side] - 20
    player.wait_for_place("3.3")
    # Another program has the same border, on another day as well.
    opened(player, "example=x-times-x&s=1.3")
    assert player.page.evaluate(_PLACES)["dock"][side] == pytest.approx(by_keys, abs=TOLERANCE_PX)


# Walks to the end: each stop with its boxes, and whatever in the dock is higher than its place.
_WALK = """async () => {
    const frame = () => new Promise(requestAnimationFrame);
    const stops = new Map();
    for (;;) {
        const { place } = document.querySelector("[data-place]").dataset;
        if (stops.has(place)) return [...stops];
        const dock = document.querySelector("[data-part=dock]");
        const hidden = [...dock.querySelectorAll(":not(.visually-hidden)")]
            .filter((each) => each.clientHeight > 0 && each.scrollHeight > each.clientHeight + 1)
            .filter((each) => getComputedStyle(each).overflowY !== "visible")
            .map((each) => each.className);
        stops.set(place, { ...(PLACES)(), hidden });
        document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
        await frame();
        await frame();
    }
}""".replace("PLACES", _PLACES)
SOFTMAX = """x = torch.tensor([2.0, 1.0, 0.0], requires_grad=True)
torch.softmax(x, 0).backward(torch.tensor([1.0, 0.5, -2.0]))
"""
LAYER_NORM = """x = torch.arange(8.0).reshape(2, 4).requires_grad_()
w = torch.ones(4, requires_grad=True)
F.layer_norm(x.sin(), (4,), w).pow(2).sum().backward()
"""
CROSS_ENTROPY = """x = torch.tensor([[1., 2., 3.]])
w = torch.ones(3, 2, requires_grad=True)
F.cross_entropy(x @ w, torch.tensor([1])).backward()
"""
LONG_RULES = {"softmax": SOFTMAX, "layer norm": LAYER_NORM, "cross entropy": CROSS_ENTROPY}
STANDING = ("used-twice", "attention")
"""Read whole, so that no camera follows."""
TOLD = ("attention", "batch", "map")
"""No line on a card is cut."""
WIDE = ("used-twice", "linear-function", "returned-jacobian", "wrong-shape", "layer norm", "cross entropy")
ANYWHERE = (*TOLD, "composite", "mlp-step", "whole-jacobian")
WALKS = {"desktop": (*ANYWHERE, *WIDE), "phone": (*ANYWHERE, "softmax"), "projector": ("attention",)}
EVERY = (*(each.slug for each in EXAMPLES), *LONG_RULES)


@pytest.mark.parametrize(
    ("size", "programs"),
    [*WALKS.items(), *(pytest.param(size, EVERY, marks=pytest.mark.soak, id=f"every-{size}") for size in SIZES)],
)
def test_a_graph_opens_whole_and_nothing_is_covered_hidden_or_moved_to_the_last_stop(new_page, size, programs):
    """Of tables that have no room a part is shown; the buttons are a row of which nothing is covered. Nothing in the
    dock is under the fold on an ordinary screen, whose borders stand still; so do cards.
    """
    width, height = SIZES[size]
    player = new_page(viewport={"width": width, "height": height})
    equations = 0
    for name in programs:
        opened(player, f"{fragment(LONG_RULES[name]) if name in LONG_RULES else f'example={name}'}&s=0")
        player.page.evaluate("document.fonts.ready")
        stops = player.page.evaluate(_WALK)
        first = stops[0][1]
        assert len(stops) > 1
        assert (first["blank"], first["isCodeCut"]) == (0, False), name
        assert first["boxes"], name
        assert all(is_inside(box, first["graph"]) for box in [*first["boxes"], *first["seeds"]]), f"{name}: not whole"
        still = ("graph", "dock", "boxes") if name in STANDING else ("graph", "dock")
        for place, now in stops:
            where = f"{name} at {place}"
            assert faults(now) == [], where
            # In larger graphs, and on the way to a step, lines may be cut.
            assert now["cut"] == [] or name not in TOLD or place not in WHOLE, where
            assert all(is_inside(box, now["dock"]) for box in [*now["tables"], *now["rows"]]), where
            assert all(table["bottom"] <= row["top"] for table in now["tables"] for row in now["rows"]), where
            assert max(now["buttons"], default=0) <= now["dock"]["bottom"], where
            equations += bool(now["tables"] and len(now["buttons"]) > 3)
            if size == "desktop":
                assert now["hidden"] == [], where
                assert [now[key] for key in still] == [first[key] for key in still], where
    assert equations > len(programs)


def card(player: PlayerPage, title: str) -> list[str]:
    """The lines of a card, as they are read."""
    found = player.part("graph").get_by_role("article").filter(has=player.page.get_by_text(title, exact=True))
    return [" ".join(line.split()) for line in found.inner_text().splitlines() if line.strip()]


def test_values_on_cards_have_names_and_what_waits_says_how_much_has_come(player: PlayerPage) -> None:
    opened(player, "example=map&s=0")
    assert "v" not in card(player, "F"), "it stands outside until the pass begins"
    opened(player, "example=map&s=1.3")
    assert card(player, "F") == ["F", "y [4, 6, 9]", "v [0, 1, 0]"]
    assert card(player, "p") == ["p", "leaf", "value [2, 3]", ".grad not computed"]
    # z = a * b sent 10 to a, which b uses as well.
    opened(player, "example=used-twice&s=1.5")
    assert card(player, "a 6") == ["mul", "1 of 2 arrived", "a 6", "v 10"]
    assert player.page.evaluate(_PLACES)["cut"] == []
    # Those in the queue: `scene.test.ts`.
    expect(player.part("queue")).to_have_text(re.compile("mul.*1.*1.*add.*1.*1.*mul.*1.*2", re.DOTALL))
    # Autograd runs mul, add, and only then the mul of a, which waits for both.
    player.button("First step").click()
    order = player.part("order").get_by_role("listitem")
    order.nth(2).wait_for()
    assert [text.split()[:2] for text in order.all_inner_texts()[:3]] == [["1", "mul"], ["2", "add"], ["3", "mul"]]
    order.nth(2).get_by_role("button").click()
    player.wait_for_place("3.1")
    assert card(player, "a 6") == ["mul", "a 6", "v 16"]
    player.show_panel("page-steps")
    expect(player.rows.nth(2)).to_contain_text(re.compile(r"10\s*\+\s*6\s*=\s*16"))


def test_of_many_contributions_the_largest_are_written_out(player: PlayerPage) -> None:
    loop = "w = torch.tensor(2.0, requires_grad=True)\nL = 0\nfor k in range(60):\n    L = L + w * k\nL.backward()"
    opened(player, fragment(loop, s="1.3"))
    player.button("Last step").click()
    numbers = player.part("summands").locator("text[style*='--mono']")
    expect(numbers).to_have_text(["59", "58", "57", str(sum(range(60)))])
    more = player.part("summands").get_by_role("button", name=say("player-summands-more", count=57))
    more.click()
    expect(more).to_have_attribute("aria-expanded", "true")
    expect(player.part("summands")).to_contain_text(say("player-summand-sizes"))


# The scale, and what of the graph is at a place on screen.
_AT = """([x, y]) => {
    const { a, e, f } = new DOMMatrix(getComputedStyle(document.querySelector(".world")).transform);
    const { left, top } = document.querySelector("[data-part=graph]").getBoundingClientRect();
    return [a, (x - left - e) / a, (y - top - f) / a];
}"""


def test_the_graph_is_dragged_and_zoomed_where_the_pointer_or_two_fingers_are(player: PlayerPage) -> None:
    opened(player, "example=map&s=1.3")
    graph, page = player.part("graph"), player.page
    card = graph.get_by_role("article").first
    frame, box = graph.bounding_box() or {}, card.bounding_box() or {}
    centre = frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2
    grabbed, dropped = (box["x"] + 20, box["y"] + 10), (box["x"] + 70, box["y"] + 40)
    before = page.evaluate(_AT, grabbed)
    page.mouse.move(*grabbed)
    page.mouse.down()
    page.mouse.move(*dropped, steps=4)
    page.mouse.up()
    assert page.evaluate(_AT, dropped) == pytest.approx(before, abs=0.1)
    expect(card.get_by_role("button")).to_have_attribute("aria-pressed", "false")
    scale, *middle = page.evaluate(_AT, centre)
    page.mouse.move(*centre)
    page.mouse.wheel(0, -250)
    page.wait_for_function(f"(centre) => ({_AT})(centre)[0] > {1.3 * scale}", arg=centre)
    zoomed, *still = page.evaluate(_AT, centre)
    assert still == pytest.approx(middle, abs=0.5)
    touch = page.context.new_cdp_session(page)
    for kind, apart in (("Start", 40), ("Move", 50), ("Move", 60)):
        fingers = [{"x": centre[0] + side * apart / 2, "y": centre[1], "id": side + 1} for side in (-1, 1)]
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": fingers})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    wider, *still = page.evaluate(_AT, centre)
    assert wider == pytest.approx(1.5 * zoomed, rel=0.05)
    assert still == pytest.approx(middle, abs=10)


@pytest.mark.parametrize("slug", ["used-twice", "batch"])
def test_a_picture_in_a_file_says_what_the_page_shows(new_page: Opener, slug: str) -> None:
    """Every line on a card, every token and every cell of the equation, at three stops."""
    player = new_page(viewport={"width": 1280, "height": 1000})
    (example,) = [each for each in EXAMPLES if each.slug == slug]
    document = trace(example.source).document
    for step, phase in ((1, 3), (2, 3), (2, 5)):
        opened(player, f"example={slug}&s={step}.{phase}")
        texts = player.part("graph").locator("text, .token text").all_text_contents()
        cells = player.page.locator("[data-part=equation] td").all_inner_texts()
        drawing = ET.fromstring(write_svg(document, Selection(step, phase)))
        drawn = ["".join(each.itertext()) for each in drawing.iter("{http://www.w3.org/2000/svg}text")]
        missing = [text for text in (*texts, *cells) if text.strip() not in drawn]
        assert missing == [], f"{step}.{phase}"
        assert len(texts) > 8
