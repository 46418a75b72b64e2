"""Backward by hand: each gradient is checked against the engine and by finite differences; none can be read off."""

import re

import torch
from playwright.sync_api import Locator, expect

from tests.e2e.player import STREAM_MS, PlayerPage, fragment
from tests.e2e.test_predict import PRODUCT, SQUARE, said


def line(player: PlayerPage, variable: str) -> Locator:
    """The row of one gradient."""
    form = player.page.get_by_role("form", name="Backward by hand")
    return form.get_by_role("listitem").filter(has=player.page.get_by_text(f"{variable} =", exact=True))


def write(player: PlayerPage, **lines: str) -> None:
    for variable, expression in lines.items():
        line(player, variable).get_by_role("textbox").fill(expression)
    player.button("Check").click()
    for variable in lines:
        expect(line(player, variable)).to_contain_text(
            re.compile("[Ff]inite differences (agree|say|cannot)"), timeout=STREAM_MS
        )


def found(player: PlayerPage) -> Locator:
    return player.page.get_by_role("status", name="Found")


def test_a_right_line_is_the_engines_to_the_last_bit_and_a_wrong_one_is_explained(player: PlayerPage) -> None:
    player.open(fragment(SQUARE, byhand="1", s="1.3"))
    write(player, dA="dC @ B", dB="A.T @ dC")
    expect(line(player, "dB")).to_contain_text("exactly what the engine computed. Finite differences agree.")
    expect(line(player, "dA")).to_contain_text("you forgot the transpose of the other factor")
    expect(line(player, "dA")).to_contain_text("Finite differences say something else.")
    expect(found(player)).to_have_text("1 of 2 found")
    expect(player.product.get_by_role("table", name="v times J")).to_have_text(re.compile(r"^[\s·]+$"))
    write(player, dA="dC @ B.T")
    expect(found(player)).to_have_text("2 of 2 found")
    v = torch.tensor([[1.0, 0.0], [2.0, 1.0]])
    player.button("Next phase").click()
    player.button("Next phase").click()
    assert player.cells("v times J") == (v @ torch.tensor([[7.0, 11.0], [13.0, 17.0]]).T).tolist()


def test_no_gradient_can_be_read_off_before_it_is_found(player: PlayerPage) -> None:
    w = torch.tensor(3.25, requires_grad=True)
    (w * 71.0 * 7.0).backward()
    assert w.grad is not None
    answer = f"{w.grad.item():g}"
    player.open(fragment(PRODUCT, byhand="1", s="4.5"))
    expect(found(player)).to_have_text("0 of 3 found")
    player.button("Last step").click()
    hidden = re.compile(rf"(?<![\w.]){answer}(?![\w])")
    assert not hidden.search(said(player))
    write(player, df="dy * 7")
    expect(found(player)).to_have_text("1 of 3 found")
    assert not hidden.search(said(player))
    write(player, df="dy * 7", dw="df")
    expect(line(player, "dw")).to_contain_text("it was not multiplied by the local derivative")
    player.page.get_by_role("button", name="Reveal dw").click()
    expect(line(player, "dw")).to_contain_text(answer)


def test_a_line_that_raises_leaves_the_others_checked(player: PlayerPage) -> None:
    player.open(fragment("sin(x*y) + x", i={"x": 2.0, "y": 3.0}, byhand="1"))
    x, y = (torch.tensor(each, requires_grad=True) for each in (2.0, 3.0))
    (torch.sin(x * y) + x).backward()
    assert y.grad is not None
    line(player, "dsin1").get_by_role("textbox").fill("dadd1 *")
    line(player, "dmul1").get_by_role("textbox").fill("dsin1 * cos(nowhere)")
    write(player, dx="dmul1 * y", dy="dmul1 * x")
    expect(line(player, "dsin1")).to_contain_text("not valid Python")
    expect(line(player, "dmul1")).to_contain_text("nowhere")
    expect(line(player, "dx")).to_contain_text("one contribution alone; all that arrive are summed")
    expect(line(player, "dy")).to_contain_text(f"{y.grad.item():.4g}")


def test_finite_differences_tell_a_wrong_backward_from_a_right_line(player: PlayerPage) -> None:
    source = """
import torch

class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, v):
        (x,) = ctx.saved_tensors
        return v * 2 * x ** 2

x = torch.tensor(3.0, requires_grad=True)
y = Cube.apply(x)
y.backward()
""".strip()
    player.open(fragment(source, byhand="1"))
    write(player, dx="dy * 2 * x ** 2")
    expect(line(player, "dx")).to_contain_text("exactly what the engine computed")
    expect(line(player, "dx")).to_contain_text("Finite differences say something else.")
