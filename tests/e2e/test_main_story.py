"""The road end to end: a person types PyTorch and steps through its real backward pass."""

from typing import Any

import pytest
import torch
from playwright.sync_api import expect

from tests.e2e.conftest import Opener
from tests.e2e.player import STREAM_MS, PlayerPage, fragment

MAP = """
import torch

class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, p):
        ctx.save_for_backward(p)
        x, y = p
        return torch.stack([x * x, x * y, y * y])

    @staticmethod
    def backward(ctx, v):
        (p,) = ctx.saved_tensors
        x, y = p
        zero = torch.zeros_like(x)
        J = torch.stack([2 * x, zero, y, x, zero, 2 * y]).reshape(3, 2)
        return v @ J

p = torch.tensor([2.0, 3.0], requires_grad=True)
y = F.apply(p)
""".strip()

MAP_THEN_SINE = MAP + "\nz = y.sin()\nz.backward(torch.tensor([0.5, -1.0, 2.0]))\n"


def the_map(p: torch.Tensor) -> torch.Tensor:
    x, y = p
    return torch.stack([x * x, x * y, y * y])


STOPS = ("1.1", "1.2", "1.3", "1.4", "1.5", "2.2", "2.3", "2.4", "2.5", "3.5")
"""Of the program above: one contribution that landed already is not collected again, and a leaf only lands."""


def walk(player: PlayerPage) -> None:
    """From the start to the end, stop by stop, each with a sentence of its own."""
    player.button("First step").click()
    player.wait_for_place("0")
    told = player.narration.inner_text()
    for place in STOPS:
        player.button("Next phase").click()
        player.wait_for_place(place)
        expect(player.narration).not_to_have_text(told)
        expect(player.narration).not_to_be_empty()
        told = player.narration.inner_text()


@pytest.fixture
def typed(player: PlayerPage) -> PlayerPage:
    player.open()
    player.wait_for_steps(2)
    player.type_program(MAP_THEN_SINE)
    expect(player.page.get_by_text("Edited since the run")).to_be_visible()
    player.button("Run").click()
    player.wait_for_steps(3)
    return player


def test_v_and_jacobian_and_product_are_torchs_own(typed: PlayerPage) -> None:
    p = torch.tensor([2.0, 3.0], requires_grad=True)
    y = the_map(p).detach().requires_grad_()
    (v,) = torch.autograd.grad(y.sin(), y, torch.tensor([0.5, -1.0, 2.0]))
    jacobian = torch.autograd.functional.jacobian(the_map, p)
    (product,) = torch.autograd.grad(the_map(p), p, v)

    walk(typed)
    typed.button("Previous step").click()
    typed.wait_for_place("2.3")
    typed.slider("Phase").focus()
    typed.page.keyboard.press("Home")
    typed.wait_for_place("2.2")
    typed.button("Next phase").click()
    typed.wait_for_place("2.3")

    def close(table: str, expected: torch.Tensor) -> None:
        assert typed.cells(table) == [pytest.approx(row, rel=1e-3, abs=1e-6) for row in expected.tolist()]

    close("v", v.reshape(1, 3))
    close("Local Jacobian", jacobian)
    close("v times J", product.reshape(1, 2))


def test_first_visit_opens_an_example_that_is_already_running(player: PlayerPage) -> None:
    player.open()
    player.wait_for_steps(2)
    expect(player.program).to_contain_text("F.apply(p)")
    expect(player.product).to_be_visible()
    assert player.cells("v") == [[0.0, 1.0, 0.0]]
    assert player.cells("Local Jacobian") == [[4.0, 0.0], [3.0, 2.0], [0.0, 6.0]]
    assert player.cells("v times J") == [[3.0, 2.0]]


def test_external_gradient_picks_rows_of_the_jacobian(player: PlayerPage) -> None:
    player.open(fragment(MAP, s="1.3"))
    player.wait_for_steps(2)
    for row, expected in enumerate([[4.0, 0.0], [3.0, 2.0], [0.0, 6.0]], start=1):
        player.button(f"one-hot row {row}").click()
        expect(player.page.get_by_role("textbox", name="External gradient")).to_have_value(
            str([int(place == row) for place in (1, 2, 3)])
        )
        expect(player.product.get_by_role("table", name="v times J")).to_have_text(spelled(expected))
    player.page.get_by_role("textbox", name="External gradient").fill("[0.2, 0, 0.8]")
    expect(player.product.get_by_role("table", name="v times J")).to_have_text(spelled([0.8, 4.8]))
    player.wait_for_place("1.3")


def spelled(numbers: list[float]) -> Any:
    return "".join(f"{number:g}" for number in numbers)


def test_moving_a_slider_changes_the_numbers_and_keeps_the_step(player: PlayerPage) -> None:
    player.open(fragment("sin(x*y) + x", i={"x": 2.0, "y": 3.0}, s="3.3"))
    expect(player.slider("x")).to_have_value("2")
    player.product.wait_for()
    player.slider("x").focus()
    player.page.keyboard.press("ArrowRight")
    expect(player.slider("x")).to_have_value("2.05")

    q = torch.tensor(2.05 * 3.0, requires_grad=True)
    (v,) = torch.autograd.grad(q.sin(), q)
    expect(player.product.get_by_role("table", name="v", exact=True)).to_contain_text(f"{v.item():.4g}")
    player.wait_for_place("3.3")


def test_an_expression_follows_the_typing(player: PlayerPage) -> None:
    player.open(fragment("x * y", i={"x": 2.0, "y": 3.0}))
    expect(player.slider("x")).to_be_visible()
    player.type_program("x * y * w")
    expect(player.slider("w")).to_be_visible()
    expect(player.slider("x")).to_have_value("2")


def test_the_first_step_can_be_read_before_the_last_has_arrived(player: PlayerPage) -> None:
    program = """
import torch
x = torch.tensor(2.0, requires_grad=True)
(x * x).backward()
m = torch.randn(300, 300)
for _ in range(1000):
    m = torch.tanh(m @ m)
(x * x * x).backward()
"""
    player.open(fragment("x * y"))
    player.wait_for_steps(3)
    # The page stands already: its own loading must not take as long as the matrices between the two passes.
    player.page.evaluate("hash => { location.hash = hash }", fragment(program.strip(), s="1.3"))
    # True on some frame only if the first pass is on screen while the second has not arrived.
    player.page.wait_for_function(
        """() => document.querySelectorAll("table[aria-label=Steps] tbody th").length === 2
            && document.querySelector("table[aria-label='v times J']")""",
        timeout=STREAM_MS,
    )
    assert player.cells("v times J") == [[2.0]]
    player.wait_for_steps(5)


def test_a_link_opens_where_it_says(new_page: Opener) -> None:
    by_hand, by_link = new_page(), new_page()
    by_hand.open(fragment(MAP_THEN_SINE))
    by_hand.wait_for_steps(3)
    for place in STOPS[STOPS.index("1.2") : STOPS.index("2.3") + 1]:
        by_hand.button("Next phase").click()
        by_hand.wait_for_place(place)
    by_link.open(by_hand.page.url.split("#")[1])
    by_link.wait_for_steps(3)
    by_link.wait_for_place("2.3")
    # By hand the product comes about first.
    expect(by_hand.narration).to_have_text(by_link.narration.inner_text())
    for table in ("v", "Local Jacobian", "v times J"):
        assert by_link.cells(table) == by_hand.cells(table)


def test_a_damaged_link_says_so_and_still_opens(player: PlayerPage) -> None:
    player.open("v=1&code=x*y&s=7.9&i=%7B")
    expect(player.page.get_by_role("alert").filter(has_text="This link is damaged")).to_be_visible()
    player.wait_for_steps(3)


def test_share_copies_a_link_that_opens_the_same(new_page: Opener) -> None:
    player = new_page(permissions=["clipboard-read", "clipboard-write"])
    player.open(fragment(MAP, g=[1, 2, 3], s="1.2"))
    player.wait_for_steps(2)
    player.button("Share").click()
    expect(player.page.get_by_text("Link copied")).to_be_visible()
    link = player.page.evaluate("navigator.clipboard.readText()")
    other = new_page()
    other.open(link.split("#")[1])
    other.wait_for_steps(2)
    other.wait_for_place("1.2")
    expect(other.page.get_by_role("textbox", name="External gradient")).to_have_value("[1, 2, 3]")
