"""Everything by keyboard, with names a screen reader can say."""

from playwright.sync_api import Page, expect

from tests.e2e.player import PlayerPage, fragment

THREE_STEPS = "x * y"
INPUTS = {"x": 2.0, "y": 3.0}


def focused_name(page: Page) -> str:
    name: str = page.evaluate(
        "() => { const e = document.activeElement;"
        " return e.getAttribute('aria-label') ?? e.textContent.trim().slice(0, 60); }"
    )
    return name


def test_the_whole_walk_without_a_mouse(player: PlayerPage) -> None:
    player.open(fragment(THREE_STEPS, i=INPUTS, s="0"))
    player.wait_for_steps(3)
    player.button("Next phase").focus()
    keys = player.page.keyboard
    for place in ("1.1", "1.2", "1.3"):
        keys.press("ArrowRight")
        player.wait_for_place(place)
    keys.press("Shift+ArrowRight")
    player.wait_for_place("2.5")
    keys.press("ArrowLeft")
    player.wait_for_place("1.5")
    keys.press("PageDown")
    player.wait_for_place("2.5")
    keys.press("PageUp")
    player.wait_for_place("1.5")
    keys.press("Home")
    player.wait_for_place("0")
    keys.press("End")
    player.wait_for_place("3.5")


def test_arrows_walk_when_nothing_has_the_focus(player: PlayerPage) -> None:
    player.open(fragment(THREE_STEPS, i=INPUTS, s="1.1"))
    player.wait_for_steps(3)
    player.page.evaluate("document.activeElement.blur()")
    player.page.keyboard.press("ArrowRight")
    player.wait_for_place("1.2")


def test_typing_in_the_program_moves_no_step(player: PlayerPage) -> None:
    player.open(fragment("y = x", s="0"))
    player.program.click()
    for key in ("ArrowLeft", "ArrowRight", "Home", "End", "Space", "PageDown"):
        player.page.keyboard.press(key)
    assert player.place() == "0"


def test_control_enter_runs_and_escape_tab_leaves_the_editor(player: PlayerPage) -> None:
    player.open(fragment("import torch\nx = torch.tensor(2.0, requires_grad=True)\ny = x"))
    player.program.click()
    player.page.keyboard.press("ControlOrMeta+End")
    player.page.keyboard.insert_text(" * x * x")
    player.page.keyboard.press("ControlOrMeta+Enter")
    player.wait_for_steps(3)
    player.page.keyboard.press("Escape")
    player.page.keyboard.press("Tab")
    expect(player.program).not_to_be_focused()


def test_the_gallery_opens_closes_and_gives_the_focus_back(player: PlayerPage) -> None:
    player.open()
    player.wait_for_steps(2)
    examples = player.button("Examples")
    examples.focus()
    player.page.keyboard.press("Enter")
    dialog = player.page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    player.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(examples).to_be_focused()


def test_every_control_can_be_reached_and_has_a_name(player: PlayerPage) -> None:
    player.open(fragment(THREE_STEPS, i=INPUTS, s="1.3"))
    player.wait_for_steps(3)
    player.page.evaluate("document.activeElement.blur()")
    names: list[str] = []
    for _ in range(120):
        player.page.keyboard.press("Tab")
        name = focused_name(player.page)
        if name == "Program":
            player.page.keyboard.press("Escape")
        if names and name == names[0]:
            break
        names.append(name)
    assert all(names)
    for wanted in (
        "Examples",
        "View",
        "Share",
        "Program",
        "Run",
        "x",
        "External gradient",
        "Next phase",
        "Step",
        "Phase",
    ):
        assert wanted in names, f"{wanted} cannot be reached: {names}"


def test_the_step_slider_says_the_sentence(player: PlayerPage) -> None:
    player.open(fragment(THREE_STEPS, i=INPUTS, s="2.3"))
    player.wait_for_steps(3)
    text = player.slider("Step").get_attribute("aria-valuetext")
    assert text
    assert any(character.isdigit() for character in text)


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


def test_each_phase_is_announced_once_and_none_while_playing(player: PlayerPage) -> None:
    player.open(fragment("sin(x * y)", i=INPUTS, s="0"))
    player.wait_for_steps(4)
    player.wait_for_end_of_run()
    player.page.evaluate(ANNOUNCEMENTS)
    sentences = []
    for place in ("1.1", "1.2", "1.3", "1.4", "1.5", "2.2"):
        told = player.narration.inner_text()
        player.button("Next phase").click()
        player.wait_for_place(place)
        # The sentence comes when the motion is over.
        expect(player.narration).not_to_have_text(told)
        sentences.append(player.narration.inner_text())
    said = player.page.evaluate("said.splice(0)")
    assert said == sentences
    assert max(map(len, said)) <= 140
    player.page.get_by_role("combobox", name="Speed").select_option("4")
    player.button("Play").click()
    player.wait_for_place("3.5")
    assert player.page.evaluate("said") == []


def test_the_tree_of_names_is_the_promised_one(player: PlayerPage) -> None:
    """What a screen reader is told of the page, by the accessibility tree itself."""
    player.open(fragment(THREE_STEPS, i=INPUTS, s="1.3"))
    player.wait_for_steps(3)
    expect(player.page.locator("body")).to_match_aria_snapshot(
        """
        - banner:
          - heading "gradwalk" [level=1]
        - main:
          - group "Backward pass":
            - region "Program":
              - textbox "Program"
            - group "Autograd graph":
              - article "MulBackward0, step 1 of 3"
            - region "Vector-Jacobian product":
              - group "Equation":
                - table "v":
                  - rowgroup:
                    - row "1"
                - table "Local Jacobian":
                  - rowgroup:
                    - row "3"
                - table "v times J":
                  - rowgroup:
                    - row "3"
            - complementary "Step table":
              - table "Steps"
            - status "Narration"
            - group "Player":
              - button "First step"
              - button "Previous step"
              - button "Previous phase"
              - button "Play"
              - button "Next phase"
              - button "Next step"
              - button "Last step"
              - slider "Step"
              - slider "Phase"
        """
    )
