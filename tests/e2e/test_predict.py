"""Predict before reveal: what is asked for is nowhere on the page until somebody has committed an answer."""

import json
import re

import pytest
import torch
from playwright.sync_api import Locator, expect

from tests.e2e.conftest import Opener
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

TWICE = """
import torch

x = torch.tensor(1.5, requires_grad=True)
a = x * 3
y = a * 411 + a * 308
y.backward()
""".strip()

AGAIN = """
import torch

x = torch.tensor(2.0, requires_grad=True)
(x * 611).backward()
(x * 125).backward()
""".strip()

SQUARE = """
import torch

A = torch.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
B = torch.tensor([[7.0, 11.0], [13.0, 17.0]], requires_grad=True)
C = A @ B
C.backward(torch.tensor([[1.0, 0.0], [2.0, 1.0]]))
""".strip()


def form(player: PlayerPage) -> Locator:
    return player.page.get_by_role("form", name="Prediction")


def feedback(player: PlayerPage) -> Locator:
    return player.page.get_by_role("status", name="Feedback")


def commit(player: PlayerPage, text: str) -> None:
    form(player).get_by_role("textbox").fill(text)
    player.button("Commit").click()
    expect(feedback(player)).not_to_be_empty()


def said(player: PlayerPage) -> str:
    """Everything that the page holds or would read aloud, without the program itself."""
    page = player.page
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    # Without the numbers that Chromium gives its nodes.
    tree = json.dumps([{key: each for key, each in node.items() if not key.endswith(("Id", "Ids"))} for node in nodes])
    values = page.evaluate("[...document.querySelectorAll('input, textarea')].map(({ value }) => value).join(' ')")
    # The server's address has digits, too.
    return f"{page.content()} {tree} {values}".replace(player.server, "")


def test_a_product_is_nowhere_until_it_is_committed(player: PlayerPage) -> None:
    w = torch.tensor(3.25, requires_grad=True)
    (w * 71 * 7).backward()
    assert w.grad is not None
    assert f"{w.grad.item():g}" == ANSWER

    player.open(fragment(PRODUCT, s="2.3", predict="1"))
    expect(form(player)).to_contain_text("What is v times J for w?")
    player.wait_for_steps(4)
    player.wait_for_end_of_run()
    assert not re.search(rf"(?<![\w.]){ANSWER}(?![\w])", said(player))

    commit(player, ANSWER)
    expect(feedback(player)).to_have_text(re.compile(f"Right, it is {ANSWER}"))
    assert player.cells("v times J") == [[float(ANSWER)]]
    expect(player.narration).to_contain_text(ANSWER)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("71", "you forgot to multiply by v: that is the local derivative alone"),
        ("-497", "the sign is wrong"),
        ("22.75", "that is the gradient for the other operand"),
        ("7", "that is v itself"),
        ("1000", None),
    ],
)
def test_a_wrong_product_is_told_apart(player: PlayerPage, answer: str, reason: str | None) -> None:
    player.open(fragment(PRODUCT, s="2.3", predict="1"))
    commit(player, answer)
    expect(feedback(player)).to_contain_text(f"You said {answer.replace('-', chr(0x2212))}, it is {ANSWER}")
    if reason is not None:
        expect(feedback(player)).to_contain_text(reason)
    else:
        expect(feedback(player)).to_have_text(re.compile(rf"it is {ANSWER}\.$"))


def test_a_forgotten_transpose_is_named(player: PlayerPage) -> None:
    v = torch.tensor([[1.0, 0.0], [2.0, 1.0]])
    right = v @ torch.tensor([[7.0, 11.0], [13.0, 17.0]]).T
    wrong = v @ torch.tensor([[7.0, 11.0], [13.0, 17.0]])
    player.open(fragment(SQUARE, s="1.3", predict="1"))
    asked = re.search(r"at \[(\d), (\d)\]", form(player).inner_text())
    assert asked is not None
    place = (int(asked[1]), int(asked[2]))
    assert right[place] != wrong[place]
    commit(player, f"{wrong[place].item():g}")
    expect(feedback(player)).to_contain_text(f"it is {right[place].item():g}: you forgot the transpose")


def test_a_sum_left_out_is_named(player: PlayerPage) -> None:
    player.open(fragment(TWICE, predict="1", s="4.1"))
    expect(form(player)).to_contain_text("a was used twice")
    assert "719" not in said(player)
    commit(player, "411")
    expect(feedback(player)).to_contain_text("You said 411, it is 719")
    expect(feedback(player)).to_contain_text("contributions are summed")


def test_grad_adds_up(player: PlayerPage) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    (x * 611).backward()
    (x * 125).backward()
    assert x.grad is not None
    assert x.grad.item() == 736

    player.open(fragment(AGAIN, predict="1", s="4.5"))
    expect(form(player)).to_contain_text("x.grad was 611, and 125 arrives")
    assert "736" not in said(player)
    commit(player, "125")
    expect(feedback(player)).to_contain_text("You said 125, it is 736: backward does not replace .grad")


def test_next_nodes_are_ticked(player: PlayerPage) -> None:
    player.open(fragment(PRODUCT, predict="1", s="2.4"))
    form(player).get_by_role("checkbox", name="w (leaf, line 3)").check()
    player.button("Commit").click()
    expect(feedback(player)).to_contain_text("x (leaf, line 4) was left out")


def test_the_walk_waits_for_the_answer_and_can_be_told_to_go_on(player: PlayerPage) -> None:
    player.open(fragment(PRODUCT, s="1.5"))
    player.wait_for_steps(4)
    player.button("Predict").click()
    expect(player.button("Predict")).to_have_attribute("aria-pressed", "true")
    player.button("Next phase").click()
    player.wait_for_place("2.2")
    player.button("Next phase").click()
    player.wait_for_place("2.3")
    expect(form(player)).to_be_visible()
    player.button("Next phase").click()
    expect(form(player).get_by_role("textbox")).to_be_focused()
    player.page.keyboard.type("six")
    player.page.keyboard.press("Enter")
    expect(form(player).get_by_role("alert")).to_contain_text("A number")
    player.button("Skip").click()
    expect(form(player)).to_be_hidden()
    assert player.cells("v times J") == [[float(ANSWER)]]
    player.page.keyboard.press("ArrowRight")
    player.wait_for_place("2.4")


def test_no_way_leads_past_a_question(player: PlayerPage) -> None:
    """Slider, keys, step table and code stop at the first that is open; what was skipped stays skipped."""
    player.open(fragment(PRODUCT, s="1.1", predict="1"))
    player.wait_for_steps(4)
    page = player.page
    ways = [
        lambda: player.button("Last step").click(),
        lambda: player.rows.nth(3).click(),
        lambda: page.get_by_role("slider", name="Step", exact=True).fill("4"),
        lambda: player.program.get_by_text("*", exact=True).first.click(),
    ]
    for way in ways:
        way()
        player.wait_for_place("1.3")
        expect(form(player)).to_be_visible()
        assert not re.search(rf"(?<![\w.]){ANSWER}(?![\w])", said(player))
    player.button("Skip").click()
    player.button("Last step").click()
    player.wait_for_place("2.3")
    commit(player, ANSWER)
    player.button("Previous step").click()
    player.wait_for_place("1.3")
    expect(form(player)).to_have_count(0)


def test_what_a_lecturer_wants_predicted_cannot_be_read_off_before(player: PlayerPage) -> None:
    """`#@ predict` without predict mode: the answer is nowhere while one stands before it."""
    player.open(fragment(PRODUCT.replace("f = w * x", "f = w * x  #@ predict"), s="1.1"))
    player.wait_for_steps(4)
    assert not re.search(rf"(?<![\w.]){ANSWER}(?![\w])", said(player))
    player.button("Last step").click()
    player.wait_for_place("2.3")
    commit(player, ANSWER)
    expect(player.rows.nth(1)).to_contain_text(ANSWER)


def test_what_stands_out_is_not_told_before_it_is_reached(player: PlayerPage) -> None:
    player.open("example=vanishing")
    told = player.page.get_by_role("region", name="What stands out")
    expect(told).to_contain_text("vanishing gradient")
    sentence = told.get_by_role("listitem").first.inner_text()
    player.button("Predict").click()
    expect(told).to_have_count(0)
    assert "vanishing gradient" not in said(player)
    while player.button("Last step").is_enabled():
        player.button("Last step").click()
        if form(player).is_visible():
            player.button("Skip").click()
    expect(told.get_by_role("listitem").first).to_have_text(sentence, use_inner_text=True)


DIRECTED = """
import torch

x = torch.tensor(2.0, requires_grad=True)
#@ note This is where the slope comes from.
a = x * 5  #@ predict How much reaches x?
b = a.exp()  #@ hide
c = b * 0.5  #@ focus
d = c + 1
d.backward()
""".strip()


def test_comments_direct_the_lecture(player: PlayerPage) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    ((x * 5).exp() * 0.5 + 1).backward()
    player.open(fragment(DIRECTED))
    player.wait_for_steps(5)
    player.wait_for_place("2.1")
    player.button("Next step").click()
    player.wait_for_place("4.2")
    expect(player.page.get_by_role("note", name="Note")).to_have_text("This is where the slope comes from.")
    player.button("Previous step").click()
    player.wait_for_place("2.2")
    player.page.get_by_role("button", name="Go to step 3").click()
    player.wait_for_place("3.2")
    player.open(fragment(DIRECTED, s="4.3"))
    expect(form(player)).to_contain_text("How much reaches x?")
    assert x.grad is not None
    commit(player, f"{x.grad.item():.6g}")
    expect(feedback(player)).to_contain_text("Right")


def test_playing_stops_at_a_break(player: PlayerPage) -> None:
    player.open(
        fragment(
            "import torch\nx = torch.tensor(2.0, requires_grad=True)\na = x * 5 #@ break\na.exp().backward()", s="1.5"
        )
    )
    player.wait_for_steps(3)
    player.page.get_by_role("combobox").select_option("4")
    player.button("Play").click()
    player.wait_for_place("2.2")
    expect(player.button("Play")).to_be_visible()


def test_the_run_before_stays_beside_the_new_numbers(player: PlayerPage) -> None:
    player.open(fragment("x * x * 3", i={"x": 2.0}))
    expect(player.slider("x")).to_have_value("2")
    player.product.wait_for()
    player.wait_for_end_of_run()
    player.page.get_by_role("spinbutton", name="x value").fill("2.5")
    player.page.keyboard.press("Enter")
    panel = player.page.get_by_role("region", name="Since the run before")
    expect(panel).to_contain_text("x.grad")
    expect(panel).to_contain_text("15")
    expect(panel).to_contain_text("was 12, +3")
    expect(panel).to_contain_text("was 12, +6.75")
    player.button("Last step").click()
    expect(player.page.locator(".ghost.held")).to_have_text("was 12 (+3)")
    player.button("First step").click()
    expect(player.page.locator(".ghost.held")).to_have_count(0)
    panel.get_by_role("button", name="Forget it").click()
    expect(player.page.locator(".ghost")).to_have_count(0)


def test_all_rows_give_the_whole_jacobian(player: PlayerPage) -> None:
    p = torch.tensor([2.0, 3.0])
    jacobian = torch.autograd.functional.jacobian(lambda p: torch.stack([p[0] ** 2, p[0] * p[1], p[1] ** 2]), p)
    player.open("example=map")
    player.wait_for_steps(2)
    player.button("all rows").click()
    expect(player.product.get_by_text("one row per v")).to_be_visible()
    assert player.cells("v") == torch.eye(3).tolist()
    assert player.cells("Local Jacobian") == jacobian.tolist()
    assert player.cells("v times J") == jacobian.tolist()


def test_the_tour_is_offered_once(new_page: Opener) -> None:
    player = new_page()
    player.open()
    tour = player.page.get_by_role("region", name="Tour")
    expect(tour).to_be_visible()
    player.button("Take the tour").click()
    for stop in (1, 2, 3, 4):
        expect(tour).to_contain_text(f"{stop} of 4")
        expect(player.page.locator("[data-tour]")).to_have_count(1)
        player.button("Done" if stop == 4 else "Next stop").click()
    expect(tour).to_be_hidden()
    player.page.reload()
    player.wait_for_steps(2)
    expect(tour).to_be_hidden()


SIZES = """() => {
  const shown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    && element.getBoundingClientRect().width > 1 && !element.closest('.visually-hidden, [popover], dialog, .far');
  const scaleOf = (element) => {
    const world = element.closest('.world');
    const token = element.closest('.token');
    const own = token === null ? 1 : new DOMMatrix(getComputedStyle(token).transform).a;
    return world === null ? 1 : own * new DOMMatrix(getComputedStyle(world).transform).a;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const isOut = element.closest('script, style, mfrac, msub, msup') !== null;
    if (!node.textContent.trim() || !shown(element) || isOut) continue;
    const size = parseFloat(getComputedStyle(element).fontSize) * scaleOf(element);
    const values = '.brackets td, article .number, .token, .sum > .term, .sum > strong, [aria-label=Narration]';
    const isValue = element.closest(values) !== null;
    texts.push({ text: node.textContent.trim().slice(0, 30), size, isValue, in: element.className });
  }
  const strokes = [];
  for (const element of document.querySelectorAll('article, .token, .callout, .brackets, button, input')) {
    if (!shown(element)) continue;
    const style = getComputedStyle(element);
    const width = parseFloat(style.borderTopWidth);
    const isDrawn = style.borderTopStyle !== 'none' && width > 0;
    if (isDrawn) strokes.push({ in: element.className, width: width * scaleOf(element) });
  }
  return { texts, strokes };
}"""


@pytest.mark.parametrize("slug", ["map", "why-grad-output", "used-twice", "gradient-accumulation"])
def test_a_projected_page_can_be_read_from_the_last_row(new_page: Opener, slug: str) -> None:
    player = new_page(viewport={"width": 1920, "height": 1080}, reduced_motion="reduce")
    player.open(f"example={slug}&projector=1")
    player.page.wait_for_selector("[aria-label='Autograd graph'] article")
    player.page.wait_for_load_state("networkidle")
    measured = player.page.evaluate(SIZES)
    assert len(measured["texts"]) > 30
    small = [each for each in measured["texts"] if each["size"] < (28 if each["isValue"] else 22) - 0.05]
    assert small == []
    assert [each for each in measured["strokes"] if each["width"] < 2 - 0.01] == []
