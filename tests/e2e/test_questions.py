"""The questions that examples answer, answered by looking: each example at the step that answers it.

The expected numbers are computed here by torch, from the mathematics and not from the traced program.
"""

import re

import torch
from playwright.sync_api import expect
from torch import tensor

from tests.e2e.player import PlayerPage, fragment


def open_at(player: PlayerPage, slug: str, place: str) -> None:
    player.open(f"example={slug}&s={place}")
    player.wait_for_place(place)
    player.wait_for_end_of_run()


def test_nothing_is_not_zero(player: PlayerPage) -> None:
    """What was returned as None, what is undefined, and what backward returned in place of v times J."""
    open_at(player, "none-zeros-undefined", "4.4")
    player.product.get_by_role("button", name="b", exact=True).click()
    player.show_panel("page-steps")
    row = player.rows.nth(3)
    for word in ("None", "undefined"):
        expect(row).to_contain_text(word)
    expect(row).not_to_contain_text("0")
    expect(player.page.get_by_role("img", name=re.compile("^None"))).to_be_visible()
    x, v = tensor([0.0, 1.0, 2.0]), tensor([1.0, 10.0, 100.0])
    open_at(player, "returned-jacobian", "1.3")
    product = (v @ torch.stack([x.exp()] * 3))[0].item()
    expect(player.product).to_contain_text(re.compile(rf"=\s*{product:g}\s*\u2260\s*1"))


def test_the_meter_tells_why_no_jacobian_is_kept(player: PlayerPage) -> None:
    """What the whole Jacobian would take beside what the engine kept, which is x, once for each operand."""
    source = "x = torch.ones(100_000, requires_grad=True)\n(x ** 2).backward(torch.ones(100_000))"
    player.open(fragment(source, s="1.3"))
    for text in ("37.3 GiB", f"{torch.ones(100_000).nbytes / 1000:g} kB"):
        expect(player.product).to_contain_text(text)


def test_a_line_leads_from_a_saved_tensor_to_the_symbol_that_it_fills(player: PlayerPage) -> None:
    open_at(player, "x-times-x", "1.3")
    player.page.wait_for_function(
        """() => {
            const chip = document.querySelector("[data-saved=other]")?.getBoundingClientRect();
            const glyph = [...document.querySelectorAll(".returned mi")].find((each) => each.textContent === "x");
            if (!chip || !glyph) return false;
            const box = glyph.getBoundingClientRect();
            const within = ({ x, y }, { left, right, top, bottom }) =>
                x >= left && x <= right && y >= top - 2 && y <= bottom + 2;
            return [...document.querySelectorAll(".callout svg path")].some((path) => {
                const at = (share) =>
                    path.getPointAtLength(share * path.getTotalLength()).matrixTransform(path.getScreenCTM());
                return within(at(0), chip) && within(at(1), box);
            });
        }"""
    )
