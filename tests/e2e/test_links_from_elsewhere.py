"""On a server that is not one's own, a link may bring a program but not run it."""

from playwright.sync_api import expect

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.words.catalogue import say
from tests.e2e.player import PlayerPage, fragment
from tests.world.server import ELSEWHERE


def test_a_program_from_a_link_waits_for_a_click_and_a_shipped_example_does_not(player: PlayerPage) -> None:
    player.server = player.server.replace("127.0.0.1", ELSEWHERE)
    ran: list[str] = []
    player.page.on("request", lambda asked: ran.append(asked.url) if asked.method == "POST" else None)
    player.open(fragment("x * y", i={"x": 2.0, "y": 3.0}, s="1.3"))
    expect(player.page.get_by_text(say("page-came-with-link"))).to_be_visible()
    player.button("Run").click()
    player.wait_for_steps(3)
    assert player.cells("v times J") == [[3.0]]
    assert len(ran) == 1, "it ran by itself before"
    # Without a clipboard, which a page over plain HTTP does not have, the link is there to be copied by hand.
    player.named("button", "page-share").click()
    field = player.named("textbox", "page-copy-link")
    expect(field).to_be_focused()
    assert "code=x" in field.input_value()
    player.open(fragment(EXAMPLES[0].source))
    player.wait_for_steps(2)
