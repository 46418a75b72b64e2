"""The page tells the truth about a backward: finite differences, and what runs inside it.

That they are right is tried in `tests/tracer/test_gradcheck.py`.
"""

import numpy as np
import torch
from playwright.sync_api import Locator, expect
from torch.autograd.functional import jacobian

from gradwalk.examples.catalogue import program_text
from gradwalk.words.catalogue import say
from tests.e2e.player import PlayerPage, fragment, numbers
from tests.e2e.test_main_story import the_map
from tests.tracer.test_backward_checks import function
from tests.twin import run_plain

ABSOLUTE, RELATIVE = 1e-5, 1e-3


def marked(table: Locator) -> set[tuple[int, int]]:
    """Where a table has the mark of a wrong entry."""
    found = table.evaluate(
        "table => [...table.rows].flatMap((row, r) => [...row.cells].flatMap((cell, c) =>"
        " cell.querySelector('[role=img][aria-label=differs]') ? [[r, c]] : []))"
    )
    return {(row, column) for row, column in found}


def checked(player: PlayerPage, address: str, place: str) -> Locator:
    """The region with what finite differences say."""
    player.open(address)
    player.wait_for_place(place)
    player.named("button", "player-check").click()
    region = player.page.get_by_role("region", name=say("player-differences", name=""))
    expect(region.get_by_role("table").first).to_be_visible()
    return region


def test_finite_differences_mark_the_entries_that_are_wrong(player: PlayerPage) -> None:
    names = run_plain(program_text("gradcheck")).namespace
    cube, x = names["Cube"].apply, names["x"]
    assert not torch.autograd.gradcheck(cube, x, raise_exception=False)
    analytic, numeric = (np.asarray(jacobian(one, x)) for one in (cube, lambda x: x**3))
    wrong = {(int(r), int(c)) for r, c in np.argwhere(abs(analytic - numeric) > ABSOLUTE + RELATIVE * abs(numeric))}
    assert wrong
    region = checked(player, "example=gradcheck&s=2.3", "2.3")
    for side, expected in (("analytic", analytic), ("numeric", numeric)):
        table = region.get_by_role("table", name=f"{side} Jacobian")
        np.testing.assert_allclose(numbers(table), expected, rtol=1e-3, atol=1e-6)
        assert marked(table) == wrong
    expect(region.get_by_role("listitem")).to_have_count(len(wrong))


def test_a_right_backward_agrees_with_finite_differences_and_opens_into_its_lines(player: PlayerPage) -> None:
    function = run_plain(program_text("map")).namespace["F"].apply
    at = torch.tensor([2.0, 3.0], dtype=torch.float64)
    assert torch.autograd.gradcheck(function, at.requires_grad_())
    table = checked(player, "example=map&s=1.3", "1.3").get_by_role("table", name="numeric Jacobian")
    np.testing.assert_allclose(numbers(table), np.asarray(jacobian(the_map, at)), rtol=1e-3)
    assert marked(table) == set()
    # The same backward opens into the lines of its formula.
    (line,) = [at for at, text in enumerate(program_text("map").splitlines(), 1) if "return v @" in text]
    player.named("button", "player-more").click()
    inside = player.product.locator("details").filter(has_text=say("player-inside-backward", count=1).partition(":")[0])
    inside.locator("summary").click()
    product = inside.get_by_role("listitem").filter(has_text=say("player-line", line=line))
    expect(product).to_contain_text(f"[{', '.join(f'{each:g}' for each in jacobian(function, at)[1].tolist())}]")
    product.get_by_role("button").click()
    expect(player.program.locator(".active-span").filter(has_text="v @ jacobian").first).to_be_visible()

    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    (expected,) = torch.autograd.grad((x.sin() * x).sum(), x)
    source = "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n(x.sin() * x).sum().backward()"
    player.open(fragment(source, s="4.5"))
    player.named("button", "player-check-pass").click()
    table = player.named("region", "player-differences-pass").get_by_role("table", name="numeric Jacobian")
    expect(table).to_be_visible()
    np.testing.assert_allclose(numbers(table), expected.reshape(1, -1).numpy(), rtol=1e-3)
    assert marked(table) == set()


def test_the_true_jacobian_stands_beside_that_of_a_wrong_backward(player: PlayerPage) -> None:
    x = torch.tensor([0.5, -1.5, 3.0])
    player.open(fragment(function("return x * x", "return x * g"), s="2.3", view="jacobian"))
    expect(player.named("region", "player-stands-out")).to_contain_text("F1.backward")
    assert player.cells("Local Jacobian") == torch.diag(x).tolist()
    assert player.cells(say("player-true-table")) == jacobian(lambda x: x * x, x).tolist()


def test_a_rule_that_nothing_checked_says_so_where_a_tick_would_stand(player: PlayerPage) -> None:
    """What a hook unpacked may be anything: the formula is shown, and no tick beside it."""
    tick = player.page.get_by_role("img", name=say("player-checked"))
    exp = "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\ny = x.exp()\ny.backward(torch.ones(2))"
    player.open(fragment(exp, s="1.3"))
    expect(tick).to_be_visible()
    doubled = "torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 2 * t)"
    player.open(fragment(exp.replace("y = x.exp()", f"with {doubled}:\n    y = x.exp()"), s="1.3"))
    unchecked = player.page.get_by_text(say("player-unchecked"))
    expect(unchecked).to_be_visible()
    expect(tick).to_have_count(0)


def test_an_answer_that_comes_after_its_panel_has_gone_harms_nothing(player: PlayerPage) -> None:
    """What the page complains of fails every test."""
    player.open(fragment("(x.sin() * x * 3).sum()", s="1.3"))
    player.wait_for_place("1.3")
    with player.page.expect_response(lambda answer: "gradcheck" in answer.url):
        player.named("button", "player-check").click()
        player.page.keyboard.press("Home")
    player.page.keyboard.press("End")
    player.wait_for_end_of_run()
