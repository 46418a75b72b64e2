"""A nudge on the page: the program really runs again, and torch says the same of the change and of its prediction."""

import re
from collections.abc import Callable

import pytest
import torch
from playwright.sync_api import Locator, expect
from torch import Tensor, nn
from torch.func import jvp

from tests.e2e.player import STREAM_MS, PlayerPage, fragment, number
from tests.e2e.test_appearance import axe_findings

# torch.func.jvp compiles its decompositions with torch.jit.script.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")

SHOWN = 2e-3
"""Four digits are shown."""


def part(player: PlayerPage, name: str) -> Locator:
    return player.page.locator(f"[data-part={name}]")


def wait_for_verdict(player: PlayerPage) -> str | None:
    expect(part(player, "nudge")).to_have_attribute("data-state", "done", timeout=STREAM_MS)
    return part(player, "nudge-verdict").get_attribute("data-verdict", timeout=STREAM_MS)


def shown(player: PlayerPage, name: str) -> float:
    return number(part(player, f"nudge-{name}").inner_text().removeprefix("+"))


def cells(player: PlayerPage) -> dict[str, tuple[list[float], list[float]]]:
    """Real change and J times the change, by tensor."""
    found = {}
    for row in part(player, "nudge").locator("tbody tr").all():
        expect(row.locator("td").first).not_to_be_empty()
        name = row.locator("th").inner_text()
        real, predicted = (
            [number(each.lstrip("+")) for each in re.split(r", ", cell.inner_text().strip("[]"))]
            for cell in row.locator("td").all()
        )
        found[name] = (real, predicted)
    return found


FUNCTION = "z = sin(x*y) + x"


@pytest.mark.parametrize(("entry", "by"), [("x", 0.1), ("y", -0.25)])
def test_the_change_and_its_prediction_are_torchs(player: PlayerPage, entry: str, by: float) -> None:
    def z(x: Tensor, y: Tensor) -> Tensor:
        return torch.sin(x * y) + x

    at = (torch.tensor(2.0), torch.tensor(3.0))
    delta = tuple(torch.tensor(by if name == entry else 0.0) for name in ("x", "y"))
    before, tangent = jvp(z, at, delta)
    real = z(at[0] + delta[0], at[1] + delta[1]) - before
    assert abs(real - tangent) > SHOWN

    player.open(fragment(FUNCTION, nudge=f"{entry}:{by}"))
    assert wait_for_verdict(player) == "second"
    assert shown(player, "real") == pytest.approx(float(real), abs=SHOWN)
    assert shown(player, "predicted") == pytest.approx(float(tangent), abs=SHOWN)
    assert shown(player, "difference") == pytest.approx(float(real - tangent), abs=SHOWN)


def test_every_tensor_on_the_way_has_its_tangent(player: PlayerPage) -> None:
    by = torch.tensor([0.0, 0.2, 0.0])
    start = torch.tensor([0.5, -1.0, 2.0])
    stages: dict[str, Callable[[Tensor], Tensor]] = {
        "x": lambda x: x,
        "h": lambda x: torch.tanh(x),
        "y": lambda x: (torch.tanh(x) * x.flip(0)).sum(),
    }
    source = (
        "import torch\nx = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)\n"
        "h = torch.tanh(x)\ny = (h * x.flip(0)).sum()\ny.backward()\n"
    )
    player.open(fragment(source, nudge="x[1]:0.2"))
    wait_for_verdict(player)
    found = cells(player)
    for name, stage in stages.items():
        before, tangent = jvp(stage, (start,), (by,))
        real, predicted = found[name]
        assert real == pytest.approx((stage(start + by) - before).flatten().tolist(), abs=SHOWN), name
        assert predicted == pytest.approx(tangent.flatten().tolist(), abs=SHOWN), name


def test_a_parameter_is_nudged_in_the_program_itself(player: PlayerPage) -> None:
    source = (
        "import torch\nfrom torch import nn\ntorch.manual_seed(0)\n"
        "model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))\n"
        "loss = model(torch.tensor([1.0, -2.0])).sum()\nloss.backward()\nprint(loss.item())\n"
    )
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
    data, by = torch.tensor([1.0, -2.0]), 0.15
    before = model(data).sum()
    before.backward()
    weight = model[0].weight
    assert weight.grad is not None
    predicted = float(weight.grad[1, 0]) * by
    with torch.no_grad():
        weight[1, 0] += by
        real = float(model(data).sum() - before)
    assert abs(real) > 10 * SHOWN

    player.open(fragment(source, nudge=f"model.0.weight[1][0]:{by}"))
    wait_for_verdict(player)
    assert shown(player, "real") == pytest.approx(real, abs=SHOWN)
    assert shown(player, "predicted") == pytest.approx(predicted, abs=SHOWN)


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        ("z = 3*x + y", "none"),
        ("z = x*x", "second"),
        ("z = x * x.detach()", "first"),
        # Kinks on the way: one that half the change crosses as well, and one that looks like a parabola until then.
        ("z = relu(x - 2.02)", "unsettled"),
        ("z = relu(x - 2.0333)", "unsettled"),
    ],
)
def test_the_difference_is_called_what_it_is(player: PlayerPage, source: str, verdict: str) -> None:
    player.open(fragment(source, nudge="x:0.1"))
    assert wait_for_verdict(player) == verdict


def test_another_graph_is_not_compared(player: PlayerPage) -> None:
    source = (
        "import torch\nx = torch.tensor(2.0, requires_grad=True)\ny = x * x if x > 2 else x\nz = y + x\nz.backward()\n"
    )
    player.open(fragment(source, nudge="x:0.1"))
    expect(part(player, "nudge-structure")).to_be_visible(timeout=STREAM_MS)
    expect(part(player, "nudge-real")).to_have_count(0)


def test_it_is_opened_moved_and_kept_in_the_address(player: PlayerPage) -> None:
    player.open(fragment(FUNCTION))
    part(player, "open-nudge").click()
    assert wait_for_verdict(player) == "second"
    small = shown(player, "real")
    part(player, "nudge").locator("input[type=number]").fill("0.4")
    part(player, "nudge").locator("input[type=number]").press("Tab")
    expect(part(player, "nudge-real")).not_to_have_text(f"+{small}".replace("-", "\u2212"), timeout=STREAM_MS)
    wait_for_verdict(player)
    expected = torch.sin(torch.tensor(2.4 * 3)) + 2.4 - torch.sin(torch.tensor(6.0)) - 2
    assert shown(player, "real") == pytest.approx(float(expected), abs=SHOWN)
    player.page.wait_for_function("() => new URLSearchParams(location.hash.slice(1)).get('nudge') === 'x:0.4'")


def test_the_change_runs_forward_over_the_graph(player: PlayerPage) -> None:
    player.open(fragment(FUNCTION, nudge="x:0.1"))
    wait_for_verdict(player)
    marks = player.page.locator("[data-nudged]")
    # x, x*y, sin(x*y) and z; y stays where it is.
    expect(marks).to_have_count(4)
    part(player, "nudge-walk").click()
    expect(marks).to_have_count(1)
    expect(marks).to_have_count(4)
    part(player, "nudge-close").click()
    expect(marks).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_it(player: PlayerPage, theme: str) -> None:
    player.open(fragment("torch.stack([x * y, sin(x)])", nudge="x:0.1", theme=theme))
    wait_for_verdict(player)
    assert axe_findings(player.page) == []
    part(player, "nudge-close").click()
    part(player, "what-is-v").locator("summary").click()
    expect(part(player, "loss")).to_be_visible()
    assert axe_findings(player.page) == []
