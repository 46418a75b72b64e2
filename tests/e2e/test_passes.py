"""The curve of backward passes: a loop of many is walked by its curve, and any pass can be asked for."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage, fragment, number

LOOP = """
import torch
w = torch.tensor(1.0, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.001)
for i in range(500):
    loss = w * w * (1 + i)
    loss.backward()
    opt.step()
    opt.zero_grad()
""".strip()
DIVERGING = LOOP.replace("0.001", "10.0")
GRADCHECK = """
import torch
x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
torch.autograd.gradcheck(lambda x: x * x * x, (x,))
loss = (x * x).sum()
loss.backward()
""".strip()


def curve_of(player: PlayerPage) -> Locator:
    return player.page.get_by_role("group", name="Backward passes")


def weight_before(pass_number: int) -> float:
    """By hand: each pass multiplies w by 1 - 0.002 (1 + i)."""
    w = 1.0
    for i in range(pass_number):
        w *= 1 - 0.002 * (1 + i)
    return w


def test_a_loop_opens_at_its_last_pass(player: PlayerPage) -> None:
    player.open(fragment(LOOP))
    expect(curve_of(player)).to_contain_text("pass 500 of 500")
    expect(curve_of(player)).to_contain_text("after step and zero_grad")


def test_a_program_opens_at_its_own_pass_not_at_those_of_gradcheck(player: PlayerPage) -> None:
    player.open(fragment(GRADCHECK))
    expect(curve_of(player)).to_contain_text("loss 14")


def test_a_pass_that_was_not_recorded_is_asked_for(player: PlayerPage) -> None:
    player.open(fragment(LOOP))
    curve = curve_of(player)
    expect(curve).to_contain_text("pass 500 of 500")
    wanted = curve.get_by_role("spinbutton", name="Pass")
    wanted.fill("234")
    wanted.press("Enter")
    expect(curve).to_contain_text(re.compile(r"pass 234 of 500 · loss \S+ · after"))
    expect(curve).not_to_contain_text("not recorded")
    expect(player.page).to_have_url(re.compile("pass=233"))
    told = re.search(r"loss (\S+)", curve.inner_text())
    assert told is not None
    assert number(told[1]) == pytest.approx(weight_before(233) ** 2 * 234, rel=1e-3)
    assert number(player.page.get_by_role("slider", name="w").input_value()) == 1.0
    curve.get_by_role("slider", name="Pass").press("Home")
    expect(curve).to_contain_text("pass 1 of 500")
    curve.get_by_role("slider", name="Pass").press("ArrowRight")
    expect(curve).to_contain_text("pass 2 of 500")


def test_two_passes_stand_beside_each_other(player: PlayerPage) -> None:
    player.open(fragment(LOOP))
    curve = curve_of(player)
    expect(curve).to_contain_text("pass 500 of 500")
    curve.get_by_role("slider", name="Pass").press("Home")
    expect(curve).to_contain_text("pass 1 of 500")
    curve.get_by_role("button", name="Compare").click()
    curve.get_by_role("slider", name="Pass").press("ArrowRight")
    expect(curve).to_contain_text("pass 2 of 500")
    changes = player.page.get_by_role("region", name="Beside pass 1")
    expect(changes).to_contain_text("w.grad")
    expect(changes).to_contain_text("was 2,")


def test_the_first_nan_is_a_click_away(player: PlayerPage) -> None:
    player.open(fragment(DIVERGING))
    curve = curve_of(player)
    curve.get_by_role("button", name="First NaN or infinity").click()
    expect(curve).to_contain_text(re.compile(r"pass \d+ of 500 · loss (NaN|∞|\S+)"))
    expect(curve).not_to_contain_text("not recorded")
    expect(player.page.get_by_text("NaN").or_(player.page.get_by_text("∞")).first).to_be_visible()


def test_without_the_server_a_sentence_says_what_is_missing(player: PlayerPage) -> None:
    player.expected_complaints.append("ERR_INTERNET_DISCONNECTED")
    player.open(fragment(LOOP))
    curve = curve_of(player)
    expect(curve).to_contain_text("pass 500 of 500")
    player.page.context.set_offline(True)
    wanted = curve.get_by_role("spinbutton", name="Pass")
    wanted.fill("234")
    wanted.press("Enter")
    expect(curve).to_contain_text("Pass 234 is not recorded; recording it needs the server, which does not answer.")
    player.page.context.set_offline(False)
    expect(curve).to_contain_text("pass 234 of 500")


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_curve_is_as_wide_as_the_screen_allows(new_page: Opener, width: int) -> None:
    player = new_page(viewport={"width": width, "height": 800}, reduced_motion="reduce")
    player.open(fragment(LOOP))
    plot = curve_of(player).get_by_role("slider", name="Pass")
    expect(curve_of(player)).to_contain_text("pass 500 of 500")
    box = plot.bounding_box()
    assert box is not None
    assert box["width"] <= width
    assert player.page.evaluate("document.documentElement.scrollWidth") <= width
    plot.click(position={"x": box["width"] - 9, "y": 20})
    expect(curve_of(player)).to_contain_text("pass 500 of 500")
    plot.click(position={"x": 67, "y": 20})
    expect(curve_of(player)).to_contain_text(re.compile(r"pass \d of 500"))
