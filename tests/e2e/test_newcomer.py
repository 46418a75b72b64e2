"""A first visit by keys alone, as README's "In a minute" says; whose v and inputs are shown, sent and shared."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Request, expect

from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage, fragment

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
IN_A_MINUTE = README.split("## In a minute\n")[1].split("\n## ")[0]
EXAMPLE = re.search(r'choose "([^"]+)"', IN_A_MINUTE)
EXPRESSION = re.search(r"type `([^`]+)`", IN_A_MINUTE)
OWN_BACKWARD = "import torch\nx = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n(x * x).sum().backward()"
OWN_V = "import torch\nx = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\ny = x * x"
NO_V = "so v comes from there"


@pytest.fixture
def newcomer(new_page: Opener) -> PlayerPage:
    """At the opening example, in a profile that has seen nothing."""
    player = new_page(permissions=["clipboard-read", "clipboard-write"])
    player.open()
    player.wait_for_steps(2)
    player.wait_for_place("1.3")
    return player


class Sent(list[dict[str, Any]]):
    """The requests to run a program, as the server got them."""

    def __init__(self, player: PlayerPage) -> None:
        super().__init__()
        player.page.on("request", self._hear)

    def _hear(self, request: Request) -> None:
        if request.method == "POST" and request.url.endswith("/api/traces"):
            self.append(json.loads(request.post_data or ""))


def tab_to(player: PlayerPage, target: Locator, key: str = "Tab") -> None:
    """By keys: leaves the editor where it is on the way."""
    for _ in range(80):
        player.page.keyboard.press(key)
        if target.evaluate("element => element === document.activeElement"):
            return
        if player.program.evaluate("element => element === document.activeElement"):
            player.page.keyboard.press("Escape")
    raise AssertionError(f"{target} was not reached by {key}")


def share(player: PlayerPage) -> dict[str, str]:
    """The keys of the link that Share hands out."""
    player.button("Share").focus()
    player.page.keyboard.press("Enter")
    expect(player.page.get_by_text("Link copied")).to_be_visible()
    link: str = player.page.evaluate("navigator.clipboard.readText()")
    return dict(re.findall(r"[#&](\w+)=([^&]*)", link))


def standing(player: PlayerPage) -> tuple[str, str]:
    """Step and phase at this moment: the address follows later."""
    return player.slider("Step").input_value(), player.slider("Phase").input_value()


def wait_for_address_without(player: PlayerPage, *names: str) -> None:
    """Everything that the page is about to write into its address has been written."""
    player.page.wait_for_function(
        "names => names.every((name) => !new URLSearchParams(location.hash.slice(1)).has(name))", arg=list(names)
    )


def test_in_a_minute_an_example_by_keys_alone(newcomer: PlayerPage) -> None:
    assert EXAMPLE is not None
    keys = newcomer.page.keyboard
    dialog = newcomer.page.get_by_role("dialog")
    tab_to(newcomer, newcomer.button("Examples"))
    keys.press("Enter")
    tab_to(newcomer, dialog.get_by_role("button", name=EXAMPLE[1]))
    keys.press("Enter")
    expect(dialog).to_be_hidden()
    newcomer.wait_for_place("1.3")
    for key, place in (("ArrowRight", "1.4"), ("Space", "1.5"), ("PageDown", "2.5"), ("Home", "0")):
        keys.press(key)
        newcomer.wait_for_place(place)


def test_in_a_minute_an_expression_by_keys_alone(newcomer: PlayerPage) -> None:
    assert EXPRESSION is not None
    sent, keys = Sent(newcomer), newcomer.page.keyboard
    tab_to(newcomer, newcomer.button("Run"))
    tab_to(newcomer, newcomer.program)
    keys.press("ControlOrMeta+a")
    keys.type(EXPRESSION[1])
    keys.press("ControlOrMeta+Enter")
    newcomer.wait_for_steps(5)
    assert EXPRESSION[1] in {request["source"] for request in sent}
    assert [request["options"] for request in sent] == [{"seed": 0}] * len(sent)

    keys.press("Escape")
    tab_to(newcomer, newcomer.button("First step"))
    keys.press("Enter")
    newcomer.wait_for_place("0")
    keys.press("ArrowRight")
    newcomer.wait_for_place("1.1")
    assert "[0, 1, 0]" not in newcomer.page.locator("body").inner_text()
    expect(newcomer.page.get_by_role("textbox", name="External gradient")).to_have_value("1")
    wait_for_address_without(newcomer, "g", "i")
    assert share(newcomer).keys().isdisjoint({"g", "i"})


def test_in_a_minute_x_dragged_by_keys_alone(newcomer: PlayerPage) -> None:
    assert EXPRESSION is not None
    newcomer.type_program(EXPRESSION[1])
    newcomer.wait_for_steps(5)
    newcomer.page.keyboard.press("Escape")
    tab_to(newcomer, newcomer.slider("x"))
    newcomer.page.keyboard.press("ArrowRight")
    expect(newcomer.slider("x")).to_have_value("2.05")
    x = torch.tensor(2.05, requires_grad=True)
    (torch.sin(x * 3.0) + x).backward()
    assert x.grad is not None
    newcomer.page.keyboard.press("PageDown")
    tab_to(newcomer, newcomer.button("Last step"))
    newcomer.page.keyboard.press("Enter")
    expect(newcomer.page.get_by_role("table", name="Steps")).to_contain_text(f"{x.grad.item():.4g}")
    newcomer.page.wait_for_function("new URLSearchParams(location.hash.slice(1)).get('i') === '{\"x\":2.05}'")
    wait_for_address_without(newcomer, "g")


def test_a_program_that_calls_backward_itself_says_where_v_comes_from(newcomer: PlayerPage) -> None:
    sent = Sent(newcomer)
    newcomer.type_program(OWN_BACKWARD)
    newcomer.page.keyboard.press("ControlOrMeta+Enter")
    newcomer.wait_for_steps(3)
    expect(newcomer.page.get_by_text("starts the backward pass itself in line 3, " + NO_V)).to_be_visible()
    expect(newcomer.page.get_by_role("textbox", name="External gradient")).to_have_count(0)
    expect(newcomer.button("ones")).to_have_count(0)
    assert [request["options"] for request in sent] == [{"seed": 0}]
    wait_for_address_without(newcomer, "g")
    assert "g" not in share(newcomer)


def test_an_unused_v_of_a_link_is_neither_shown_nor_handed_on(new_page: Opener) -> None:
    player = new_page(permissions=["clipboard-read", "clipboard-write"])
    player.open(fragment(OWN_BACKWARD, g=[0, 1, 0], s="1.1"))
    player.wait_for_steps(3)
    expect(player.page.get_by_text(NO_V)).to_be_visible()
    assert "[0, 1, 0]" not in player.page.locator("body").inner_text()
    wait_for_address_without(player, "g")
    assert "g" not in share(player)


def test_undo_brings_v_and_inputs_back(player: PlayerPage) -> None:
    player.open(fragment(OWN_V, g=[0, 1, 0], i={"x": [4.0, 5.0, 6.0]}, s="1.3"))
    player.wait_for_steps(2)
    v = player.page.get_by_role("textbox", name="External gradient")
    expect(v).to_have_value("[0, 1, 0]")
    sent = Sent(player)
    player.program.click()
    player.page.keyboard.press("ControlOrMeta+End")
    player.page.keyboard.insert_text(" * x")
    player.page.keyboard.press("ControlOrMeta+Enter")
    expect(v).to_have_value("[1, 1, 1]")
    player.page.keyboard.press("ControlOrMeta+z")
    player.page.keyboard.press("ControlOrMeta+Enter")
    expect(v).to_have_value("[0, 1, 0]")
    expect(player.product.get_by_role("table", name="v times J")).to_be_visible()
    first, second = (request["options"] for request in sent)
    assert first == {"seed": 0}
    assert second == {"seed": 0, "grad_output": [0, 1, 0], "inputs": {"x": [4, 5, 6]}}


def test_what_is_given_after_the_change_stays_and_comments_change_nothing(player: PlayerPage) -> None:
    player.open(fragment(OWN_V, g=[0, 1, 0], s="1.3"))
    player.wait_for_steps(2)
    sent = Sent(player)
    player.type_program(OWN_V + " * x")
    expect(player.button("one-hot row 2")).to_be_disabled()
    v = player.page.get_by_role("textbox", name="External gradient")
    v.fill("[2, 2, 2]")
    player.wait_for_steps(3)
    player.type_program(OWN_V + " * x  # cubed")
    player.button("Run").click()
    expect(player.page.get_by_text("Edited since the run")).to_be_hidden()
    expect(v).to_have_value("[2, 2, 2]")
    assert [request["options"] for request in sent] == [{"seed": 0, "grad_output": [2, 2, 2]}] * 2


def test_an_example_brings_its_own_v(player: PlayerPage) -> None:
    player.open(fragment(OWN_V, s="1.3"))
    player.wait_for_steps(2)
    player.button("one-hot row 3").click()
    expect(player.page.get_by_role("textbox", name="External gradient")).to_have_value("[0, 0, 1]")
    sent = Sent(player)
    player.button("Examples").click()
    player.page.get_by_role("dialog").get_by_role("button", name="sin(x*y) + x, with sliders").click()
    expect(player.page.get_by_role("dialog")).to_be_hidden()
    wait_for_address_without(player, "g")
    assert all("grad_output" not in request["options"] for request in sent)


LEFT_FOCUSED = {
    "Examples": ("Examples", "Enter", "Escape"),
    "View": ("View", "Enter", "Escape"),
    "Share": ("Share", "Enter"),
    "Room": ("Room", "Enter", "Escape"),
    "Predict": ("Predict", "Enter", "Enter"),
}


@pytest.mark.parametrize("name", LEFT_FOCUSED)
def test_the_walk_goes_on_from_a_button_of_the_header(newcomer: PlayerPage, name: str) -> None:
    keys = newcomer.page.keyboard
    button, *pressed = LEFT_FOCUSED[name]
    tab_to(newcomer, newcomer.button(button))
    for key in pressed:
        keys.press(key)
    expect(newcomer.page.get_by_role("dialog")).to_be_hidden()
    expect(newcomer.button(button)).to_be_focused()
    for key, place in (
        ("ArrowRight", "1.4"),
        ("PageDown", "1.5"),
        ("PageUp", "1.4"),
        ("ArrowLeft", "1.3"),
        ("Shift+ArrowRight", "2.5"),
        ("Home", "0"),
        ("End", "2.5"),
    ):
        keys.press(key)
        newcomer.wait_for_place(place)
    expect(newcomer.button(button)).to_be_focused()


def test_space_presses_the_button_that_has_the_focus(newcomer: PlayerPage) -> None:
    tab_to(newcomer, newcomer.button("Examples"))
    newcomer.page.keyboard.press("Space")
    expect(newcomer.page.get_by_role("dialog")).to_be_visible()
    for key in ("ArrowRight", "End", "PageDown"):
        newcomer.page.keyboard.press(key)
    newcomer.page.get_by_role("dialog").get_by_role("heading").first.click()
    newcomer.page.keyboard.press("ArrowRight")
    newcomer.page.keyboard.press("Escape")
    expect(newcomer.page.get_by_role("dialog")).to_be_hidden()
    assert standing(newcomer) == ("1", "3")


def test_keys_in_the_view_menu_are_its_own(newcomer: PlayerPage) -> None:
    tab_to(newcomer, newcomer.button("View"))
    newcomer.page.keyboard.press("Enter")
    newcomer.page.keyboard.press("Tab")
    light = newcomer.page.get_by_role("radio", name="As the system")
    expect(light).to_be_focused()
    newcomer.page.keyboard.press("ArrowDown")
    expect(newcomer.page.get_by_role("radio", name="Light")).to_be_checked()
    newcomer.page.keyboard.press("ArrowRight")
    expect(newcomer.page.get_by_role("radio", name="Dark")).to_be_checked()
    tab_to(newcomer, newcomer.button("Fewer digits"))
    newcomer.page.keyboard.press("End")
    assert standing(newcomer) == ("1", "3")


def test_predict_asks_and_says_what_it_takes_to_go_on(newcomer: PlayerPage) -> None:
    keys = newcomer.page.keyboard
    tab_to(newcomer, newcomer.button("Predict"))
    keys.press("Enter")
    question = newcomer.page.get_by_role("form", name="Prediction")
    expect(question).to_be_visible()
    keys.press("ArrowRight")
    expect(question.get_by_role("textbox")).to_be_focused()
    keys.press("ArrowRight")
    expect(question.get_by_role("alert")).to_have_text("2 numbers, such as 1, 2. Skip goes on without an answer.")
    assert standing(newcomer) == ("1", "2"), "what is asked is not on show"
    keys.type("3, 2")
    keys.press("Enter")
    expect(newcomer.page.get_by_role("status", name="Feedback")).to_contain_text("✓")
    keys.press("ArrowRight")
    newcomer.wait_for_place("1.4")


def test_a_clicker_walks_past_a_question_that_is_skipped(newcomer: PlayerPage) -> None:
    keys = newcomer.page.keyboard
    tab_to(newcomer, newcomer.button("Predict"))
    keys.press("Enter")
    question = newcomer.page.get_by_role("form", name="Prediction")
    keys.press("PageDown")
    expect(question.get_by_role("textbox")).to_be_focused()
    keys.press("PageDown")
    expect(question.get_by_role("alert")).to_contain_text("Skip goes on without an answer.")
    tab_to(newcomer, question.get_by_role("button", name="Skip"))
    keys.press("Enter")
    expect(question).to_be_hidden()
    for place in ("1.4", "1.5", "2.5"):
        keys.press("PageDown")
        newcomer.wait_for_place(place)
