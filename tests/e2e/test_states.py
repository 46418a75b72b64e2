"""What is on the page while the line is slow, or the server is away or busy."""

from playwright.sync_api import Route, expect

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.words.catalogue import say
from tests.e2e.player import PlayerPage, fragment, slow_down
from tests.world.server import ELSEWHERE


def test_a_server_that_goes_away_leaves_the_picture_and_is_asked_again(player: PlayerPage) -> None:
    """One that is busy, refuses or drops is met in `client.test.ts`, a full queue in `tests/api`."""
    page, status = player.page, player.named("status", "page-run-status")
    player.open(fragment("x * y", i={"x": 2.0, "y": 3.0}))
    player.wait_for_steps(3)
    player.expected_complaints += ["ERR_INTERNET_DISCONNECTED"]
    page.context.set_offline(True)
    player.type_program("x * y * y")
    expect(status).to_contain_text(say("page-run-offline"))
    expect(player.product).to_be_visible()
    player.button("Next phase").click()
    page.context.set_offline(False)
    player.wait_for_steps(4)
    expect(status).to_be_empty()


def test_over_a_slow_line_neither_a_letter_nor_the_focus_is_lost(player: PlayerPage) -> None:
    page = player.page
    slow_down(page, 400_000)
    examples: list[Route] = []
    page.route("**/api/examples*", lambda route: examples.append(route))
    page.goto(player.server, wait_until="commit")
    page.locator("textarea[aria-label=Program]").focus()
    written = ""
    while page.locator(".cm-content").count() == 0:
        word = f"#{len(written)}"
        written += word
        page.keyboard.insert_text(word)
        # Only now: who writes later writes into the first example.
        while examples:
            examples.pop().continue_()
    page.keyboard.insert_text(" and on")
    expect(player.program).to_be_focused()
    assert page.locator(".cm-line").all_inner_texts() == [f"{written} and on"]
    assert written
    player.press("Control+a")
    page.keyboard.insert_text("x * 3")
    player.wait_for_steps(2)


def test_a_picture_does_not_wait_for_graphviz(player: PlayerPage) -> None:
    held: list[Route] = []
    player.page.route("**/kit/layout.js", lambda route: held.append(route))
    player.page.goto(player.server)
    cards = player.page.locator("[data-node]")
    expect(cards.first).to_be_visible()
    before = set(cards.evaluate_all("cards => cards.map((card) => card.dataset.node)"))
    assert len(held) == 1
    held[0].continue_()
    player.wait_for_steps(2)
    player.wait_for_end_of_run()
    expect(player.program).to_have_attribute("contenteditable", "true")
    assert set(cards.evaluate_all("cards => cards.map((card) => card.dataset.node)")) == before


def test_a_program_from_a_link_waits_for_a_click_and_a_shipped_example_does_not(player: PlayerPage) -> None:
    """On a server that is not one's own, a link may bring a program but not run it."""
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


def test_a_link_in_german_is_german_unless_its_catalogue_does_not_come(player: PlayerPage) -> None:
    player.page.goto(f"{player.server}/#{fragment('x*y', lang='de')}")
    expect(player.page.get_by_role("textbox", name=say("page-program", "de"))).to_be_visible()
    expect(player.page.locator("html")).to_have_attribute("lang", "de")
    player.expected_complaints = ["net::ERR_FAILED"]
    player.page.route("**/assets/de-*.js", lambda route: route.abort())
    with player.page.expect_event("requestfailed", lambda request: "/assets/de-" in request.url):
        player.open(fragment("x*y", lang="de"))
    expect(player.page.locator("html")).to_have_attribute("lang", "en")
