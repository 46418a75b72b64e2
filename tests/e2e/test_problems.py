"""A student's mistake is a card with a line and what to try; the page goes on."""

import pytest
from playwright.sync_api import expect

from tests.e2e.player import PlayerPage, fragment


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("import torch\nx = torch.tensor(1.0, requires_grad=True\ny = x * x", 2, ""),
        ("import torch\nx = torch.tensor(1.0, requires_grad=True)\ny = torch.sine(x)", 3, "sine"),
        ("import torch\nx = torch.ones(3)\ny = x * 2\ny.sum().backward()", 4, "grad"),
        ("import torch\nx = torch.ones(3, requires_grad=True)\n(x * 2).backward()", 3, "scalar"),
    ],
    ids=["syntax", "unknown name", "nothing requires grad", "no scalar"],
)
def test_a_mistake_is_told_at_its_line(player: PlayerPage, source: str, line: int, words: str) -> None:
    player.open(fragment(source))
    card = player.problems.first
    expect(card).to_contain_text(words)
    card.get_by_role("button", name=f"Go to line {line}").click()
    expect(player.program).to_be_focused()
    expect(player.page.locator(".cm-lintRange-error").first).to_be_visible()


def test_steps_before_the_mistake_stay_readable(player: PlayerPage) -> None:
    source = "import torch\nx = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\ny.backward()"
    player.open(fragment(source, s="1.3"))
    player.wait_for_steps(2)
    expect(player.problems).to_have_count(1)
    assert player.cells("v times J") == [[3.0]]


def test_a_mended_program_takes_its_problems_away(player: PlayerPage) -> None:
    player.open(fragment("import torch\ny = torch.sine(1)"))
    expect(player.problems).to_have_count(1)
    player.type_program("x * x")
    player.page.keyboard.press("ControlOrMeta+Enter")
    player.wait_for_steps(2)
    expect(player.problems).to_have_count(0)


def test_an_expression_half_typed_leaves_the_picture(player: PlayerPage) -> None:
    player.open(fragment("x * y", i={"x": 2.0, "y": 3.0}))
    player.wait_for_steps(3)
    player.type_program("x * y *")
    expect(player.problems).to_have_count(1)
    expect(player.rows).to_have_count(3)


SHAPES = """
import torch

def block(t):
    u = t * 2
    return u.sin()

x = torch.ones(2, 3, requires_grad=True)
w = torch.ones(2, 3, requires_grad=True)
(w * 3).sum().backward()
z = block(x) @ w
""".strip()


def test_a_call_that_raised_stands_in_the_graph_with_what_went_into_it(player: PlayerPage) -> None:
    """After a pass that went well, and with an operand that comes out of a group."""
    player.open(fragment(SHAPES, s="1.3"))
    player.wait_for_steps(3)
    card = player.problems.first
    expect(card.get_by_role("listitem")).to_have_text(["operand 1: [2 × 3] float32", "operand 2: [2 × 3] float32"])
    card.get_by_role("button", name="Show it in the graph").click()
    failed = player.page.get_by_role("article", name="matmul, raised an error")
    expect(failed).to_contain_text("raised")
    expect(player.narration).to_contain_text("matmul raises: These matrices cannot be multiplied")
    forward = player.page.get_by_role("region", name="Forward")
    for operand in ("u.sin()", "w"):
        expect(forward.get_by_role("table", name=operand, exact=True)).to_be_visible()
    player.rows.first.click()
    expect(player.page.get_by_role("article", name="raised")).to_have_count(0)


def test_the_node_whose_backward_raised_is_marked(player: PlayerPage) -> None:
    player.open("example=wrong-shape")
    player.problems.first.get_by_role("button", name="Show it in the graph").click()
    raised = player.page.get_by_role("article", name="raised an error")
    expect(raised).to_have_count(1)
    expect(raised.get_by_role("button")).to_have_attribute("aria-pressed", "true")


def test_what_is_worth_knowing_of_a_pass_is_told(player: PlayerPage) -> None:
    source = "import torch\nx = torch.tensor(3.0, requires_grad=True)\n(x * x).backward()"
    player.open(fragment(source, i={"q": 2.0}, s="1.3"))
    player.wait_for_steps(2)
    expect(player.page.get_by_role("region", name="Worth knowing")).to_contain_text("The input q was not used")
