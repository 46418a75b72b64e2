"""A nudge and a weighing v on the page: torch computes the same change, prediction, rows and loss."""

import json
import re

import pytest
import torch
from playwright.sync_api import expect
from torch import Tensor
from torch.autograd.functional import jacobian
from torch.func import jvp

from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage, fragment, number, numbers
from tests.twin import run_plain

# torch.func.jvp compiles its decompositions with torch.jit.script.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")

SHOWN = 2e-3
"""Four digits are shown."""
OTHER_GRAPH = "import torch\nx = torch.tensor(2.0, requires_grad=True)\ny = x * x if x > 2 else x\n(y + x).backward()\n"
OUTPUTS = (
    "import torch\nx = torch.tensor([2.0, 3.0], requires_grad=True)\ny = torch.stack([x[0] * x[1], torch.sin(x[0])])\n"
)

FORWARD = """
import torch
from torch.func import jvp
def f(x, w):
    return torch.sin(x * w)
x, w = torch.tensor([1.0, 2.0]), torch.tensor(0.5)
y, change = jvp(f, (x, w), (torch.tensor([1.0, -1.0]), torch.tensor(2.0)))
"""

COUNT_MARKS = """() => {
    window.counts = [];
    new MutationObserver(() => counts.push(document.querySelectorAll("[data-nudged]").length)).observe(
        document.body, { subtree: true, childList: true, attributes: true });
}"""


def wait_for_verdict(player: PlayerPage) -> str | None:
    expect(player.part("nudge")).to_have_attribute("data-state", "done")
    return player.part("nudge-verdict").get_attribute("data-verdict")


def expect_shown(player: PlayerPage, **numbers: float) -> None:
    for name, expected in numbers.items():
        shown = number(player.part(f"nudge-{name}").inner_text().removeprefix("+"))
        assert shown == pytest.approx(expected, abs=SHOWN), name


def test_a_tangent_of_forward_mode_is_run_over_the_graph_unasked(new_page: Opener) -> None:
    space = run_plain(FORWARD).namespace
    y, f, by = space["y"], space["f"], 0.1
    player = new_page()
    player.open(fragment(FORWARD))
    assert wait_for_verdict(player) == "second"
    real = f(space["x"] + by * torch.tensor([1.0, -1.0]), space["w"] + by * 2.0) - y
    expect_shown(player, real=float(real.sum()), predicted=float(by * space["change"].sum()))
    assert "[1.1, 1.9], 0.7" in player.part("nudge").inner_text()
    player.part("nudge-close").click()
    player.part("open-nudge").click()
    expect(player.part("nudge").locator("option").first).to_have_text("J·t")
    expect(player.part("nudge").locator("option")).to_have_count(4)


def test_a_change_and_its_prediction_are_torchs(new_page: Opener) -> None:
    """Opened, moved, run over the graph, kept in the address, closed; none where the second run is of another graph."""

    def z(x: Tensor) -> Tensor:
        return torch.sin(x * 3) + x

    player = new_page(reduced_motion="no-preference")
    player.open(fragment("z = sin(x*y) + x"))
    player.part("open-nudge").click()
    assert wait_for_verdict(player) == "second"
    at, before = torch.tensor(2.0), player.part("nudge-real").inner_text()
    field = player.part("nudge").locator("input[type=number]")
    field.fill("0.4")
    field.press("Tab")
    expect(player.part("nudge-real")).not_to_have_text(before)
    wait_for_verdict(player)
    value, tangent = jvp(z, (at,), (torch.tensor(0.4),))
    real = float(z(at + 0.4) - value)
    expect_shown(player, real=real, predicted=float(tangent), difference=real - float(tangent))
    player.wait_for_key("nudge", "x:0.4")
    marks = player.page.locator("[data-nudged]")
    # x, x*y, sin(x*y) and z; y stays where it is.
    expect(marks).to_have_count(4)
    player.page.evaluate(COUNT_MARKS)
    player.part("nudge-walk").click()
    player.page.wait_for_function("() => counts.includes(1) && counts.at(-1) === 4")
    player.part("nudge-close").click()
    expect(marks).to_have_count(0)
    player.open(fragment(OTHER_GRAPH, nudge="x:0.1"))
    expect(player.part("nudge-structure")).to_be_visible()
    expect(player.part("nudge-real")).to_have_count(0)


def test_dragged_weights_are_v_and_weigh_the_rows_of_j(player: PlayerPage) -> None:
    def outputs(x: Tensor) -> Tensor:
        return torch.stack([x[0] * x[1], torch.sin(x[0])])

    weights = [-1.5, 0.5]
    x, v = torch.tensor([2.0, 3.0], requires_grad=True), torch.tensor(weights)
    rows = jacobian(outputs, x)
    player.open(fragment(OUTPUTS, s="0"))
    sliders = player.part("weights").locator("input[type=range]")
    expect(sliders).to_have_count(2)
    for place, weight in enumerate(weights):
        sliders.nth(place).fill(str(weight))
    panel = player.part("what-is-v")
    panel.locator("summary").click()
    for place, weight in enumerate(weights):
        spelled = str(weight).replace("-", "\u2212")
        expect(panel.locator("tbody th").nth(place)).to_have_text(spelled)
    player.wait_for_end_of_run()
    # The run with the last weight brings what the engine returned.
    expect(panel.get_by_text(re.compile(r"^\s*$")).and_(panel.locator("td"))).to_have_count(0)
    loss = (v * outputs(x)).sum()
    gradient = torch.autograd.grad(loss, x)[0].tolist()
    expected = [[*row.tolist(), *(weight * row).tolist()] for weight, row in zip(v, rows, strict=True)]
    assert numbers(panel.locator("table")) == [pytest.approx(each, abs=SHOWN) for each in [*expected, gradient]]
    assert number(player.part("loss").inner_text()) == pytest.approx(loss.item(), abs=SHOWN)
    player.wait_for_key("g", json.dumps(weights, separators=(",", ":")))
