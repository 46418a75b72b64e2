"""A hint leads to a program that runs: each is followed, and the program that comes of it is run by plain torch."""

from typing import NamedTuple

import pytest
import torch

from gradwalk.words.problems import tell_problem
from tests.tracer.facts import spoken
from tests.twin import run_plain, run_traced

LOOP = "w = torch.tensor([1., 2.], requires_grad=True)\nfor _ in range(2):\n    (w * w).sum().backward()\n"
SCORES = "x = torch.ones(4, 3)\nw = torch.zeros(3, {}, requires_grad=True)\n"
TARGETS = "F.cross_entropy(x @ w, torch.tensor([{}])).backward()\n"


class Hint(NamedTuple):
    """A program that raises, what is said of it, and the program of somebody who did as the hint says."""

    source: str
    fact: str
    followed: str


HINTS = {
    "leaf in place": Hint(
        LOOP + "    w -= 0.1 * w.grad\n",
        "problem-leaf-in-place",
        LOOP + "    with torch.no_grad():\n        w -= 0.1 * w.grad\n",
    ),
    "no leaf any more": Hint(
        LOOP + "    w = w - 0.1 * w.grad\n",
        "problem-grad-none-result w",
        LOOP + "    with torch.no_grad():\n        w -= 0.1 * w.grad\n",
    ),
    "retained": Hint(
        "w = torch.ones(2, requires_grad=True)\nh = w * 2\nh.sum().backward()\nprint(h.grad.norm())",
        "problem-grad-none-result h",
        "w = torch.ones(2, requires_grad=True)\nh = w * 2\nh.retain_grad()\nh.sum().backward()\nprint(h.grad.norm())",
    ),
    "before backward": Hint(
        "w = torch.ones(2, requires_grad=True)\nprint(w.grad * 2)",
        "problem-grad-none-before w",
        "w = torch.ones(2, requires_grad=True)\nw.sum().backward()\nprint(w.grad * 2)",
    ),
    "in a function": Hint(
        "def step(m):\n    return m.weight.grad.norm()\nstep(nn.Linear(2, 1))",
        "problem-grad-none-before m.weight",
        "def step(m):\n    return m.weight.grad.norm()\nn = nn.Linear(2, 1)\nn(torch.ones(2)).backward()\nstep(n)",
    ),
    "without requires_grad": Hint(
        "w = torch.ones(2)\nprint(2 * w.grad)",
        "problem-grad-none-not-required w",
        "w = torch.ones(2)\nw.requires_grad_()\nw.sum().backward()\nprint(2 * w.grad)",
    ),
    "target": Hint(
        SCORES.format(3) + TARGETS.format("0, 1, 2, 3"),
        "problem-target-too-large 3 4",
        SCORES.format(4) + TARGETS.format("0, 1, 2, 3"),
    ),
    "negative target": Hint(
        SCORES.format(3) + TARGETS.format("0, 1, 2, -1"),
        "problem-target-negative -1",
        SCORES.format(3) + TARGETS.format("0, 1, 2, -1").replace("]))", "]), ignore_index=-1)"),
    ),
    "embedding": Hint(
        "e = nn.Embedding(3, 2)\ne(torch.tensor([3])).sum().backward()",
        "problem-no-such-row",
        "e = nn.Embedding(4, 2)\ne(torch.tensor([3])).sum().backward()",
    ),
}


@pytest.mark.parametrize("hint", HINTS.values(), ids=HINTS.keys())
def test_a_hint_leads_to_a_program_that_runs(hint: Hint) -> None:
    traced = run_traced(hint.source)
    assert str(traced.run.error) == str(run_plain(hint.source).error)
    [problem] = traced.of("problem")
    assert spoken(problem["fact"]) == hint.fact
    assert tell_problem(problem).hint
    assert run_plain(hint.followed).error is None


def test_descending_by_the_hint_is_descending() -> None:
    w = run_plain(HINTS["leaf in place"].followed).namespace["w"]
    assert w.is_leaf
    assert torch.all(w.abs() < torch.tensor([1.0, 2.0]))


def test_none_that_is_no_grad_is_left_alone() -> None:
    [problem] = run_traced("n = None\nw = torch.ones(2, requires_grad=True)\nprint(n * 2)").of("problem")
    assert problem["fact"]["kind"] == "problem-raised"
    assert problem["fact"]["operands"]["name"] == "TypeError"
