"""Who came because `.grad` is None reads why, before the first step and in the table's last rows."""

import warnings

import pytest
from playwright.sync_api import expect

from tests.e2e.player import STREAM_MS, PlayerPage, fragment
from tests.tracer.oracle import run_plain

BOTH = "x = torch.tensor([1., 2.], requires_grad=True)\nw = torch.tensor([3., 4.], requires_grad=True)\n"
END = "\nloss.backward()\nprint(x.grad)"
CAUSES = {
    "detach": (BOTH + "loss = (x.detach() * w).sum()", 3, "Leave out .detach()", BOTH + "loss = (x * w).sum()"),
    "data": (BOTH + "loss = (x.data * w).sum()", 3, "Write x instead of x.data", BOTH + "loss = (x * w).sum()"),
    "item": (BOTH + "loss = w.sum() * x[0].item()", 3, "the tensor itself", BOTH + "loss = w.sum() * x[0]"),
    "no leaf": (
        "x = torch.ones(2, requires_grad=True) * 2\nloss = (x * x).sum()", 1, "Call x.retain_grad() before backward",
        "x = torch.ones(2, requires_grad=True) * 2\nx.retain_grad()\nloss = (x * x).sum()",
    ),
    "no_grad": (
        BOTH + "with torch.no_grad():\n    h = x * 2\nloss = (h * w).sum()", 4, "out of the no_grad block",
        BOTH + "h = x * 2\nloss = (h * w).sum()",
    ),
    "not used": (BOTH + "loss = (w * w).sum()", 1, "Use x in what backward", BOTH + "loss = (w * x).sum()"),
    "whole numbers": (
        "x = torch.tensor([1, 2])\nw = torch.ones(2, requires_grad=True)\nloss = (w * x).sum()", 1,
        "x.float().requires_grad_()",
        "x = torch.tensor([1, 2])\nx = x.float().requires_grad_()\nw = torch.ones(2, requires_grad=True)\n"
        "loss = (w * x).sum()",
    ),
    "frozen": (
        BOTH + "x.requires_grad_(False)\nloss = (w * x).sum()", 3, "x.requires_grad_(True)",
        BOTH + "x.requires_grad_(False)\nx.requires_grad_(True)\nloss = (w * x).sum()",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CAUSES)
def test_the_reason_its_line_and_what_to_write_instead(player: PlayerPage, name: str) -> None:
    source, line, words, mended = CAUSES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run_plain(source + END).namespace["x"].grad is None
    assert run_plain(mended + END).namespace["x"].grad is not None, "what is advised should help"
    player.open(fragment(source + END, s="0.1"))
    opening = player.page.get_by_role("region", name="Without a gradient")
    expect(opening).to_contain_text("x.grad", timeout=STREAM_MS)
    expect(opening).to_contain_text(f"line {line}")
    expect(opening).to_contain_text(words)
    last = player.page.get_by_role("table", name="Steps").locator("tbody tr").last
    expect(last).to_contain_text("x.grad None")
    expect(last).to_contain_text(words)
    player.page.keyboard.press("ArrowRight")
    expect(opening).to_have_count(0)
    player.type_program(mended + END)
    player.page.keyboard.press("ControlOrMeta+Enter")
    expect(player.page.get_by_text("None", exact=True)).to_have_count(0)
    expect(last).not_to_contain_text("x.grad None", timeout=STREAM_MS)


def test_a_name_that_is_no_leaf_says_so_at_its_node(player: PlayerPage) -> None:
    source = "x = torch.ones(2, requires_grad=True) * 2\nloss = (x * x).sum()" + END
    player.open(fragment(source, s="3.1"))
    expect(player.product).to_contain_text("x.grad is None.", timeout=STREAM_MS)


def test_what_a_call_of_grad_cannot_return_is_told(player: PlayerPage) -> None:
    source = BOTH + "torch.autograd.grad((w * w).sum(), [w, x], allow_unused=True)"
    player.open(fragment(source, s="0.1"))
    opening = player.page.get_by_role("region", name="Without a gradient")
    expect(opening).to_contain_text("result for x", timeout=STREAM_MS)


def test_a_layer_that_is_frozen_on_purpose_is_told_in_the_table_only(player: PlayerPage) -> None:
    source = "net = nn.Linear(2, 1)\nnet.bias.requires_grad_(False)\nnet(torch.ones(3, 2)).sum().backward()"
    player.open(fragment(source, s="0.1"))
    last = player.page.get_by_role("table", name="Steps").locator("tbody tr").last
    expect(last).to_contain_text("net.bias.grad None", timeout=STREAM_MS)
    expect(player.page.get_by_role("region", name="Without a gradient")).to_have_count(0)
