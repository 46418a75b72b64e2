"""A value that was only summarised can be looked at whole."""

import torch
from playwright.sync_api import expect

from tests.e2e.player import PlayerPage, fragment

LARGE = """
torch.manual_seed(0)
x = torch.randn(60, 40, requires_grad=True)
loss = torch.exp(x).sum()
loss.backward()
""".strip()


def test_all_numbers_of_a_large_value_can_be_read(player: PlayerPage) -> None:
    player.open(fragment(LARGE, s="2.5"))
    torch.manual_seed(0)
    expected = torch.exp(torch.randn(60, 40))
    player.page.get_by_role("button", name="All numbers").last.click()
    dialog = player.page.get_by_role("dialog")
    expect(dialog).to_contain_text("[60 × 40]")
    expect(dialog).to_contain_text(f"{expected[0, 0].item():.4g}")
    numbers = dialog.get_by_role("group", name="All numbers")
    numbers.evaluate("(window) => window.scrollTo(100000, 100000)")
    expect(dialog).to_contain_text(f"{expected[59, 39].item():.4g}")
