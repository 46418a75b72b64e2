"""v as weights that are dragged, and the L whose derivative it is; torch computes the same."""

import json
import re
import urllib.parse

import pytest
import torch
from playwright.sync_api import expect
from torch.autograd.functional import jacobian

from tests.e2e.player import STREAM_MS, PlayerPage, fragment, number

SHOWN = 2e-3
SOURCE = (
    "import torch\nx = torch.tensor([2.0, 3.0], requires_grad=True)\ny = torch.stack([x[0] * x[1], torch.sin(x[0])])\n"
)


def outputs(x: torch.Tensor) -> torch.Tensor:
    return torch.stack([x[0] * x[1], torch.sin(x[0])])


@pytest.mark.parametrize("weights", [[0.2, 0.8], [-1.0, 0.5]])
def test_dragged_weights_are_v_and_weigh_the_rows_of_j(player: PlayerPage, weights: list[float]) -> None:
    x = torch.tensor([2.0, 3.0])
    rows, v = jacobian(outputs, x), torch.tensor(weights)
    player.open(fragment(SOURCE))
    sliders = player.page.locator("[data-part=weights] input[type=range]")
    expect(sliders).to_have_count(2, timeout=STREAM_MS)
    for place, weight in enumerate(weights):
        sliders.nth(place).fill(str(weight))
    panel = player.page.locator("[data-part=what-is-v]")
    panel.locator("summary").click()
    expect(panel.locator("tbody th").nth(1)).to_have_text(str(weights[1]), timeout=STREAM_MS)
    expect(panel.locator("tbody th").nth(0)).to_have_text(str(weights[0]).removesuffix(".0").replace("-", "\u2212"))
    player.wait_for_end_of_run()
    # The run with the last weight brings what the engine returned.
    expect(panel.get_by_text(re.compile(r"^\s*$")).and_(panel.locator("td"))).to_have_count(0)
    spelled = [[number(cell.inner_text()) for cell in row.locator("td").all()] for row in panel.locator("tr").all()]
    body, foot = spelled[1:-1], spelled[-1]
    for place, row in enumerate(body):
        assert row[:2] == pytest.approx(rows[place].tolist(), abs=SHOWN)
        assert row[2:] == pytest.approx((v[place] * rows[place]).tolist(), abs=SHOWN)
    leaf = x.clone().requires_grad_()
    loss = (v * outputs(leaf)).sum()
    loss.backward()
    assert leaf.grad is not None
    assert foot == pytest.approx(leaf.grad.tolist(), abs=SHOWN)
    assert number(panel.locator("[data-part=loss]").inner_text()) == pytest.approx(loss.item(), abs=SHOWN)
    player.page.wait_for_function("() => new URLSearchParams(location.hash.slice(1)).has('g')")
    keys = urllib.parse.parse_qs(urllib.parse.urlsplit(player.page.url).fragment)
    assert json.loads(keys["g"][0]) == weights


def test_a_loss_of_the_programs_own_has_no_weights(player: PlayerPage) -> None:
    player.open(fragment("z = sin(x*y) + x"))
    expect(player.page.locator("#gradient-title")).to_be_visible(timeout=STREAM_MS)
    expect(player.page.locator("[data-part=weights]")).to_have_count(0)
    expect(player.page.locator("[data-part=what-is-v]")).to_have_count(0)
