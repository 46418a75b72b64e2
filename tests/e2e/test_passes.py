"""The curve of backward passes: a loop of many is walked by its curve, and any pass can be asked for."""

import re

import pytest
from playwright.sync_api import Locator, expect

from gradwalk.words.catalogue import say
from tests.e2e.player import STREAM_MS, PlayerPage, fragment, named, number

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
GRADCHECK = """
import torch
x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
torch.autograd.gradcheck(lambda x: x * x * x, (x,))
loss = (x * x).sum()
loss.backward()
""".strip()


def weights(lr: float) -> list[float]:
    """By hand: w before each pass, which multiplies it by 1 - 2 lr (1 + i)."""
    found = [1.0]
    for i in range(500):
        found.append(found[-1] * (1 - 2 * lr * (1 + i)))
    return found


def at_pass(player: PlayerPage, number: int) -> Locator:
    """The curve, once it is at this pass."""
    curve = player.named("group", "player-curve")
    expect(curve).to_contain_text(say("player-curve-pass", **{"pass": number}, total=500), timeout=STREAM_MS)
    expect(curve).not_to_contain_text(say("player-curve-unrecorded"))
    return curve


@pytest.mark.soak
def test_any_pass_of_a_loop_is_asked_for_and_compared(player: PlayerPage) -> None:
    player.open(fragment(LOOP))
    curve = at_pass(player, 500)
    wanted, along = curve.get_by_role("spinbutton"), curve.get_by_role("slider")
    wanted.fill("234")
    wanted.press("Enter")
    at_pass(player, 234)
    player.wait_for_key("pass", "233")
    told = re.search(r"loss (\S+)", curve.inner_text())
    assert told is not None
    assert number(told[1]) == pytest.approx(weights(0.001)[233] ** 2 * 234, rel=1e-3)
    along.press("Home")
    named(curve, "button", "player-curve-compare").click()
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


def test_a_program_opens_at_its_own_pass_and_finds_the_first_that_is_not_finite(player: PlayerPage) -> None:
    """Not at those of gradcheck."""
    curve = player.named("group", "player-curve")
    player.open(fragment(GRADCHECK))
    expect(player.part("graph")).to_contain_text("14", timeout=STREAM_MS)
    expect(curve).to_have_count(0)
    first = next(i for i, w in enumerate(weights(10.0)) if abs(w) * 2 * (1 + i) >= 3.4e38)
    player.open(fragment(LOOP.replace("0.001", "10.0")))
    named(curve, "button", "player-curve-non-finite", **{"pass": first + 1}).click()
    at_pass(player, first + 1)
    expect(player.page.get_by_text(re.compile("NaN|∞")).first).to_be_visible()
