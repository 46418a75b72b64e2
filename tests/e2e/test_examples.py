"""Every shipped example opens and runs, and the step that answers its question shows what torch computes.

That its walk is the same there and back, and that no card, token or word covers another: `scene.test.ts`,
`place.test.ts`, `picture.test.ts`.
"""

import re

import pytest
import torch
from playwright.sync_api import expect
from torch import tensor

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.words.catalogue import tell
from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage, fragment

SAMPLE = {"double-backward", "gradcheck", "gradient-accumulation", "none-zeros-undefined", "rows-of-j", "vanishing"}
"""They differ in kind: several passes, custom functions, findings, stacks of rows; `test_stage.py` opens others."""
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


def shown(text: str | None) -> str:
    """As on the screen, where code is set as code."""
    return (text or "").replace("`", "")


@pytest.mark.parametrize("is_sample", [True, pytest.param(False, marks=pytest.mark.soak)], ids=["sample", "others"])
def test_examples_open_where_they_should_and_end_at_their_last_step(new_page: Opener, is_sample: bool) -> None:
    player = new_page()
    player.open()
    program = player.page.get_by_role("region", name="Program", exact=True)
    found: list[str] = []
    for example in (each for each in EXAMPLES if (each.slug in SAMPLE) is is_sample):
        player.change_hash(f"example={example.slug}")
        expect(program).to_contain_text(shown(tell(example.fact)))
        player.wait_for_place("0")
        player.wait_for_end_of_run()
        fits = player.page.evaluate(FITS)
        steps = player.slider("Step")
        if steps.input_value() != steps.get_attribute("max"):
            player.button("Last step").click()
        expect(steps).to_have_value(steps.get_attribute("max") or "")
        if not (fits and player.page.evaluate(FITS) and player.narration.inner_text()):
            found.append(example.slug)
    assert found == []


def test_nothing_is_not_zero(player: PlayerPage) -> None:
    """What was returned as None, what is undefined, and what backward returned in place of v times J."""
    player.open("example=none-zeros-undefined&s=4.4")
    player.product.get_by_role("button", name="b", exact=True).click()
    player.show_panel("page-steps")
    row = player.rows.nth(3)
    for word in ("None", "undefined"):
        expect(row).to_contain_text(word)
    expect(row).not_to_contain_text("0")
    expect(player.page.get_by_role("img", name=re.compile("^None"))).to_be_visible()
    x, v = tensor([0.0, 1.0, 2.0]), tensor([1.0, 10.0, 100.0])
    player.open("example=returned-jacobian&s=1.3")
    product = (v @ torch.stack([x.exp()] * 3))[0].item()
    expect(player.product).to_contain_text(re.compile(rf"=\s*{product:g}\s*\u2260\s*1"))


def test_the_meter_tells_why_no_jacobian_is_kept(player: PlayerPage) -> None:
    """What the whole Jacobian would take beside what the engine kept, which is x, once for each operand."""
    source = "x = torch.ones(100_000, requires_grad=True)\n(x ** 2).backward(torch.ones(100_000))"
    player.open(fragment(source, s="1.3"))
    for text in ("37.3 GiB", f"{torch.ones(100_000).nbytes / 1000:g} kB"):
        expect(player.product).to_contain_text(text)


def test_a_line_leads_from_a_saved_tensor_to_the_symbol_that_it_fills(player: PlayerPage) -> None:
    player.open("example=x-times-x&s=1.3")
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
