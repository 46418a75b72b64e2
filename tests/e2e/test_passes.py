"""The curve of backward passes: a loop of many is walked by its curve, and any pass can be asked for."""

import re

import pytest
from playwright.sync_api import Locator, expect

from gradwalk.words.catalogue import say
from tests.e2e.player import STREAM_MS, PlayerPage, fragment, number

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
    return player.named("group", "player-curve")


def at_pass(player: PlayerPage, number: int) -> None:
    expect(curve_of(player)).to_contain_text(say("player-curve-pass", **{"pass": number}, total=500), timeout=STREAM_MS)
    expect(curve_of(player)).not_to_contain_text(say("player-curve-unrecorded"))


def weight_before(pass_number: int) -> float:
    """By hand: each pass multiplies w by 1 - 0.002 (1 + i)."""
    w = 1.0
    for i in range(pass_number):
        w *= 1 - 0.002 * (1 + i)
    return w


@pytest.mark.soak
def test_any_pass_of_a_loop_is_asked_for_and_compared(player: PlayerPage) -> None:
    player.open(fragment(LOOP))
    at_pass(player, 500)
    curve = curve_of(player)
    wanted, along = curve.get_by_role("spinbutton"), curve.get_by_role("slider")
    wanted.fill("234")
    wanted.press("Enter")
    at_pass(player, 234)
    player.page.wait_for_function("() => new URLSearchParams(location.hash.slice(1)).get('pass') === '233'")
    told = re.search(r"loss (\S+)", curve.inner_text())
    assert told is not None
    assert number(told[1]) == pytest.approx(weight_before(233) ** 2 * 234, rel=1e-3)
    along.press("Home")
    at_pass(player, 1)
    curve.get_by_role("button", name=say("player-curve-compare")).click()
    along.press("ArrowRight")
    at_pass(player, 2)
    changes = player.named("region", "page-changes-pass", **{"pass": 1})
    for text in ("w.grad", "2"):
        expect(changes).to_contain_text(text)
    player.expected_complaints.append("ERR_INTERNET_DISCONNECTED")
    player.page.context.set_offline(True)
    wanted.fill("300")
    wanted.press("Enter")
    expect(curve).to_contain_text(say("player-curve-offline", **{"pass": 300}))
    player.page.context.set_offline(False)
    at_pass(player, 300)


def test_a_program_opens_at_its_own_pass_or_at_its_last(player: PlayerPage) -> None:
    """Not at those of gradcheck; and the first that is not finite is a click away."""
    player.open(fragment(GRADCHECK))
    expect(curve_of(player)).to_contain_text("loss 14", timeout=STREAM_MS)
    w, first = 1.0, 0
    while abs(w) * 2 * (1 + first) < 3.4e38:
        w *= 1 - 20 * (1 + first)
        first += 1
    player.page.goto("about:blank")
    player.open(fragment(DIVERGING))
    curve_of(player).get_by_role("button", name=say("player-curve-non-finite", **{"pass": first + 1})).click()
    at_pass(player, first + 1)
    expect(player.page.get_by_text(re.compile("NaN|∞")).first).to_be_visible()
