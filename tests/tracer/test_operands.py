"""Which argument of a call each operand of a node is: torch's schema of the op says it."""

import pytest

from tests.twin import run_traced

X = "x = torch.tensor([1., 2.], requires_grad=True)\nt = torch.tensor([3., 4.])\nm = torch.tensor([True, False])\n"
OPERANDS = {
    "torch.where(m, x, 0.5)": [("x", None), ("0.5", 0.5)],
    "torch.where(m, 7.0, x)": [("7.0", 7.0), ("x", None)],
    "torch.where(m, t, x)": [("t", [3, 4]), ("x", None)],
    "x.where(m, t)": [("x", None), ("t", [3, 4])],
    "torch.where(x > 1, x, -1)": [("x", None), ("-1", -1)],
    "torch.addcmul(t, x, t, value=3)": [("t", [3, 4]), ("x", None), ("t", [3, 4])],
    "torch.lerp(t, x, 0.25)": [("t", [3, 4]), ("x", None)],
    "x.masked_scatter(m, t)": [("x", None), ("t", [3, 4])],
    "torch.atan2(t, x)": [("t", [3, 4]), ("x", None)],
}


@pytest.mark.parametrize("call", OPERANDS)
def test_an_operand_is_the_argument_that_it_is(call):
    [started] = run_traced(f"{X}y = {call}\ny.sum().backward()").of("pass_started")
    node = started["graph"]["nodes"][1]
    assert [operand["source"] for operand in node["inputs"]] == [name for name, _ in OPERANDS[call]]
    for operand, (_, value) in zip(node["inputs"], OPERANDS[call], strict=True):
        if value is not None:
            data = operand["value"]["data"]
            assert (data if operand["value"]["shape"] else data[0]) == value
            is_number = isinstance(value, float | int)
            assert operand["missing"]["because"]["kind"] == ("missing-number" if is_number else "missing-not-asked")


def test_a_hook_that_takes_a_gradient_away_is_not_laid_at_the_node_s_door():
    source = f"{X}y = x * t.requires_grad_()\ny.grad_fn.register_hook(lambda gi, go: (None, gi[1]))\ny.sum().backward()"
    step = run_traced(source).of("step")[1]
    assert step["grad_inputs"][0]["because"]["kind"] == "missing-hook-removed"
    assert "data" in step["grad_inputs"][1]
