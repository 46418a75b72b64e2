"""The page tells the truth about a backward: finite differences, and what runs inside it."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from playwright.sync_api import Locator, expect

from gradwalk.examples.catalogue import program_text
from tests.e2e.player import STREAM_MS, PlayerPage, fragment, number

ABSOLUTE, RELATIVE = 1e-5, 1e-3
WRONG = "td:has(sup)"


def run_example(slug: str) -> dict[str, object]:
    """What the program leaves behind, without the tracer."""
    names: dict[str, object] = {}
    exec(compile(program_text(slug), slug, "exec"), names)  # noqa: S102 (our own example)
    return names


def central_differences(function: Callable[[torch.Tensor], torch.Tensor], at: torch.Tensor) -> np.ndarray:
    """d output / d operand: a row for each output, a column for each entry of the operand."""
    step = 1e-6
    columns = []
    for entry in range(at.numel()):
        move = torch.zeros_like(at).reshape(-1)
        move[entry] = step
        move = move.reshape(at.shape)
        with torch.no_grad():
            columns.append(((function(at + move) - function(at - move)) / (2 * step)).reshape(-1).numpy())
    return np.stack(columns, axis=1)


def jacobian_of_backward(function: Callable[[torch.Tensor], torch.Tensor], at: torch.Tensor) -> np.ndarray:
    """What the engine computes, row by row from one-hot v."""
    point = at.detach().requires_grad_()
    output = function(point)
    one_hot = torch.eye(output.numel(), dtype=output.dtype).reshape(-1, *output.shape)
    rows = [torch.autograd.grad(output, point, v, retain_graph=True)[0].reshape(-1).numpy() for v in one_hot]
    return np.stack(rows)


def numbers(table: Locator) -> np.ndarray:
    """The numbers of a table, without its marks."""
    spelled = table.evaluate(
        "table => [...table.rows].map(row => [...row.cells].map(cell => {"
        " const copy = cell.cloneNode(true);"
        " copy.querySelectorAll('sup').forEach(mark => mark.remove());"
        " return copy.textContent.trim(); }))"
    )
    return np.array([[number(text) for text in row] for row in spelled])


def marked(table: Locator) -> set[tuple[int, int]]:
    """Where a table has the mark of a wrong entry."""
    found = table.evaluate(
        "table => [...table.rows].flatMap((row, r) => [...row.cells].flatMap((cell, c) =>"
        " cell.querySelector('sup[aria-label=differs]') ? [[r, c]] : []))"
    )
    return {(row, column) for row, column in found}


def test_finite_differences_mark_the_entries_that_are_wrong(player: PlayerPage) -> None:
    names = run_example("gradcheck")
    cube, x = names["Cube"], names["x"]
    assert isinstance(x, torch.Tensor)
    assert not torch.autograd.gradcheck(cube.apply, x, raise_exception=False)  # type: ignore[attr-defined]
    analytic = jacobian_of_backward(cube.apply, x)  # type: ignore[attr-defined]
    numeric = central_differences(cube.apply, x.detach())  # type: ignore[attr-defined]
    wrong = {(int(r), int(c)) for r, c in np.argwhere(abs(analytic - numeric) > ABSOLUTE + RELATIVE * abs(numeric))}
    assert wrong

    player.open("example=gradcheck&s=2.3")
    player.wait_for_place("2.3")
    player.button("Check by finite differences").click()
    region = player.page.get_by_role("region", name="Finite differences for")
    expect(region.get_by_text("Differs from finite differences")).to_be_visible(timeout=STREAM_MS)
    tables = [region.get_by_role("table", name=f"{side} Jacobian") for side in ("analytic", "numeric")]
    for table, expected in zip(tables, (analytic, numeric), strict=True):
        np.testing.assert_allclose(numbers(table), expected, rtol=1e-3, atol=1e-6)
        assert marked(table) == wrong
    expect(region.get_by_role("listitem")).to_have_count(len(wrong))
    expect(region.get_by_text("Central differences in double precision")).to_be_visible()


def test_finite_differences_agree_with_a_right_backward(player: PlayerPage) -> None:
    names = run_example("map")
    function = names["F"]
    at = torch.tensor([2.0, 3.0], dtype=torch.float64)
    assert torch.autograd.gradcheck(function.apply, at.requires_grad_())  # type: ignore[attr-defined]

    player.open("example=map")
    player.wait_for_place("1.3")
    player.button("Check by finite differences").click()
    region = player.page.get_by_role("region", name="Finite differences for")
    expect(region.get_by_text("Agrees with finite differences")).to_be_in_viewport(timeout=STREAM_MS)
    table = region.get_by_role("table", name="numeric Jacobian")
    np.testing.assert_allclose(numbers(table), central_differences(function.apply, at.detach()), rtol=1e-3)  # type: ignore[attr-defined]
    assert marked(table) == set()


def test_a_backward_opens_into_the_lines_of_its_formula(player: PlayerPage) -> None:
    lines = program_text("map").splitlines()
    line_of = {
        text: at
        for at, line in enumerate(lines, 1)
        for text in ("jacobian = torch.stack", "return v @")
        if text in line
    }
    player.open("example=map")
    player.wait_for_place("1.3")
    player.product.get_by_text("Inside backward").click()
    operations = player.product.locator("details").get_by_role("listitem")
    product = operations.filter(has_text=f"line {line_of['return v @']}")
    expect(product).to_have_count(1)
    expect(
        operations.filter(has_text=f"line {line_of['jacobian = torch.stack']}").filter(has_text="stack")
    ).to_have_count(1)
    p = torch.tensor([2.0, 3.0])
    returned = torch.tensor([0.0, 1.0, 0.0]) @ torch.autograd.functional.jacobian(
        lambda p: torch.stack([p[0] * p[0], p[0] * p[1], p[1] * p[1]]), p
    )
    expect(product).to_contain_text(f"[{', '.join(f'{entry:g}' for entry in returned.tolist())}]")

    product.get_by_role("button").click()
    highlighted = player.page.get_by_role("textbox", name="Program").locator(".active-span")
    expect(highlighted.filter(has_text="v @ jacobian").first).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_relies_on_colour_alone(player: PlayerPage, theme: str) -> None:
    player.page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    player.open("example=gradcheck&s=2.3")
    player.wait_for_place("2.3")
    player.button("Check by finite differences").click()
    marks = player.page.get_by_role("table", name="analytic Jacobian").locator(WRONG)
    marks.first.wait_for(timeout=STREAM_MS)
    for mark in marks.all():
        expect(mark.get_by_role("img", name="differs")).to_have_text("✗")


def test_a_whole_pass_is_checked_at_its_leaf(player: PlayerPage) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)

    def program(x: torch.Tensor) -> torch.Tensor:
        return (x.sin() * x).sum()

    (expected,) = torch.autograd.grad(program(x), x)
    source = "import torch\nx = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n(x.sin() * x).sum().backward()"
    player.open(fragment(source, s="4.5"))
    player.button("Check the whole pass by finite differences").click()
    region = player.page.get_by_role("region", name="Finite differences for the whole pass")
    expect(region).to_contain_text("Agrees with finite differences: x.grad", timeout=STREAM_MS)
    table = region.get_by_role("table", name="numeric Jacobian")
    np.testing.assert_allclose(numbers(table), expected.reshape(1, -1).numpy(), rtol=1e-3)


def test_what_is_special_about_an_operation_is_told_to_those_who_ask(player: PlayerPage) -> None:
    player.open(fragment("x = torch.tensor([0.0, -1.0], requires_grad=True)\nx.sqrt().sum().backward()\n", s="2.5"))
    told = player.product.get_by_text("At 0 the slope is infinite; for a negative number of a real dtype it is NaN.")
    expect(told).to_be_hidden(timeout=STREAM_MS)
    player.product.get_by_text("What to know", exact=True).click()
    expect(told).to_be_visible()
    x = torch.tensor([0.0, -1.0], requires_grad=True)
    at_0, below = torch.autograd.grad(x.sqrt().sum(), x)[0].tolist()
    assert (at_0, np.isnan(below)) == (np.inf, True)
