"""The questions that examples answer, answered by looking: each example at the step that answers it.

The expected numbers are computed here by torch, from the mathematics and not from the traced program.
"""

import re

import pytest
import torch
from playwright.sync_api import expect
from torch import Tensor, tensor
from torch.autograd.functional import jacobian, vjp

from tests.e2e.player import STREAM_MS, PlayerPage, fragment
from tests.e2e.test_main_story import the_map

Tables = dict[str, Tensor]
Answer = tuple[str, str, str, Tables]
"""Example, place and further keys of the link, chosen operand, and tables of the equation."""

V, J, PRODUCT = "v", "Local Jacobian", "v times J"
ROUGHLY = 6e-2
"""Of crowded tables two digits are shown."""


def grads(loss: Tensor, *leaves: Tensor, **options: bool) -> tuple[Tensor, ...]:
    return torch.autograd.grad(loss, leaves, **options)


def answers() -> list[Answer]:
    """Of each form that a product takes on the page. That every product of every example is what the engine returned
    is tested in `tests/tracer` and `scene.test.ts`, that those are the right numbers in `tests/examples`.
    """
    whole = jacobian(the_map, tensor([2.0, 3.0]))
    x3, exp_v = tensor([0.0, 1.0, 2.0]), tensor([1.0, 10.0, 100.0])
    w, x, b = (tensor(each, requires_grad=True) for each in (3.0, 2.0, 1.0))
    f = w * x + b
    (slope,) = grads(f**2, f, retain_graph=True)
    grad_w, grad_x = grads(f**2, w, x)
    torch.manual_seed(0)
    tokens = torch.randn(3, 4)
    queries, keys, values = (tokens @ torch.randn(4, 2) for _ in range(3))
    scores, v = queries @ keys.T / 2**0.5, torch.ones(3, 2) @ values.T

    def softmax(each: Tensor) -> Tensor:
        return torch.softmax(each, -1)

    return [
        ("whole-jacobian", "5.3", "", {PRODUCT: whole}),
        ("exp-function", "1.3&view=jacobian", "", {J: jacobian(torch.exp, x3), PRODUCT: exp_v * x3.exp()}),
        ("broadcast-bias", "1.3", "bias", {PRODUCT: tensor([[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]]).sum(0)}),
        ("why-grad-output", "4.3", "w", {V: slope, J: x, PRODUCT: grad_w}),
        ("why-grad-output", "4.3", "x", {V: slope, J: w, PRODUCT: grad_x}),
        ("none-zeros-undefined", "2.3", "", {PRODUCT: tensor(0.0)}),
        (
            "attention", "3.3&view=jacobian", "",
            {J: jacobian(softmax, scores).reshape(9, 9), PRODUCT: vjp(softmax, scores, v)[1].reshape(1, 9)},
        ),
    ]  # fmt: skip


def open_at(player: PlayerPage, slug: str, place: str) -> None:
    player.open(f"example={slug}&s={place}")
    player.wait_for_place(place.partition("&")[0])
    player.wait_for_end_of_run()


def choose(player: PlayerPage, operand: str) -> None:
    """Where several are offered."""
    offered = player.product.get_by_role("button", name=operand, exact=True)
    if offered.count():
        offered.click()


def test_the_step_that_answers_a_question_shows_torchs_numbers(player: PlayerPage) -> None:
    wrong, on_show = [], ("", "")
    for slug, place, operand, tables in answers():
        if (slug, place) != on_show:
            open_at(player, slug, place)
            on_show = slug, place
        player.product.wait_for()
        choose(player, operand)
        for table, expected in tables.items():
            shown = [each for row in player.cells(table) for each in row]
            wanted = expected.detach().flatten().tolist()
            if shown != pytest.approx(wanted, rel=ROUGHLY, abs=1e-6):
                wrong.append(f"{slug} {place} {operand} {table}: {shown} is not {wanted}")
    assert wrong == []


def test_sums_stand_in_the_sentence_and_in_the_table(player: PlayerPage) -> None:
    """Contributions that meet, `.grad` that grows, what a leaf has in the end."""
    a, w, c = (tensor(each, requires_grad=True) for each in (6.0, 1.0, 3.0))
    batches = [((w * batch) ** 2).mean() / 2 for batch in tensor([[1.0, 2.0], [3.0, 4.0]])]
    first, second = (grads(loss, w)[0].item() for loss in batches)
    curve = grads(c**3, c, create_graph=True)[0]
    total = f"{grads(a * (a + 4), a)[0].item():g}"
    for slug, place, number in (
        ("gradient-accumulation", "10.5", f"{first:g} + {second:g} = {first + second:g}"),
        ("double-backward", "5.5", f"{grads(curve, c)[0].item():g}"),
        ("used-twice", "3.1", f"= {total}"),
    ):
        open_at(player, slug, place)
        expect(player.narration).to_contain_text(number)
    player.show_panel("page-steps")
    expect(player.rows.nth(2)).to_contain_text(re.compile(rf"10\s*\+\s*6\s*=\s*{total}"))


def test_nothing_is_not_zero(player: PlayerPage) -> None:
    """What was returned as None, what is undefined, and what backward returned in place of v times J."""
    open_at(player, "none-zeros-undefined", "4.4")
    choose(player, "b")
    player.show_panel("page-steps")
    row = player.rows.nth(3)
    for word in ("None", "undefined"):
        expect(row).to_contain_text(word)
    expect(row).not_to_contain_text("0")
    expect(player.page.get_by_role("img", name=re.compile("^None"))).to_be_visible()
    x, v = tensor([0.0, 1.0, 2.0]), tensor([1.0, 10.0, 100.0])
    open_at(player, "returned-jacobian", "1.3")
    expect(player.narration).to_contain_text(f"[{', '.join(f'{each:.4g}' for each in x.exp().tolist())}]")
    product = (v @ torch.stack([x.exp()] * 3))[0].item()
    expect(player.product).to_contain_text(re.compile(rf"=\s*{product:g}\s*\u2260\s*1"))


def test_the_meter_tells_why_no_jacobian_is_kept(player: PlayerPage) -> None:
    """What the whole Jacobian would take beside what the engine kept, which is x, once for each operand."""
    source = "x = torch.ones(100_000, requires_grad=True)\n(x ** 2).backward(torch.ones(100_000))"
    player.open(fragment(source, s="1.3"))
    for text in ("37.3 GiB", f"{torch.ones(100_000).nbytes / 1000:g} kB"):
        expect(player.product).to_contain_text(text, timeout=STREAM_MS)


def test_a_line_leads_from_a_saved_tensor_to_the_symbol_that_it_fills(player: PlayerPage) -> None:
    open_at(player, "x-times-x", "1.3")
    player.page.wait_for_function(
        """() => {
            const chip = document.querySelector("[data-saved=other]")?.getBoundingClientRect();
            const glyph = [...document.querySelectorAll(".returned mi")].find((each) => each.textContent === "x");
            if (!chip || !glyph) return false;
            const box = glyph.getBoundingClientRect();
            const within = ({ x, y }, { left, right, top, bottom }) =>
                x >= left && x <= right && y >= top - 2 && y <= bottom + 2;
            return [...document.querySelectorAll(".callout svg path")].some((path) => {
                const at = (share) =>
                    path.getPointAtLength(share * path.getTotalLength()).matrixTransform(path.getScreenCTM());
                return within(at(0), chip) && within(at(1), box);
            });
        }"""
    )
