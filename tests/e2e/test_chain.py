"""The chain as an object: its Jacobians, its product and its sum over paths beside what torch computes.

Loops, powers, 2^5000 paths: `chain.test.ts`.
"""

import re
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Locator, expect
from torch.autograd.functional import jacobian

from gradwalk.examples.catalogue import program_text
from tests.e2e.player import PlayerPage, fragment, number, numbers
from tests.twin import run_plain

DIGITS = 9
CLOSE = 1e-6
TWO_PATHS = "x = torch.tensor(2.0, requires_grad=True)\nz = x * torch.sin(x)\nz.backward()"


def part(player: PlayerPage, name: str) -> Locator:
    return player.part(f"chain-{name}")


def agree(player: PlayerPage, name: str, expected: object) -> None:
    """The table of this name holds these numbers, up to the digits on screen."""
    table = part(player, "panel").get_by_role("table", name=name, exact=True)
    wanted = np.atleast_2d(np.asarray(expected))
    expect(table).to_be_visible()
    found = np.array(numbers(table))
    assert found.shape == wanted.shape
    assert np.allclose(found, wanted, rtol=CLOSE, atol=CLOSE), (found, wanted)


def open_chain(player: PlayerPage, source: str) -> dict[str, Any]:
    """By the button above the graph, which chooses the ends that are farthest apart; what the program leaves behind."""
    player.open(fragment(f"import torch\n{source}", s="1.3", digits=DIGITS))
    player.wait_for_end_of_run()
    player.part("chain").click()
    expect(part(player, "panel")).to_be_visible()
    return run_plain(source).namespace


def test_functions_are_jacobians_and_their_product_is_the_gradient(player: PlayerPage) -> None:
    names = run_plain(program_text("chain-of-two")).namespace
    first, second, x = names["F1"], names["F2"], names["x"].detach()
    player.open(f"example=chain-of-two&s=1.3&digits={DIGITS}&chain=n0..n2")
    player.wait_for_end_of_run()
    for group in ("F2", "F1"):
        part(player, "group").get_by_text(group).click()
    agree(player, "J(F2)", jacobian(second, first(x)))
    agree(player, "J(F1)", jacobian(first, x))
    agree(player, "v · ∂z/∂x", names["x"].grad)
    expect(part(player, "verdict")).to_have_attribute("data-verdict", "chain-all")
    expect(player.page).to_have_url(re.compile(r"chain=n0\.\.n2-g0-g1"))


def test_paths_are_counted_and_every_path_has_a_product(player: PlayerPage) -> None:
    x = open_chain(player, TWO_PATHS)["x"]
    # Each path alone: the other one is held still by detach.
    direct = torch.autograd.grad(x * torch.sin(x.detach()), x)[0]
    through_sin = torch.autograd.grad(x.detach() * torch.sin(x), x)[0]
    agree(player, "Path 1", direct)
    agree(player, "Path 2", through_sin)
    agree(player, "v · ∂z/∂x", x.grad)
    expect(part(player, "symbols")).to_have_text("torch.sin(x) + x · cos(x)")
    spelled = part(player, "numbers").text_content() or ""
    assert number(spelled.split("=")[-1]) == pytest.approx(float(direct + through_sin), rel=CLOSE)
    expect(player.page.locator("[data-part=chain-marks] rect")).to_have_count(3)

    part(player, "of").select_option("torch.sin(x) · sin, line 3")
    agree(player, "J₁", jacobian(torch.sin, x.detach()))
    agree(player, "v · ∂torch.sin(x)/∂x", through_sin)
    expect(part(player, "verdict")).to_have_attribute("data-verdict", "chain-part")
    player.part("chain").click()
    expect(part(player, "panel")).to_have_count(0)
    expect(player.page).not_to_have_url(re.compile("chain="))
