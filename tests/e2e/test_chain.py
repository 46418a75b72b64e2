"""The chain as an object: its Jacobians, its product and its sum over paths beside what torch computes."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Locator, expect
from torch.autograd import functional

from gradwalk.examples.catalogue import program_text
from tests.e2e.player import STREAM_MS, PlayerPage, fragment, number
from tests.e2e.test_appearance import axe_findings

DIGITS = 9
CLOSE = 1e-6
SMALL_TABLE = 0.05
MOST_COLUMNS = 12

LINEAR_RELU = """\
import torch
from torch import nn

torch.manual_seed(0)
x = torch.tensor([[1.0, -2.0, 3.0]], requires_grad=True)
layer = nn.Linear(3, 4)
z = torch.relu(layer(x))
z.backward(torch.tensor([[1.0, 2.0, -1.0, 0.5]]))
"""
TWO_PATHS = """\
import torch

x = torch.tensor(2.0, requires_grad=True)
z = x * torch.sin(x)
z.backward()
"""
SIXTY_TURNS = """\
import torch

x = torch.tensor([1.0, 3.0], requires_grad=True)
y = x
for _ in range(60):
    y = y + y
y.backward(torch.tensor([1.0, 0.25]))
"""


TOO_LARGE = """\
import torch

x = torch.linspace(0.1, 3.0, 70, requires_grad=True)
z = torch.sin(x) * 3
z.backward(torch.ones(70))
"""
"""One Jacobian here has 4,900 cells, over the limit of 4,096."""
LEFT_OUT = """\
import torch

x = torch.linspace(0.1, 3.0, 64, requires_grad=True)
z = x
for _ in range(18):
    z = torch.sin(z)
z.backward(torch.ones(64))
"""
"""Each has 4,096 cells; all together are over what a trace holds."""


def run(source: str) -> dict[str, Any]:
    """What the program leaves behind, without the tracer."""
    names: dict[str, Any] = {}
    exec(compile(source, "program", "exec"), names)  # noqa: S102 (a program of this test)
    return names


def jacobian(function: Callable[[torch.Tensor], torch.Tensor], at: torch.Tensor) -> np.ndarray:
    """Outputs by inputs, both flattened."""
    point = at.detach()
    found: torch.Tensor = functional.jacobian(function, point)  # type: ignore[no-untyped-call]
    return np.asarray(found.reshape(function(point).numel(), point.numel()))


def part(player: PlayerPage, name: str) -> Locator:
    return player.page.locator(f"[data-part=chain-{name}]")


def numbers(table: Locator) -> np.ndarray:
    """Those that are on screen: of a large table the first."""
    spelled = table.evaluate(
        "table => [...table.rows].map(row =>"
        " [...row.cells].filter(cell => !cell.matches('.more')).map(cell => cell.textContent))"
        ".filter(row => row.length > 0)"
    )
    return np.array([[number(text) for text in row] for row in spelled])


def agree(table: Locator, expected: object) -> None:
    """The table holds these numbers, up to the digits on screen."""
    wanted = np.atleast_2d(np.asarray(expected))
    expect(table).to_be_visible(timeout=STREAM_MS)
    found = numbers(table)
    assert found.shape == wanted.shape
    assert np.allclose(found, wanted, rtol=CLOSE, atol=CLOSE), (found, wanted)


def agree_roughly(table: Locator, expected: object) -> None:
    """What is on screen of a wide table: its first rows and columns, in two digits."""
    expect(table).to_be_visible(timeout=STREAM_MS)
    found = numbers(table)
    assert found.shape[1] == MOST_COLUMNS
    wanted = np.atleast_2d(np.asarray(expected))[: found.shape[0], :MOST_COLUMNS]
    assert np.allclose(found, wanted, rtol=SMALL_TABLE, atol=CLOSE), (found, wanted)


def open_chain(player: PlayerPage, source: str) -> None:
    """By the button above the graph, which chooses the ends that are farthest apart."""
    player.open(fragment(source, s="1.3", digits=DIGITS))
    player.wait_for_end_of_run()
    player.page.locator("[data-part=chain]").click()
    expect(part(player, "panel")).to_be_visible()


def table_of(place: Locator) -> Locator:
    return place.locator("table")


def test_two_functions_are_two_jacobians(player: PlayerPage) -> None:
    names = run(program_text("chain-of-two"))
    first, second, x = names["F1"], names["F2"], names["x"]
    player.open(f"example=chain-of-two&s=1.3&digits={DIGITS}&chain=n0..n2")
    player.wait_for_end_of_run()
    for group in ("F2", "F1"):
        part(player, "group").get_by_text(group).click()
    links = part(player, "link")
    expect(links).to_have_count(2)
    expect(links.nth(0)).to_contain_text("J(F2)")
    expect(links.nth(1)).to_contain_text("J(F1)")
    y = first(x).detach()
    agree(table_of(links.nth(0)), jacobian(second, y))
    agree(table_of(links.nth(1)), jacobian(first, x))
    v = torch.ones(2)
    agree(table_of(part(player, "running")), functional.vjp(second, y, v)[1])  # type: ignore[no-untyped-call]
    agree(table_of(part(player, "result")), x.grad)
    agree(table_of(part(player, "whole")), jacobian(lambda at: second(first(at)), x))
    expect(part(player, "verdict")).to_have_attribute("data-verdict", "all")
    expect(player.page).to_have_url(re.compile(r"chain=n0\.\.n2-g0-g1"))


def test_a_loop_of_doublings_is_a_power_of_two(player: PlayerPage) -> None:
    x = run(program_text("doubling-loop"))["x"]
    open_chain(player, program_text("doubling-loop"))
    turns = 10
    agree(table_of(part(player, "link")), jacobian(lambda at: at * 2**turns, x))
    agree(table_of(part(player, "result")), x.grad)
    expect(part(player, "link")).to_contain_text("2¹⁰ = 1024")
    part(player, "repeats").click()
    expect(part(player, "link")).to_have_count(turns)
    for turn in range(turns - 1):
        expected = torch.tensor([0.1, 1.0, 0.0001]) * 2 ** (turn + 1)
        agree(table_of(part(player, "running").nth(turn)), expected)


def test_every_path_has_a_product_and_they_add_up(player: PlayerPage) -> None:
    x = run(TWO_PATHS)["x"]
    open_chain(player, TWO_PATHS)
    expect(part(player, "paths")).to_have_text("2 paths")
    # Each path alone: the other one is held still by detach.
    direct = torch.autograd.grad(x * torch.sin(x.detach()), x)[0]
    through_sin = torch.autograd.grad(x.detach() * torch.sin(x), x)[0]
    paths = part(player, "path")
    agree(table_of(paths.nth(0)), direct)
    agree(table_of(paths.nth(1)), through_sin)
    agree(table_of(part(player, "result")), x.grad)
    expect(part(player, "symbols")).to_have_text("torch.sin(x) + x · cos(x)")
    spelled = part(player, "numbers").text_content() or ""
    assert number(spelled.split("=")[-1]) == pytest.approx(float(direct + through_sin), rel=CLOSE)


def test_paths_are_counted_without_being_walked(player: PlayerPage) -> None:
    x = run(SIXTY_TURNS)["x"]
    open_chain(player, SIXTY_TURNS)
    spelled = part(player, "paths").text_content() or ""
    assert int("".join(character for character in spelled if character.isdigit())) == 2**60
    assert x.grad is not None
    agree(table_of(part(player, "result")), x.grad)


def test_a_linear_layer_with_relu_by_input_and_by_weight(player: PlayerPage) -> None:
    names = run(LINEAR_RELU)
    layer, x = names["layer"], names["x"]
    open_chain(player, LINEAR_RELU)
    part(player, "by").select_option(label="x")
    agree(table_of(part(player, "whole")), jacobian(lambda at: torch.relu(layer(at)), x))
    agree(table_of(part(player, "result")), x.grad)
    shapes = part(player, "link").locator(".shape").all_text_contents()
    sizes = [tuple(int(size) for size in shape.split("×")) for shape in shapes]
    assert all(left[1] == right[0] for left, right in zip(sizes, sizes[1:], strict=False))
    part(player, "by").select_option(label="layer.weight")
    weight = layer.weight
    agree(table_of(part(player, "whole")), jacobian(lambda at: torch.relu(x @ at.T + layer.bias), weight))
    agree(table_of(part(player, "result")), weight.grad.reshape(1, -1))
    expect(part(player, "verdict")).to_have_attribute("data-verdict", "all")


def test_two_cards_are_the_ends_whichever_is_clicked_first(player: PlayerPage) -> None:
    x = run(TWO_PATHS)["x"]
    open_chain(player, TWO_PATHS)
    sine, leaf = (player.page.locator(f"[data-node]:has(button:has-text('{name}'))") for name in ("sin", "leaf"))
    part(player, "pick").click()
    leaf.get_by_role("button").click()
    sine.get_by_role("button").click()
    expect(part(player, "link")).to_have_count(1)
    agree(table_of(part(player, "link")), jacobian(torch.sin, x))
    # 2 of the gradient 1.8 - 0.8 came through the product first: v of sin is x.
    agree(table_of(part(player, "result")), torch.autograd.grad(torch.sin(x), x, grad_outputs=x.detach())[0])
    expect(part(player, "verdict")).to_have_attribute("data-verdict", "part")
    player.page.locator("[data-part=chain]").click()
    expect(part(player, "panel")).to_have_count(0)
    expect(player.page).not_to_have_url(re.compile("chain="))


def test_a_jacobian_left_out_is_worked_out_when_asked(player: PlayerPage) -> None:
    x = run(LEFT_OUT)["x"]
    open_chain(player, LEFT_OUT)
    result = part(player, "result")
    expect(result.locator(".recorded")).to_be_visible()
    agree_roughly(table_of(result), x.grad)
    part(player, "compute").click()
    expect(part(player, "verdict")).to_have_attribute("data-verdict", "all", timeout=STREAM_MS)
    expect(result.locator(".recorded")).to_have_count(0)

    def sines(at: torch.Tensor) -> torch.Tensor:
        for _ in range(18):
            at = torch.sin(at)
        return at

    agree_roughly(table_of(part(player, "link")), jacobian(sines, x))


def test_where_a_jacobian_is_too_large_stands_what_the_pass_recorded(player: PlayerPage) -> None:
    x = run(TOO_LARGE)["x"]
    open_chain(player, TOO_LARGE)
    agree_roughly(table_of(part(player, "running")), torch.full((70,), 3.0))
    agree_roughly(table_of(part(player, "result")), x.grad)
    expect(player.page.locator(".recorded")).to_have_count(2)
    expect(part(player, "compute")).to_have_count(0)
    expect(table_of(part(player, "link"))).to_have_count(0)


def test_what_lies_between_is_marked_in_the_graph(player: PlayerPage) -> None:
    source = TWO_PATHS.replace(
        "z = x * torch.sin(x)", "w = torch.tensor(3.0, requires_grad=True)\nz = x * torch.sin(x) * w"
    )
    open_chain(player, source)
    part(player, "by").select_option(label="w")
    marked = player.page.locator("[data-marked]")
    expect(marked).to_have_count(2)
    part(player, "by").select_option(label="x")
    expect(marked).to_have_count(4)
    expect(player.page.locator("[data-part=chain-marks] path")).to_have_count(4)


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080), (390, 844)])
def test_the_chain_covers_no_card(new_page: Callable[..., PlayerPage], size: tuple[int, int]) -> None:
    player = new_page(viewport={"width": size[0], "height": size[1]})
    player.open("example=chain-of-two&s=2.3&chain=n0..n2")
    player.wait_for_end_of_run()
    panel = part(player, "panel")
    expect(panel).to_be_visible()
    region = panel.bounding_box()
    stage = player.page.locator("[data-part=graph]").first.bounding_box()
    assert region is not None
    assert stage is not None
    assert stage["y"] + stage["height"] <= region["y"] + 1
    assert stage["height"] >= region["height"] / 2
    assert region["y"] + region["height"] <= size[1]


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_axe_finds_nothing_in_a_chain(player: PlayerPage, theme: str) -> None:
    player.open(fragment(TWO_PATHS, s="2.3", theme=theme, chain=""))
    player.wait_for_end_of_run()
    expect(part(player, "verdict")).to_have_attribute("data-verdict", "all")
    assert axe_findings(player.page) == []


def test_of_a_long_chain_the_first_and_last_links_are_drawn(player: PlayerPage) -> None:
    source = SIXTY_TURNS.replace("y + y", "y * 0.99").replace("range(60)", "range(300)")
    x = run(source)["x"]
    open_chain(player, source)
    part(player, "repeats").click()
    expect(part(player, "link")).to_have_count(24)
    expect(part(player, "left-out")).to_contain_text("276")
    agree(table_of(part(player, "result")), x.grad)
