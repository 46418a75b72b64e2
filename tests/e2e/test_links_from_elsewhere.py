"""On a server that is not one's own, a link may bring a program but not run it."""

from playwright.sync_api import expect

from gradwalk.examples.catalogue import EXAMPLES
from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage, fragment
from tests.world.server import ELSEWHERE


def elsewhere(new_page: Opener) -> PlayerPage:
    player = new_page()
    player.server = player.server.replace("127.0.0.1", ELSEWHERE)
    return player


def test_a_program_from_a_link_waits_for_a_click(new_page: Opener) -> None:
    player = elsewhere(new_page)
    requests: list[str] = []
    player.page.on("request", lambda request: requests.append(f"{request.method} {request.url}"))
    player.open(fragment("x * y", i={"x": 2.0, "y": 3.0}, s="1.3"))
    expect(player.page.get_by_text("This link brought a program")).to_be_visible()
    player.page.wait_for_load_state("networkidle")
    assert not [request for request in requests if request.startswith("POST")]
    player.button("Run").click()
    player.wait_for_steps(3)
    assert player.cells("v times J") == [[3.0]]


def test_a_shipped_example_runs_at_once(new_page: Opener) -> None:
    player = elsewhere(new_page)
    player.open(fragment(EXAMPLES[0].source))
    player.wait_for_steps(2)


def test_without_a_clipboard_the_link_is_there_to_be_copied_by_hand(new_page: Opener) -> None:
    player = elsewhere(new_page)
    player.open(fragment("x * y"))
    player.button("Run").click()
    player.wait_for_steps(3)
    player.button("Share").click()
    field = player.page.get_by_role("textbox", name="Copy this link")
    expect(field).to_be_focused()
    assert "code=x" in field.input_value()
