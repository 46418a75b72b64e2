"""Values that change between forward and backward without autograd noticing: torch's gradient is silently another."""

import pytest

from tests.twin import run_plain, run_traced, tensor_of

BEHIND = {
    "data of a leaf": (
        "w = torch.tensor([2., 3.], requires_grad=True)\ny = w * w\nw.data.fill_(10)\n", [2, 3], [10, 10]
    ),
    "data of a result": (
        "w = torch.tensor([0., 0.], requires_grad=True)\ny = w.exp()\ny.data.fill_(5)\n", [1, 1], [5, 5]
    ),
    "numpy": (
        "c = torch.ones(2)\nw = torch.tensor([2., 3.], requires_grad=True)\ny = w * c\nc.numpy()[:] = 7\n",
        [1, 1], [7, 7],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "was", "now"), BEHIND.values(), ids=BEHIND.keys())
def test_what_was_saved_and_what_is_there_are_both_told(source: str, was: list[int], now: list[int]) -> None:
    source += "y.sum().backward()\n"
    plain = run_plain(source)
    assert plain.error is None
    saved = [one for node in run_traced(source).nodes().values() for one in node["saved"] if "was" in one]
    assert saved
    for one in saved:
        assert tensor_of(one["was"]).tolist() == was
        assert tensor_of(one["value"]).tolist() == now


@pytest.mark.parametrize("rest", ["y.sum().backward()\n", "w.grad = None\ny.sum().backward(retain_graph=True)\n" * 2])
def test_what_did_not_change_is_not_told(rest: str) -> None:
    source = f"w = torch.tensor([2., float('nan')], requires_grad=True)\ny = (w * w).exp().sqrt()\n{rest}"
    assert not [one for node in run_traced(source).nodes().values() for one in node["saved"] if "was" in one]


def test_a_change_that_torch_notices_is_an_error_instead() -> None:
    source = "w = torch.ones(2, requires_grad=True)\nh = w * 2\ny = h * h\nh.add_(1)\ny.sum().backward()\n"
    assert isinstance(run_plain(source).error, RuntimeError)
    assert not [one for node in run_traced(source).nodes().values() for one in node["saved"] if "was" in one]
