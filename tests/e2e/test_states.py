"""What is on the page while there is nothing to show: a long run, no graph, a server that is away or busy."""

import contextlib
import re

import httpx
from playwright.sync_api import expect

from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage, fragment
from tests.world.server import running_server

LONG = """
import torch
m = torch.randn(300, 300)
for _ in range(4_000):
    m = torch.tanh(m @ m)
x = torch.tensor(2.0, requires_grad=True)
(x * x).backward()
""".strip()


def test_what_takes_long_says_so_and_can_be_stopped(player: PlayerPage) -> None:
    player.open(fragment(LONG))
    status = player.page.get_by_role("status", name="Run")
    expect(status).to_have_text(re.compile("Starting the program|Running"))
    player.button("Stop").click()
    expect(status).to_be_empty()


def test_a_server_that_goes_away_leaves_the_picture_and_is_found_again(player: PlayerPage) -> None:
    player.open(fragment("x * y", i={"x": 2.0, "y": 3.0}))
    player.wait_for_steps(3)
    player.expected_complaints.append("ERR_INTERNET_DISCONNECTED")
    player.page.context.set_offline(True)
    player.type_program("x * y * y")
    status = player.page.get_by_role("status", name="Run")
    expect(status).to_contain_text("The server cannot be reached")
    expect(player.product).to_be_visible()
    player.button("Next phase").click()
    player.page.context.set_offline(False)
    player.wait_for_steps(4)
    expect(status).to_be_empty()


def test_a_server_whose_queue_is_full_is_asked_again_when_it_said(new_page: Opener) -> None:
    """One program runs, one that took longer runs behind it, one waits: there is no room until they are called off."""
    with running_server(running_count=1, waiting_count=1, run_seconds=60, abandon_seconds=0.1) as busy:
        player = new_page()
        player.server = busy.url
        player.expected_complaints.append("429")
        said: list[tuple[int, str | None]] = []
        player.page.on("response", lambda answer: said.append((answer.status, answer.headers.get("retry-after"))))
        with contextlib.ExitStack() as crowd, httpx.Client(base_url=busy.url, timeout=60) as client:
            held = []  # a stream that nobody holds is closed, and its program called off
            for number in range(3):
                body = {"source": f"while {number} == {number}: pass"}
                stream = client.stream("POST", "/api/traces", json=body, headers={"Accept": "text/event-stream"})
                lines = crowd.enter_context(stream).iter_lines()
                held.append(lines)
                assert any("data: [" in line or (number == 2 and "queued" in line) for line in lines)
            player.open(fragment("x * y", i={"x": 2.0, "y": 3.0}))
            status = player.page.get_by_role("status", name="Run")
            expect(status).to_contain_text(re.compile(r"busy. Trying again in \d+ s"))
            refused = [after for code, after in said if code == 429]
            assert refused
            assert all(after is not None and int(after) >= 1 for after in refused)
        player.wait_for_steps(3)
        expect(status).to_be_empty()


def test_a_program_without_a_graph_is_told_what_to_do(player: PlayerPage) -> None:
    player.open(fragment("import torch\nprint(torch.ones(2))"))
    expect(player.page.get_by_role("heading", name="There is no backward pass to show")).to_be_visible()
    expect(player.problems.first).to_contain_text("requires_grad=True")
