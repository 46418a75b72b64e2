"""The road end to end: a person types PyTorch and steps through its real backward pass."""

import pytest
import torch
from playwright.sync_api import expect
from torch.autograd.functional import jacobian

from gradwalk.examples.catalogue import program_text
from gradwalk.words.catalogue import say
from tests.e2e.player import PlayerPage, fragment

MAP = program_text("map")
MAP_THEN_SINE = MAP.partition("y.backward")[0] + "\nz = y.sin()\nz.backward(torch.tensor([0.5, -1.0, 2.0]))\n"
STOPS = ("1.1", "1.2", "1.3", "1.4", "1.5", "2.2", "2.3", "2.4", "2.5", "3.5")
"""Of the program above: one contribution that landed already is not collected again, and a leaf only lands."""


def the_map(p: torch.Tensor) -> torch.Tensor:
    x, y = p
    return torch.stack([x * x, x * y, y * y])


def close(player: PlayerPage, **tables: torch.Tensor) -> None:
    """Tables of the equation hold these numbers, up to the digits on screen."""
    for table, expected in tables.items():
        rows = torch.atleast_2d(expected).tolist()
        assert player.cells(table.replace("_", " ")) == [pytest.approx(row, rel=1e-3, abs=1e-6) for row in rows], table


def test_a_typed_program_is_walked_and_every_number_is_torchs(player: PlayerPage) -> None:
    p = torch.tensor([2.0, 3.0], requires_grad=True)
    player.open()
    player.wait_for_steps(2)
    player.named("button", "player-show-step", step=1).click()
    close(
        player,
        v=torch.tensor([0.0, 1.0, 0.0]),
        Local_Jacobian=jacobian(the_map, p),
        v_times_J=torch.autograd.grad(the_map(p)[1], p)[0],
    )
    player.type_program(MAP_THEN_SINE)
    player.button("Run").click()
    player.wait_for_steps(3)

    player.wait_for_place("0")
    for place in STOPS:
        assert player.move("Next phase")
        player.wait_for_place(place)
    player.button("Previous step").click()
    player.wait_for_place("2.3")

    y = the_map(p).detach().requires_grad_()
    (v,) = torch.autograd.grad(y.sin(), y, torch.tensor([0.5, -1.0, 2.0]))
    (product,) = torch.autograd.grad(the_map(p), p, v)
    close(player, v=v, Local_Jacobian=jacobian(the_map, p), v_times_J=product)


def test_v_by_hand_picks_and_weighs_rows(player: PlayerPage) -> None:
    rows = jacobian(the_map, torch.tensor([2.0, 3.0]))
    player.open(fragment(MAP, s="1.3"))
    meaning = player.part("what-is-v")
    player.product.get_by_role("button", name="v = grad_output").click()
    expect(meaning).to_contain_text("1·4 + 1·6 + 1·9 = 19")
    player.press("Escape")
    expect(meaning).to_be_hidden()
    v = player.page.get_by_role("textbox", name="External gradient")
    product = player.product.get_by_role("table", name="v times J")
    for place, row in enumerate(rows, start=1):
        player.named("button", "page-v-row-label", number=place).click()
        expect(product).to_have_text("".join(f"{each:g}" for each in row.tolist()))
    v.fill("0.2, 0, 0.8")
    expect(product).to_have_text("".join(f"{each:g}" for each in (torch.tensor([0.2, 0.0, 0.8]) @ rows).tolist()))
    player.wait_for_key("g", "[0.2,0,0.8]")
    # What an example teaches follows v; of several v's at once it has no numbers.
    goal = player.page.locator(".code .goal")
    expect(goal).to_contain_text("v = [0.2, 0, 0.8] times J is [0.8, 4.8]")
    moved, reset = goal.get_by_text(say("page-example-moved")), player.named("button", "page-v-reset")
    expect(moved).to_have_count(0)
    reset.click()
    expect(v).to_have_value("[0, 1, 0]")
    expect(reset).to_have_count(0)
    player.named("button", "page-v-all-rows").click()
    expect(player.product.get_by_role("table", name="v", exact=True).locator("tr")).to_have_count(3)
    expect(moved).to_be_visible()
    expect(goal).to_contain_text("v = [0, 1, 0] times J is [3, 2]")
    close(player, v=torch.eye(3), Local_Jacobian=rows, v_times_J=rows)


def test_a_slider_moves_the_numbers_and_a_shared_link_brings_them_back(player: PlayerPage) -> None:
    player.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    player.open(fragment("sin(x*y) + x", i={"x": 2.0, "y": 3.0}, s="3.3"))
    expect(player.slider("x")).to_have_value("2")
    player.product.wait_for()
    player.slider("x").focus()
    player.press("ArrowRight")
    expect(player.slider("x")).to_have_value("2.05")
    v = torch.tensor(2.05 * 3.0).cos()
    table = player.product.get_by_role("table", name="v", exact=True)
    expect(table).to_contain_text(f"{v.item():.4g}")
    player.named("button", "page-share").click()
    player.page.get_by_text(say("page-link-copied")).first.wait_for()
    player.open(player.page.evaluate("navigator.clipboard.readText()").split("#")[1])
    player.wait_for_place("3.3")
    expect(player.slider("x")).to_have_value("2.05")
    expect(table).to_contain_text(f"{v.item():.4g}")
    player.type_program("sin(x*y) + x * w")
    expect(player.slider("w")).to_be_visible()


def test_a_pass_can_be_read_while_the_program_still_runs(player: PlayerPage) -> None:
    player.open(fragment("x * y"))
    player.wait_for_steps(3)
    program = "import torch\nx = torch.tensor(2.0, requires_grad=True)\n(x * x).backward()\nwhile True:\n    pass"
    player.change_hash(fragment(program, s="1.3"))
    player.wait_for_steps(2)
    close(player, v_times_J=torch.tensor(2.0))
    status = player.named("status", "page-run-status")
    expect(status).not_to_be_empty()
    player.named("button", "page-stop").click()
    expect(status).to_be_empty()
    close(player, v_times_J=torch.tensor(2.0))


WHILE_WRITING = """link => {
    const packed = Response.prototype.arrayBuffer;
    Response.prototype.arrayBuffer = async function () {
        const bytes = await packed.call(this);
        Response.prototype.arrayBuffer = packed;
        location.hash = link;
        return bytes;
    };
}"""


def test_a_damaged_link_says_so_and_one_that_comes_while_the_page_writes_its_address_is_opened(player: PlayerPage):
    """Any hash at all is tried in `address.test.ts`."""
    player.expected_complaints = ["404"]
    player.page.goto(f"{player.server}/t/{'0' * 40}")
    expect(player.page.get_by_text(say("page-link-unknown"))).to_be_visible()
    player.open("v=1&code=x*y&s=7.9&i=%7B")
    expect(player.page.get_by_role("alert").first).to_be_visible()
    player.change_hash(fragment("x * y", i={"x": 2.0, "y": 3.0}, s="1.3"))
    player.wait_for_steps(3)
    close(player, v_times_J=torch.tensor(3.0))
    player.wait_for_end_of_run()
    player.page.evaluate(WHILE_WRITING, fragment("x * x", s="1.3"))
    player.button("Next phase").click()
    player.wait_for_steps(2)
    expect(player.program).to_have_text("x * x")


def test_a_product_of_a_batch_is_one_product_until_it_is_opened(player: PlayerPage) -> None:
    """That a call returns what the engine returned at its borders: `calls.test.ts`."""
    a, b = torch.ones(2, 2, 2, requires_grad=True), torch.tensor([[1.0, -2.0], [0.5, 3.0]])
    (a @ b).sum().backward()
    program = f"a, b = torch.ones(2, 2, 2, requires_grad=True), torch.tensor({b.tolist()})\n(a @ b).sum().backward()"
    player.open(fragment(program, s="3.3"))
    expect(player.product.get_by_role("heading", name="matmul")).to_be_visible()
    close(player, v=torch.ones(4, 2), v_times_J=a.grad.reshape(-1, 2))
    player.page.locator("[data-group] button").click()
    expect(player.product.get_by_role("heading", name="MmBackward0")).to_be_visible()
