"""The curve of backward passes: a loop of many is walked by its curve, and any pass can be asked for."""

import re

from playwright.sync_api import expect

from gradwalk.words.catalogue import say
from tests.e2e.player import PlayerPage, fragment, named

LOOP = """
import torch
w = torch.tensor(1.0, requires_grad=True)
opt = torch.optim.SGD([w], lr=10.0)
for i in range(500):
    loss = w * w * (1 + i)
    loss.backward()
    opt.step()
    opt.zero_grad()
""".strip()


def test_of_many_passes_the_first_that_is_not_finite_is_one_click_away(player: PlayerPage) -> None:
    curve = player.named("group", "player-curve")
    # Each pass multiplies w by 1 - 2 lr (1 + i).
    w, first = 1.0, 1
    while abs(w) * 2 * first < 3.4e38:
        w, first = w * (1 - 20 * first), first + 1
    player.open(fragment(LOOP))
    named(curve, "button", "player-curve-non-finite", **{"pass": first}).click()
    expect(curve).to_contain_text(say("player-curve-pass", **{"pass": first}, total=500))
    expect(curve).not_to_contain_text(say("player-curve-unrecorded"))
    expect(player.page.get_by_text(re.compile("NaN|∞")).first).to_be_visible()
