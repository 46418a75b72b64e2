"""Predict before reveal: what is asked for is nowhere on the page until an answer has been committed.

What a wrong answer is called is tried in `lesson.test.ts`.
"""

import json
import re

import pytest
import torch
from playwright.sync_api import Locator, expect

from gradwalk.words.catalogue import say
from tests.e2e.player import PlayerPage, fragment

# Numbers that stand nowhere else on the page.
PRODUCT = """
import torch

w = torch.tensor(3.25, requires_grad=True)
x = torch.tensor(71.0, requires_grad=True)
f = w * x
y = f * 7.0
y.backward()
print("w", w.grad)
""".strip()
ANSWER = "497"
SQUARE = """
import torch

A = torch.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
B = torch.tensor([[7.0, 11.0], [13.0, 17.0]], requires_grad=True)
C = A @ B
C.backward(torch.tensor([[1.0, 0.0], [2.0, 1.0]]))
""".strip()


def form(player: PlayerPage) -> Locator:
    return player.named("form", "page-prediction")


def feedback(player: PlayerPage) -> Locator:
    return player.named("status", "page-feedback")


def commit(player: PlayerPage, text: str) -> None:
    form(player).get_by_role("textbox").fill(text)
    player.named("button", "page-commit").click()
    expect(feedback(player)).not_to_be_empty()


def everything_said(player: PlayerPage) -> str:
    """Everything that the page holds or would read aloud, without the program itself."""
    page = player.page
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    # Without the numbers that Chromium gives its nodes.
    tree = re.sub(r'"\w*Ids?": (\[.*?\]|[^,}]*)', "", json.dumps(nodes))
    values = page.evaluate("[...document.querySelectorAll('input, textarea')].map(({ value }) => value).join(' ')")
    # The server's address has digits, too.
    return f"{page.content()} {tree} {values}".replace(player.server, "")


def is_said(player: PlayerPage, number: str) -> bool:
    return re.search(rf"(?<![\w.]){number}(?![\w])", everything_said(player)) is not None


def test_no_way_leads_past_a_question_and_its_answer_is_nowhere(player: PlayerPage) -> None:
    """Slider, step table, code and buttons stop at the first that is open; what was skipped stays skipped."""
    w = torch.tensor(3.25, requires_grad=True)
    (w * 71 * 7).backward()
    assert f"{w.grad.item():g}" == ANSWER
    player.open(fragment(PRODUCT, s="1.1", predict="1"))
    player.wait_for_steps(4)
    player.wait_for_end_of_run()
    for way in (
        lambda: player.button("Last step").click(),
        lambda: (player.show_panel("page-steps"), player.rows.nth(3).click()),
        lambda: player.slider("Step").fill("4"),
        lambda: (player.show_panel("page-program"), player.program.get_by_text("*", exact=True).first.click()),
    ):
        way()
        player.wait_for_place("1.3")
        expect(form(player)).to_be_visible()
        assert not is_said(player, ANSWER)
    v = player.product.get_by_role("table", name="v", exact=True)
    place = v.bounding_box()
    player.named("button", "page-skip").click()
    expect(form(player)).to_have_count(0)
    assert v.bounding_box() == place, "the question at the foot moves nothing above it"
    player.button("Last step").click()
    player.wait_for_place("2.3")
    assert not is_said(player, ANSWER)
    commit(player, ANSWER)
    expect(feedback(player)).to_contain_text("✓")
    assert player.cells("v times J") == [[float(ANSWER)]]
    expect(player.narration).to_contain_text(ANSWER)
    player.button("Previous step").click()
    player.wait_for_place("1.3")
    expect(form(player)).to_have_count(0)
    # A wrong answer, here of the nodes that come next, is told with the right one.
    player.open(fragment(PRODUCT, predict="1", s="2.4"))
    form(player).get_by_role("checkbox", name="w").check()
    player.named("button", "page-commit").click()
    expect(feedback(player)).to_contain_text("x")


def test_keys_and_clicker_ask_twice_and_go_on_after_an_answer(player: PlayerPage) -> None:
    player.open("example=map&s=1.3")
    player.wait_for_steps(2)
    player.named("button", "page-predict").focus()
    player.press("Enter")
    expect(form(player)).to_be_visible()
    player.press("PageDown")
    field = form(player).get_by_role("textbox")
    expect(field).to_be_focused()
    player.press("PageDown")
    expect(form(player).get_by_role("alert")).to_be_visible()
    player.page.keyboard.type("six")
    player.press("Enter")
    expect(form(player).get_by_role("alert")).to_be_visible()
    field.fill("3, 2")
    player.press("Enter")
    expect(feedback(player)).to_contain_text("✓")
    player.press("PageDown")
    player.wait_for_place("1.4")


DIRECTED = """
import torch

x = torch.tensor(2.0, requires_grad=True)
#@ note With {x} as x, the slope is {J}, and {x.grad} what has come.
a = x * 5  #@ predict How much reaches x?
b = a.exp()  #@ hide
c = b * 0.5  #@ focus
d = c + 1
d.backward()
""".strip()


@pytest.mark.soak
def test_comments_direct_the_lecture(player: PlayerPage) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    ((x * 5).exp() * 0.5 + 1).backward()
    player.open(fragment(DIRECTED))
    player.wait_for_steps(5)
    player.wait_for_place("2.1")
    player.button("Next step").click()
    player.wait_for_place("4.2")
    expect(player.named("note", "page-note")).to_have_text("With 2 as x, the slope is 5, and None what has come.")
    player.button("Next phase").click()
    expect(form(player)).to_contain_text("How much reaches x?")
    assert not is_said(player, f"{x.grad:.4g}")
    commit(player, f"{x.grad:.6g}")
    expect(feedback(player)).to_contain_text("✓")
    # Playing stops at a break.
    player.open(fragment("x = torch.tensor(2.0, requires_grad=True)\na = x * 5 #@ break\na.exp().backward()", s="1.5"))
    player.wait_for_steps(3)
    player.choose_speed("4")
    player.button("Play").click()
    player.wait_for_place("2.2")
    expect(player.button("Play")).to_be_visible()


def test_the_run_before_stays_beside_the_new_numbers(player: PlayerPage) -> None:
    player.open(fragment("x * x * 3", i={"x": 2.0}, s="1.1"))
    expect(player.slider("x")).to_have_value("2")
    player.product.wait_for()
    player.wait_for_end_of_run()
    player.page.get_by_role("spinbutton").first.fill("2.5")
    player.press("Enter")
    panel = player.named("region", "page-changes")
    for number in ("15", "12", "+3", "+6.75"):
        expect(panel).to_contain_text(number)
    player.button("Last step").click()
    ghosts = player.page.locator(".ghost.held")
    expect(ghosts).to_have_text(say("player-was", value="12", change="+3"))
    player.button("First step").click()
    expect(ghosts).to_have_count(0)
    panel.get_by_role("button").last.click()
    expect(panel).to_have_count(0)
