"""What a person should know of a run stands where they look: warnings, and what stands out."""

from pathlib import Path

import httpx
from playwright.sync_api import expect

from tests.e2e.conftest import Opener
from tests.e2e.player import STREAM_MS, PlayerPage, fragment
from tests.tracer.test_backward_checks import function
from tests.world.shared import SharedServer
from tests.world.sites import keep_program


def test_a_warning_stands_at_its_line_and_beside_the_picture(player: PlayerPage) -> None:
    source = "x = torch.ones(4, 1, requires_grad=True)\nloss = F.mse_loss(x, torch.zeros(4))\nloss.backward()"
    player.open(fragment(source))
    warnings = player.page.get_by_role("region", name="Warnings")
    expect(warnings).to_contain_text("Using a target size (torch.Size([4]))", timeout=STREAM_MS)
    expect(warnings).to_contain_text("UserWarning")
    expect(player.page.locator(".cm-lintRange-warning")).to_have_text("F.mse_loss(x, torch.zeros(4))")
    warnings.get_by_role("button", name="Go to line 2").click()
    expect(player.program).to_be_focused()
    player.type_program("x * x")
    player.page.keyboard.press("ControlOrMeta+Enter")
    expect(warnings).to_have_count(0, timeout=STREAM_MS)


def test_a_warning_is_told_where_there_is_no_picture(player: PlayerPage) -> None:
    player.open(fragment("import warnings\nwarnings.warn('hello')\nwarnings.warn('hello')"))
    warnings = player.page.get_by_role("region", name="Warnings")
    expect(warnings).to_contain_text("hello", timeout=STREAM_MS)


BROADCAST = """import torch
import torch.nn.functional as F
x = torch.ones(4, 1, requires_grad=True)
loss = F.mse_loss(x, torch.zeros(4))
loss.backward()
"""


def test_a_page_in_one_file_tells_the_warning_and_shows_its_line(
    new_page: Opener, server: SharedServer, tmp_path: Path
) -> None:
    trace, _ = keep_program(server.url, BROADCAST)
    file = tmp_path / "page.html"
    file.write_bytes(httpx.get(f"{server.url}/api/traces/{trace}/export/html", timeout=60).raise_for_status().content)
    page = new_page(offline=True, viewport={"width": 800, "height": 600}).page
    page.goto(file.as_uri())
    page.wait_for_function("() => document.querySelector('grad-walk').isReady")
    warnings = page.get_by_role("region", name="Warnings")
    expect(warnings).to_be_hidden()
    page.get_by_text("Warnings (1)").click()
    expect(warnings).to_contain_text("Using a target size (torch.Size([4]))")
    warnings.get_by_role("button", name="Go to line 4").click()
    expect(page.get_by_role("region", name="Program").locator("mark")).to_have_text("F.mse_loss(x, torch.zeros(4))")


def test_an_error_that_the_program_caught_is_marked_as_information(player: PlayerPage) -> None:
    again = "y = (x * x).sum()\ny.backward()\ntry:\n    y.backward()\nexcept RuntimeError:\n    pass"
    player.open(fragment("x = torch.ones(2, requires_grad=True)\n" + again))
    mark = player.page.locator(".cm-lintRange-info")
    expect(mark).to_have_text("x * x", timeout=STREAM_MS)
    mark.hover()
    expect(player.page.locator(".cm-diagnostic-info")).to_contain_text("The program caught this error and went on.")
    expect(player.page.locator(".cm-lintRange-error")).to_have_count(0)


def test_the_true_jacobian_stands_beside_that_of_a_wrong_backward(player: PlayerPage) -> None:
    player.open(fragment(function("return x * x", "return x * g"), s="2.3", view="jacobian"))
    expect(player.product).to_contain_text("J as your backward computes it", timeout=STREAM_MS)
    assert player.cells("Local Jacobian") == [[0.5, 0, 0], [0, -1.5, 0], [0, 0, 3]]
    assert player.cells("Jacobian by finite differences") == [[1, 0, 0], [0, -3, 0], [0, 0, 6]]
    out = player.page.get_by_role("region", name="What stands out")
    expect(out).to_contain_text("F1.backward in line 7 is not the derivative of its forward for x:")


def test_a_right_backward_has_the_derivative_as_its_jacobian(player: PlayerPage) -> None:
    player.open(fragment(function("return x * x", "return 2 * x * g"), s="2.3"))
    expect(player.product).to_contain_text("J = \u2202output/\u2202x", timeout=STREAM_MS)
    expect(player.page.get_by_role("region", name="What stands out")).to_have_count(0)
