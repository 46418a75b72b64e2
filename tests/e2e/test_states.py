"""What is on the page while there is nothing to show, the line is slow, or the server is away or busy."""

import contextlib
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Response, Route, expect

from gradwalk.words.catalogue import say
from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage, fragment, slow_down

XY = {"x": 2.0, "y": 3.0}


def test_a_server_that_goes_away_leaves_the_picture_and_is_found_again(player: PlayerPage) -> None:
    player.open(fragment("x * y", i=XY))
    player.wait_for_steps(3)
    player.expected_complaints.append("ERR_INTERNET_DISCONNECTED")
    player.page.context.set_offline(True)
    player.type_program("x * y * y")
    status = player.named("status", "page-run-status")
    expect(status).to_contain_text(say("page-run-offline"))
    expect(player.product).to_be_visible()
    player.button("Next phase").click()
    player.page.context.set_offline(False)
    player.wait_for_steps(4)
    expect(status).to_be_empty()


@pytest.mark.soak
def test_a_full_queue_is_asked_again_when_the_server_said(new_page: Opener, start_server: Callable[..., Any]) -> None:
    """One program runs, one that took longer runs behind it, one waits: there is no room until they are called off."""
    busy = start_server(running_count=1, waiting_count=1, run_seconds=60, abandon_seconds=0.1)
    player = new_page()
    player.server = busy.url
    player.expected_complaints.append("429")
    said: list[tuple[int, str | None]] = []
    player.page.on("response", lambda answer: said.append((answer.status, answer.headers.get("retry-after"))))
    with contextlib.ExitStack() as crowd:
        held = []  # a stream that nobody holds is closed, and its program called off
        for number in range(3):
            body = {"source": f"while {number} == {number}: pass"}
            stream = busy.client.stream("POST", "/api/traces", json=body, headers={"Accept": "text/event-stream"})
            lines = crowd.enter_context(stream).iter_lines()
            held.append(lines)
            assert any("data: [" in line or (number == 2 and "queued" in line) for line in lines)
        with player.page.expect_response(lambda answer: answer.status == 429):
            player.open(fragment("x * y", i=XY))
        status = player.named("status", "page-run-status")
        expect(status).not_to_be_empty()
        refused = [after for code, after in said if code == 429]
        assert all(after is not None and int(after) >= 1 for after in refused)
    player.wait_for_steps(3)
    expect(status).to_be_empty()
    assert httpx.get(f"{busy.url}/readyz").is_success


def test_a_program_without_a_graph_is_told_what_to_do(player: PlayerPage) -> None:
    player.open(fragment("import torch\nprint(torch.ones(2))"))
    expect(player.named("heading", "page-no-pass")).to_be_visible()
    expect(player.problems.first).to_contain_text("requires_grad=True")


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


def test_a_picture_does_not_wait_for_graphviz_and_files_come_compressed(player: PlayerPage) -> None:
    held: list[Route] = []
    codings: dict[str, str | None] = {}

    def note(answer: Response) -> None:
        codings[answer.url.removeprefix(player.server)] = answer.headers.get("content-encoding")

    player.page.on("response", note)
    player.page.route("**/assets/worker-*.js", lambda route: held.append(route))
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
    assert codings["/api/traces"] == codings["/api/examples"] == "zstd"
    files = {path: coding for path, coding in codings.items() if path.startswith("/assets/")}
    assert {coding for path, coding in files.items() if path.endswith((".js", ".css"))} == {"zstd"}
    assert {coding for path, coding in files.items() if path.endswith(".woff2")} <= {None}
