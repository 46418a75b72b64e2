"""Everything by keys alone, with names that a screen reader can say."""

import re
from pathlib import Path

import torch
from playwright.sync_api import Locator, expect

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.words.catalogue import say, tell_attribute
from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage, fragment
from tests.e2e.test_examples import shown

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
IN_A_MINUTE = README.split("## In a minute\n")[1].split("\n## ")[0]
INPUTS = {"x": 2.0, "y": 3.0}
WALK = (
    ("ArrowRight", "1.1"),
    ("PageDown", "1.2"),
    ("PageUp", "1.1"),
    ("ArrowLeft", "0"),
    ("Shift+ArrowRight", "1.3"),
    ("End", "2.5"),
    ("Shift+ArrowLeft", "1.3"),
    ("Home", "0"),
)
"""In the opening example; it ends where it began."""

IS_FOCUSED = "element => element === document.activeElement"


def tab_to(player: PlayerPage, target: Locator) -> None:
    """By keys: leaves the editor where it is on the way."""
    for _ in range(80):
        player.press("Tab")
        if target.evaluate(IS_FOCUSED):
            return
        if player.program.evaluate(IS_FOCUSED):
            player.press("Escape")
    raise AssertionError(f"{target} was not reached")


def test_readmes_minute_by_keys_alone(player: PlayerPage) -> None:
    """In a profile that has seen nothing."""
    example = re.search(r'choose "([^"]+)"', IN_A_MINUTE)
    expression = re.search(r"type `([^`]+)`", IN_A_MINUTE)
    assert example is not None
    assert expression is not None
    keys, dialog = player.page.keyboard, player.page.get_by_role("dialog")
    player.open()
    player.wait_for_steps(2)
    # The page opens with this example: only from elsewhere is its opening step a sign that it was opened again.
    player.press("End")
    player.wait_for_place("2.5")
    tab_to(player, player.named("button", "page-examples"))
    keys.press("Enter")
    for each in EXAMPLES:
        expect(dialog.get_by_text(shown(tell_attribute(each.fact, "question")), exact=True).first).to_be_visible()
    tab_to(player, dialog.get_by_role("button", name=example[1]))
    keys.press("Enter")
    expect(dialog).to_be_hidden()
    player.wait_for_place("0")
    player.wait_for_end_of_run()
    for key, place in WALK:
        player.press(key)
        player.wait_for_place(place)
    player.press("Space")
    player.wait_for_place("1.1")

    tab_to(player, player.program)
    keys.press("ControlOrMeta+a")
    keys.type(expression[1])
    keys.press("ControlOrMeta+Enter")
    player.wait_for_steps(5)
    keys.press("Escape")
    tab_to(player, player.slider("x"))
    keys.press("ArrowRight")
    expect(player.slider("x")).to_have_value("2.05")
    x = torch.tensor(2.05, requires_grad=True)
    (torch.sin(x * 3.0) + x).backward()
    assert x.grad is not None
    tab_to(player, player.button("Last step"))
    keys.press("Enter")
    player.show_panel("page-steps")
    expect(player.page.get_by_role("table", name="Steps")).to_contain_text(f"{x.grad.item():.4g}")
    # The v of the example stays with the example.
    player.wait_for_key("i", '{"x":2.05}')
    assert "g=" not in player.page.url


def test_arrow_keys_switch_tabs_on_a_tab_and_walk_elsewhere(player: PlayerPage) -> None:
    player.open(fragment("x * y", i=INPUTS, s="1.2"))
    player.wait_for_steps(3)
    program, steps = (player.named("tab", f"page-{key}") for key in ("program", "steps"))
    program.focus()
    for key, selected in (("ArrowRight", steps), ("ArrowRight", program), ("End", steps), ("Home", program)):
        player.press(key)
        expect(selected).to_be_focused()
        expect(selected).to_have_attribute("aria-selected", "true")
    assert player.place() == "1.2"
    player.press("Shift+ArrowRight")
    player.wait_for_place("2.5")
    expect(program).to_have_attribute("aria-selected", "true")
    player.named("button", "page-run").focus()
    player.press("ArrowLeft")
    player.wait_for_place("1.5")
    expect(program).to_have_attribute("aria-selected", "true")


def test_typing_moves_no_step_escape_leaves_the_editor_and_the_keys_are_listed(player: PlayerPage) -> None:
    player.open(fragment("import torch\nx = torch.tensor(2.0, requires_grad=True)\ny = x", s="0"))
    player.program.click()
    for key in ("ArrowLeft", "ArrowRight", "Home", "PageDown", "Space", "Backspace", "ControlOrMeta+End"):
        player.press(key)
    assert player.place() == "0"
    player.page.keyboard.insert_text(" * x * x")
    player.press("ControlOrMeta+Enter")
    player.wait_for_steps(3)
    player.press("Escape")
    expect(player.program).not_to_be_focused()
    player.press("ArrowRight")
    player.wait_for_place("1.1")
    player.press("?")
    keys = player.named("dialog", "player-keys")
    for name in ("player-next-phase", "player-last-step", "player-find"):
        expect(keys).to_contain_text(say(name))
    player.press("ArrowRight")
    player.press("Escape")
    expect(keys).to_be_hidden()
    player.wait_for_place("1.1")


ANNOUNCEMENTS = """() => {
    window.said = [];
    new MutationObserver((changes) => {
        const told = changes.map(({ target }) => (target.nodeType === 1 ? target : target.parentElement)?.closest(
            "[role=status], [role=alert], [aria-live]"));
        for (const region of new Set(told)) {
            if (region && region.getAttribute("aria-live") !== "off") said.push(region.textContent.trim());
        }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""


def test_each_phase_is_announced_once_and_none_while_playing(new_page: Opener) -> None:
    player = new_page(reduced_motion="no-preference")
    player.open(fragment("sin(x * y)", i=INPUTS, s="0"))
    player.wait_for_steps(4)
    player.wait_for_end_of_run()
    player.page.evaluate(ANNOUNCEMENTS)
    sentences = [player.move("Next phase") for _ in range(3)]
    assert player.page.evaluate("said.splice(0)") == sentences
    player.move("Next step")
    player.page.wait_for_function("said.splice(0).length > 0")
    player.choose_speed("4")
    player.button("Play").click()
    player.wait_for_place("3.5")
    # Playing ends there: on a slow machine in the same frame, and then the last sentence is announced.
    assert {*player.page.evaluate("said")} <= {player.narration.inner_text()}
