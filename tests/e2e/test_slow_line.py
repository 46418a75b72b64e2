"""A first visit over a slow line: what comes late does not hold up what is there, and takes nothing away."""

from typing import Any

from playwright.sync_api import Page, Response, Route, expect

from tests.e2e.conftest import Opener


def slow_down(page: Page, bytes_per_second: int, latency: int = 100) -> None:
    """As DevTools does it."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    conditions = {"downloadThroughput": bytes_per_second, "uploadThroughput": bytes_per_second, "latency": latency}
    session.send("Network.emulateNetworkConditions", {"offline": False, **conditions})


def boxes(page: Page) -> dict[str, Any]:
    """Where the cards stand to each other, by their nodes."""
    found = page.locator("[data-node]").evaluate_all("""(cards) => {
        const boxes = cards.map((card) => [card.dataset.node, card.getBoundingClientRect()]);
        const left = Math.min(...boxes.map(([, box]) => box.x)), top = Math.min(...boxes.map(([, box]) => box.y));
        return boxes.map(([node, box]) => [node, [Math.round(box.x - left), Math.round(box.y - top)]]);
    }""")
    return dict(found)


def test_who_writes_at_once_loses_neither_a_letter_nor_the_focus(new_page: Opener) -> None:
    player = new_page()
    page = player.page
    slow_down(page, 400_000)
    examples: list[Route] = []
    page.route("**/api/examples*", lambda route: examples.append(route))
    page.goto(player.server, wait_until="commit")
    page.locator("textarea[aria-label=Program]").focus()
    written = ""
    while page.locator(".cm-content").count() == 0:
        written += f"#{len(written)}"
        page.keyboard.insert_text(written[written.rindex("#") :])
        # Only now: who writes later writes into the first example.
        while examples:
            examples.pop().continue_()
    page.keyboard.insert_text(" and on")
    expect(player.program).to_be_focused()
    assert page.locator(".cm-line").all_inner_texts() == [f"{written} and on"]
    assert written.count("#") > 3
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("x * 3")
    player.wait_for_steps(2)


def test_a_picture_does_not_wait_for_graphviz(new_page: Opener) -> None:
    player = new_page()
    held: list[Route] = []
    player.page.route("**/assets/worker-*.js", lambda route: held.append(route))
    player.page.goto(player.server)
    expect(player.page.locator("[data-node]").first).to_be_visible()
    nodes = set(boxes(player.page))
    assert len(held) == 1
    held[0].continue_()
    usual = new_page()
    usual.open()
    expect(usual.page.locator("[data-node]").first).to_be_visible()
    expect(player.program).to_have_attribute("contenteditable", "true")
    assert set(boxes(usual.page)) == nodes


def test_the_browser_is_sent_zstd_and_reads_it(new_page: Opener) -> None:
    player = new_page()
    codings: dict[str, str | None] = {}

    def note(answer: Response) -> None:
        codings[answer.url.removeprefix(player.server)] = answer.headers.get("content-encoding")

    player.page.on("response", note)
    player.open()
    player.wait_for_steps(2)
    assert codings["/api/traces"] == codings["/api/examples"] == "zstd"
    files = {path: coding for path, coding in codings.items() if path.startswith("/assets/")}
    assert {coding for path, coding in files.items() if path.endswith((".js", ".css"))} == {"zstd"}
    assert {coding for path, coding in files.items() if path.endswith(".woff2")} <= {None}
