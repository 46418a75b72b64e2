"""What is on the page while there is nothing to show: a long run, no graph, a server that is away or busy."""

import json
import re

from playwright.sync_api import Route, expect

from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage, fragment

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


def test_a_busy_server_is_asked_again_when_it_said(new_page: Opener) -> None:
    """A server refuses under load, which no test brings about at will: its answer is given in its place, once."""
    player = new_page()
    player.expected_complaints.append("429")
    refused: list[str] = []

    def refuse_once(route: Route) -> None:
        if refused:
            route.continue_()
            return
        refused.append(route.request.url)
        body = json.dumps({"code": "busy", "message": "The server is busy."})
        route.fulfill(status=429, headers={"Retry-After": "2"}, content_type="application/json", body=body)

    player.page.route(re.compile("/api/.*trace"), refuse_once)
    player.open(fragment("x * y", i={"x": 2.0, "y": 3.0}))
    expect(player.page.get_by_role("status", name="Run")).to_contain_text(re.compile(r"busy. Trying again in [12] s"))
    player.wait_for_steps(3)
    assert refused


def test_a_program_without_a_graph_is_told_what_to_do(player: PlayerPage) -> None:
    player.open(fragment("import torch\nprint(torch.ones(2))"))
    expect(player.page.get_by_role("heading", name="There is no backward pass to show")).to_be_visible()
    expect(player.problems.first).to_contain_text("requires_grad=True")
