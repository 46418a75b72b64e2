"""The questions that examples answer, answered by looking: each example at the step that answers it.

The expected numbers are computed here by torch, from the mathematics and not from the traced program.
"""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import expect
from torch import Tensor, tensor
from torch.autograd.functional import jacobian, vjp

from gradwalk.examples.catalogue import EXAMPLES
from tests.e2e.player import PlayerPage, fragment

# A line from the chip of a saved tensor to the symbol that it fills.
ENDS_AT = """([saved, symbol]) => {
    const chip = document.querySelector(`[data-saved="${saved}"]`).getBoundingClientRect();
    const glyph = [...document.querySelectorAll(".returned mi")].find((each) => each.textContent === symbol);
    const box = glyph.getBoundingClientRect();
    const within = ({ x, y }, { left, right, top, bottom }) =>
        x >= left && x <= right && y >= top - 2 && y <= bottom + 2;
    return [...document.querySelectorAll(".callout svg path")].some((path) => {
        const at = (share) => path.getPointAtLength(share * path.getTotalLength()).matrixTransform(path.getScreenCTM());
        return within(at(0), chip) && within(at(1), box);
    });
}"""


def the_map(p: Tensor) -> Tensor:
    x, y = p
    return torch.stack([x * x, x * y, y * y])


def open_at(player: PlayerPage, slug: str, place: str, **keys: str) -> None:
    player.open("&".join([f"example={slug}", f"s={place}", *(f"{key}={value}" for key, value in keys.items())]))
    player.wait_for_place(place)
    player.product.wait_for()


def shows(player: PlayerPage, table: str, expected: Tensor) -> None:
    """A table of the equation holds these numbers, to the digits on show."""
    rows = expected.detach().reshape(-1, expected.shape[-1] if expected.dim() else 1).tolist()
    shown = player.cells(table)
    assert shown == [pytest.approx(row, rel=6e-3, abs=1e-9) for row in rows], f"{table}: {shown} is not {rows}"


def choose(player: PlayerPage, operand: str) -> None:
    player.product.get_by_role("group", name="Operand").get_by_role("button", name=operand, exact=True).click()


def test_why_does_backward_take_and_return_vectors(player: PlayerPage) -> None:
    p, v = tensor([2.0, 3.0]), tensor([0.0, 1.0, 0.0])
    open_at(player, "map", "1.3")
    shows(player, "v", v)
    shows(player, "Local Jacobian", jacobian(the_map, p))
    shows(player, "v times J", vjp(the_map, p, v)[1])


@pytest.mark.parametrize("row", [0, 1, 2])
def test_where_is_the_jacobian_i_would_compute_by_hand(player: PlayerPage, row: int) -> None:
    """Each of three passes of six steps gives one row; its last operation hands it to p."""
    open_at(player, "rows-of-j", f"{6 * row + 5}.3")
    shows(player, "v times J", jacobian(the_map, tensor([2.0, 3.0]))[row])


def test_can_backward_take_m_rows_and_return_m_rows(player: PlayerPage) -> None:
    whole = jacobian(the_map, tensor([2.0, 3.0]))
    open_at(player, "whole-jacobian", "5.3")
    shows(player, "v times J", whole)
    player.open("example=map")
    player.wait_for_place("1.3")
    player.button("all rows").click()
    expect(player.product.get_by_text("one row per v")).to_be_visible()
    shows(player, "v", torch.eye(3))
    shows(player, "v times J", whole)


def test_why_is_it_always_ones(player: PlayerPage) -> None:
    x = tensor([1.0, 2.0, 3.0], requires_grad=True)
    (x * x).sum().backward()
    open_at(player, "ones-as-v", "3.3")
    shows(player, "v times J", torch.ones(3))
    for place in ("2.5", "5.5"):
        player.open(f"example=ones-as-v&s={place}")
        player.wait_for_place(place)
        expect(player.narration).to_contain_text(f"[{', '.join(f'{each:g}' for each in x.grad.tolist())}]")  # type: ignore[union-attr]


def test_what_if_v_is_something_else_than_ones(player: PlayerPage) -> None:
    matrix, v = tensor([[2.0, 1.0], [1.0, 3.0]]), tensor([0.2, 0.8])
    open_at(player, "weights-as-v", "1.3")
    shows(player, "v", v)
    shows(player, "Local Jacobian", jacobian(lambda x: matrix @ x, tensor([1.0, 2.0])))
    shows(player, "v times J", v @ matrix)


def test_where_do_1024_and_its_neighbours_come_from(player: PlayerPage) -> None:
    v = tensor([0.1, 1.0, 0.0001])
    for step in (1, 10):
        open_at(player, "doubling-loop", f"{step}.3")
        shows(player, "v", v * 2 ** (step - 1))
        shows(player, "v times J", v * 2**step)


def test_what_is_multiplied_with_what_in_a_chain(player: PlayerPage) -> None:
    matrix, x = tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([1.0, 1.0])
    inner = vjp(lambda y: y**2, matrix @ x, torch.ones(2))[1]
    open_at(player, "chain-of-two", "1.3")
    shows(player, "v times J", inner)
    open_at(player, "chain-of-two", "2.3")
    shows(player, "v", inner)
    shows(player, "Local Jacobian", matrix)
    shows(player, "v times J", vjp(lambda x: (matrix @ x) ** 2, x, torch.ones(2))[1])


def test_why_is_it_multiplied_by_grad_output(player: PlayerPage) -> None:
    w, x, b = (tensor(each, requires_grad=True) for each in (3.0, 2.0, 1.0))
    f = w * x + b
    (slope,) = torch.autograd.grad(f**2, f, retain_graph=True)
    (f**2).backward()
    open_at(player, "why-grad-output", "4.3")
    assert w.grad is not None
    assert x.grad is not None
    for operand, local, whole in (("w", x, w.grad), ("x", w, x.grad)):
        choose(player, operand)
        shows(player, "v", slope)
        shows(player, "Local Jacobian", local)
        shows(player, "v times J", whole)
    player.button("local derivative alone").click()
    expect(player.product.get_by_role("table", name="v", exact=True)).to_have_count(0)


def test_what_does_backward_of_exp_compute(player: PlayerPage) -> None:
    x, v = tensor([0.0, 1.0, 2.0]), tensor([1.0, 10.0, 100.0])
    open_at(player, "exp-function", "1.3")
    shows(player, "Local Jacobian", x.exp())
    shows(player, "v times J", v * x.exp())
    open_at(player, "exp-function", "1.3", view="jacobian")
    shows(player, "Local Jacobian", jacobian(torch.exp, x))
    shows(player, "v times J", v * x.exp())


def test_a_backward_that_returns_the_jacobian_is_wrong(player: PlayerPage) -> None:
    x = tensor([0.0, 1.0, 2.0])
    player.open("example=returned-jacobian&s=1.3")
    player.wait_for_place("1.3")
    expect(player.narration).to_contain_text("Exp.backward returned [1, 2.718, 7.389] for x.")
    rows = player.rows.first
    expect(rows).to_contain_text(f"{x.exp()[2].item():.3g}")
    # The equation must not claim that v times J is what was returned.
    v = tensor([1.0, 10.0, 100.0])
    jacobian_of_backward = torch.stack([x.exp()] * 3)
    assert player.cells("Local Jacobian")[0][0] == jacobian_of_backward[0][0].item()
    expect(player.product).to_contain_text("\u2260")
    product = (v @ jacobian_of_backward)[0].item()
    expect(player.product).to_contain_text(re.compile(rf"=\s*{product:g}\s*\u2260\s*1\s*, which backward returned"))


def test_a_matrix_of_the_wrong_shape_is_refused_in_words(player: PlayerPage) -> None:
    player.open("example=wrong-shape")
    expect(player.problems.first).to_contain_text("[2, 3]")
    expect(player.problems.first).to_contain_text("[2]")


def test_a_batch_keeps_its_shape(player: PlayerPage) -> None:
    p = tensor([[2.0, 3.0], [1.0, 0.0], [0.0, 5.0]], requires_grad=True)
    torch.stack([the_map(row) for row in p]).mean(0).sum().backward()
    open_at(player, "batch", "3.3")
    assert p.grad is not None
    entries = [each for row in player.cells("v times J") for each in row]
    assert entries == pytest.approx(p.grad.flatten().tolist(), rel=2.5e-2)
    expect(player.product).to_contain_text(re.compile(r"3\s*×\s*2"))


def linear_function() -> tuple[Tensor, Tensor, Tensor]:
    data = tensor([[1.0, 2.0], [3.0, 4.0]])
    weight = tensor([[1.0, -1.0]], requires_grad=True)
    bias = tensor([0.5], requires_grad=True)
    (2 * (data @ weight.t() + bias)).sum().backward()
    assert weight.grad is not None
    assert bias.grad is not None
    return torch.full((2, 1), 2.0), weight.grad, bias.grad


def test_what_do_grad_weight_and_grad_bias_do(player: PlayerPage) -> None:
    v, weight, bias = linear_function()
    open_at(player, "linear-function", "3.3")
    for operand, expected in (("weight", weight), ("bias", bias)):
        choose(player, operand)
        assert [each for row in player.cells("v") for each in row] == v.flatten().tolist()
        assert [each for row in player.cells("v times J") for each in row] == expected.flatten().tolist()


def test_where_is_the_backward_of_a_composite(player: PlayerPage) -> None:
    logits = tensor([[2.0, 1.0, 0.0]])
    expected = torch.softmax(logits, 1) - tensor([[1.0, 0.0, 0.0]])
    open_at(player, "composite", "2.3")
    shows(player, "v times J", expected)


def test_what_is_the_difference_between_none_zeros_and_undefined(player: PlayerPage) -> None:
    open_at(player, "none-zeros-undefined", "2.3")
    shows(player, "v times J", tensor(0.0))
    open_at(player, "none-zeros-undefined", "4.4")
    choose(player, "b")
    expect(player.product).to_contain_text("returned None")
    mark = player.page.get_by_role("img", name=re.compile("^None: "))
    mark.focus()
    expect(mark.get_by_text("returned None", exact=False).last).to_be_visible()
    expect(player.narration).to_contain_text("Pair.backward returned None for b")
    row = player.rows.nth(3)
    expect(row).to_contain_text("None")
    expect(row).to_contain_text("undefined")
    expect(row).not_to_contain_text("0")


def test_what_happens_when_a_tensor_feeds_two_operations(player: PlayerPage) -> None:
    a = tensor(6.0, requires_grad=True)
    (a * (a + 4)).backward()
    assert a.grad is not None
    open_at(player, "used-twice", "3.1")
    expect(player.narration).to_contain_text(f"= {a.grad.item():g}")
    for text in ("10", "6", f"{a.grad.item():g}"):
        expect(player.product).to_contain_text(text)
    expect(player.rows.nth(2)).to_contain_text(re.compile(rf"10\s*\+\s*6\s*=\s*{a.grad.item():g}"))


def test_where_does_the_two_of_x_squared_come_from(player: PlayerPage) -> None:
    x = tensor(3.0, requires_grad=True)
    (x * x).backward()
    assert x.grad is not None
    open_at(player, "x-times-x", "1.3")
    shows(player, "v times J", x)
    player.page.wait_for_function(ENDS_AT, arg=["other", "x"])
    player.open("example=x-times-x&s=2.5")
    player.wait_for_place("2.5")
    accumulation = player.page.get_by_role("region", name="Accumulation")
    expect(accumulation).to_contain_text("from mul")
    expect(accumulation.get_by_role("table", name="x.grad after")).to_have_text(f"{x.grad.item():g}")


def test_why_is_the_gradient_of_a_bias_a_sum(player: PlayerPage) -> None:
    v = tensor([[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]])
    open_at(player, "broadcast-bias", "1.3")
    choose_if_offered(player, "bias")
    shows(player, "v times J", v.sum(0))


def choose_if_offered(player: PlayerPage, operand: str) -> None:
    group = player.product.get_by_role("group", name="Operand")
    if group.count():
        group.get_by_role("button", name=operand, exact=True).click()


def test_why_do_gradients_have_to_be_zeroed(player: PlayerPage) -> None:
    w = tensor(1.0, requires_grad=True)
    grads = []
    for batch in tensor([[1.0, 2.0], [3.0, 4.0]]):
        (((w * batch) ** 2).mean() / 2).backward()
        assert w.grad is not None
        grads.append(w.grad.item())
    player.open("example=gradient-accumulation&s=10.5")
    player.wait_for_place("10.5")
    expect(player.narration).to_contain_text(f"{grads[0]:g} + {grads[1] - grads[0]:g} = {grads[1]:g}")
    in_words = rf"{grads[0]:g}\s*\+\s*{grads[1] - grads[0]:g}\s*=\s*{grads[1]:g}"
    expect(player.rows.last).to_contain_text(re.compile(in_words))


def test_why_do_the_first_layers_not_learn(player: PlayerPage) -> None:
    h = [tensor(0.0)]
    for _ in range(10):
        h.append(torch.sigmoid(h[-1]))
    v: Any = tensor(1.0)
    for step, value in enumerate(reversed(h[1:]), start=1):
        v = v * value * (1 - value)
        if step in (1, 10):
            open_at(player, "vanishing", f"{step}.3")
            shows(player, "v times J", v)


def test_can_i_just_type_a_formula(player: PlayerPage) -> None:
    x, y = (tensor(each, requires_grad=True) for each in (1.0, 2.0))
    (torch.sin(x * y) + x).backward()
    assert x.grad is not None
    along_the_product = x.grad.item() - 1
    open_at(player, "sin-expression", "3.3")
    choose(player, "x")
    shows(player, "v times J", tensor(along_the_product))
    player.open("example=sin-expression&s=4.1")
    player.wait_for_place("4.1")
    expect(player.narration).to_contain_text(f"= {x.grad.item():.4g}")


def test_how_can_i_differentiate_a_derivative(player: PlayerPage) -> None:
    x = tensor(3.0, requires_grad=True)
    (slope,) = torch.autograd.grad(x**3, x, create_graph=True)
    (curvature,) = torch.autograd.grad(slope, x)
    open_at(player, "double-backward", "1.3")
    shows(player, "v times J", slope)
    player.open("example=double-backward&s=5.5")
    player.wait_for_place("5.5")
    after = player.page.get_by_role("region", name="Accumulation").get_by_role("table", name="x.grad after")
    expect(after).to_have_text(f"{curvature.item():g}")


def test_why_does_no_gradient_come_through_the_target(player: PlayerPage) -> None:
    x = tensor(2.0, requires_grad=True)
    ((x * 3 - (x**2).detach()) ** 2).backward()
    assert x.grad is not None
    open_at(player, "detach", "3.3")
    shows(player, "v times J", x.grad)
    player.open("example=detach&s=2.4")
    player.wait_for_place("2.4")
    expect(player.narration).to_contain_text("4 goes to x * 3; target does not require grad.")


def test_what_was_freed_before_the_second_backward(player: PlayerPage) -> None:
    x = tensor(2.0, requires_grad=True)
    y = x**2
    y.backward()
    with pytest.raises(RuntimeError, match="a second time") as refused:
        y.backward()
    player.open("example=backward-twice&s=2.5")
    player.wait_for_place("2.5")
    assert x.grad is not None
    expect(player.narration).to_contain_text(f"now it is {x.grad.item():g}")
    expect(player.problems.first).to_contain_text(str(refused.value).split(" (")[0])
    expect(player.problems.first).to_contain_text("retain_graph=True")


def test_which_tensor_was_changed_in_place_and_when(player: PlayerPage) -> None:
    x = tensor([0.0, 1.0], requires_grad=True)
    y = x.exp()
    saved = y._version
    y.add_(1)
    with pytest.raises(RuntimeError, match=f"is at version {y._version}; expected version {saved}"):
        y.sum().backward()
    player.open("example=in-place")
    card = player.problems.first
    expect(card).to_contain_text(f"saved y at version {saved}")
    expect(card).to_contain_text(f"now at version {y._version}")
    expect(card).to_contain_text("line 7")


def test_what_happens_between_backward_and_step(player: PlayerPage) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    data = tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    guess, target = model(data), tensor([[1.0], [1.0], [0.0]])
    (slope,) = torch.autograd.grad(torch.nn.functional.mse_loss(guess, target), guess, retain_graph=True)
    torch.nn.functional.mse_loss(guess, target).backward()
    open_at(player, "mlp-step", "1.3")
    shows(player, "v times J", slope)
    bias = model[2].bias.grad
    player.open("example=mlp-step&s=3.5")
    player.wait_for_place("3.5")
    expect(player.narration).to_contain_text(f"now it is [{bias.item():.4g}]".replace("-", "\u2212"))


def test_how_do_gradients_get_through_softmax(player: PlayerPage) -> None:
    torch.manual_seed(0)
    tokens = torch.randn(3, 4)
    queries, keys, values = (tokens @ torch.randn(4, 2) for _ in range(3))
    scores = queries @ keys.T / 2**0.5
    v = torch.ones(3, 2) @ values.T
    whole = jacobian(lambda each: torch.softmax(each, -1), scores).reshape(9, 9)
    open_at(player, "attention", "3.3", view="jacobian")
    for table, expected in (
        ("Local Jacobian", whole),
        ("v times J", vjp(lambda each: torch.softmax(each, -1), scores, v)[1].reshape(1, 9)),
    ):
        shown = player.cells(table)
        assert shown == [pytest.approx(row, rel=6e-2, abs=1e-6) for row in expected.tolist()], table


@pytest.mark.parametrize("length", [3, 100_000])
def test_why_is_no_jacobian_kept(player: PlayerPage, length: int) -> None:
    """What the whole Jacobian would take beside what the engine kept, which is x, once for each operand."""
    x = torch.ones(length)
    kept, entry = x.nbytes, x.element_size()
    full = length * length * entry
    player.open(
        fragment(
            f"import torch\nx = torch.ones({length}, requires_grad=True)\n(x ** 2).backward(torch.ones({length}))",
            s="1.3",
        )
    )
    player.wait_for_place("1.3")
    spelled = f"{full} B" if full < 1024 else f"{full / 2**30:.1f} GiB"
    held = f"{kept} B" if kept < 1000 else f"{kept / 1000:g} kB"
    expect(player.product).to_contain_text(f"({spelled}); kept {held}")


def test_every_example_is_asked_here() -> None:
    """One is asked where its own panel is tested: finite differences, in `test_truth`."""
    elsewhere = {"gradcheck"}
    here = Path(__file__).read_text()
    assert [slug for slug in (each.slug for each in EXAMPLES) if slug not in elsewhere and slug not in here] == []
