"""Backward by hand: each gradient is checked against the engine and by finite differences; none can be read off."""

import re

import torch
from playwright.sync_api import Locator, expect

from gradwalk.words.catalogue import say
from tests.e2e.player import PlayerPage, fragment
from tests.e2e.test_predict import ANSWER, PRODUCT, SQUARE, is_said
from tests.tracer.programs import custom_function

AGREES, DIFFERS = say("page-by-hand-agree"), say("page-by-hand-disagree")
WITHOUT_IMPORT = (
    custom_function("Cube", "x", "ctx.save_for_backward(x)\nreturn x ** 3", "return 2 * g * ctx.saved_tensors[0] ** 2")
    + "x = torch.tensor(3.0, requires_grad=True)\ny = Cube.apply(x)\ny.backward()\n"
)


def line(player: PlayerPage, variable: str) -> Locator:
    """The row of one gradient."""
    form = player.named("form", "page-by-hand-form")
    return form.get_by_role("listitem").filter(has=player.page.get_by_text(f"{variable} =", exact=True))


def write(player: PlayerPage, **lines: str) -> None:
    for variable, expression in lines.items():
        line(player, variable).get_by_role("textbox").fill(expression)
    player.named("button", "page-by-hand-check").click()


def judged(player: PlayerPage, variable: str, verdict: str) -> None:
    expect(line(player, variable)).to_contain_text(verdict)


def found(player: PlayerPage, count: int, of: int) -> None:
    text = say("page-by-hand-found", found=count, count=of)
    expect(player.named("status", "page-by-hand-found-label")).to_have_text(text)


def test_right_lines_are_found_and_wrong_ones_explained(player: PlayerPage) -> None:
    v, b = torch.tensor([[1.0, 0.0], [2.0, 1.0]]), torch.tensor([[7.0, 11.0], [13.0, 17.0]])
    player.open(fragment(SQUARE, byhand="1", s="1.3"))
    write(player, dA="dC @ B", dB="A.T @ dC")
    judged(player, "dB", AGREES)
    judged(player, "dA", DIFFERS)
    found(player, 1, 2)
    expect(player.product.get_by_role("table", name="v times J")).to_have_text(re.compile(r"^[\s·]+$"))
    write(player, dA="dC @ B.T")
    judged(player, "dA", AGREES)
    found(player, 2, 2)
    player.button("Next phase").click()
    player.button("Next phase").click()
    assert player.cells("v times J") == (v @ b.T).tolist()
    # Finite differences tell a wrong backward from a line that is right about it.
    player.open(fragment(WITHOUT_IMPORT, byhand="1"))
    write(player, dx="dy * 2 * x ** 2")
    judged(player, "dx", DIFFERS)
    found(player, 1, 1)


def test_no_gradient_can_be_read_off_before_it_is_found(player: PlayerPage) -> None:
    player.open(fragment(PRODUCT, byhand="1", s="4.5"))
    found(player, 0, 3)
    player.button("Last step").click()
    assert not is_said(player, ANSWER)
    # A line that raises leaves the others checked.
    write(player, df="dy * 7", dw="df", dx="df * nowhere +")
    judged(player, "df", "✓")
    judged(player, "dw", DIFFERS)
    found(player, 1, 3)
    assert not is_said(player, ANSWER)
    player.named("button", "page-by-hand-reveal-label", name="dw").click()
    expect(line(player, "dw")).to_contain_text(ANSWER)
