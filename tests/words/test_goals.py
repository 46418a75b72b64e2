"""What an example teaches follows the sliders: its numbers are those of the trace on the screen.

Those of the opening were derived by hand for `tests/examples`; those of other inputs here.
"""

from typing import Any

import pytest

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.words.catalogue import tell
from tests.tracer.programs import trace
from tests.twin import run_traced
from tests.words.page import tell_goal_by_page

FOLLOWING = {one.slug: one for one in EXAMPLES if one.follows}


def goal_of(slug: str, document: bytes) -> str | None:
    example = FOLLOWING[slug]
    return tell_goal_by_page({"fact": example.fact, "follows": example.follows}, document)


@pytest.mark.parametrize("slug", FOLLOWING)
def test_as_an_example_opens_its_sentence_has_the_numbers_of_its_trace(slug: str) -> None:
    assert FOLLOWING[slug].follows.keys() == FOLLOWING[slug].fact["operands"].keys()
    assert goal_of(slug, trace(slug).document) == tell(FOLLOWING[slug].fact)


@pytest.mark.parametrize(
    ("slug", "options", "said"),
    [
        ("map", {"grad_output": [0.5, 0.0, 1.0]}, "v = [0.5, 0, 1] times J is [2, 6]"),
        ("map", {"inputs": {"p": [1.0, -1.0]}}, "J is [[2, 0], [\u22121, 1], [0, \u22122]]; v = [1, 1, 1] times J is"),
        ("rows-of-j", {"inputs": {"p": [5.0, 1.0]}}, "print [10, 0], [1, 5] and [0, 2]."),
        ("ones-as-v", {"inputs": {"x": [0.0, 1.0, 0.5]}}, "both ways print [0, 2, 1]."),
        ("chain-of-two", {"inputs": {"x": [1.0, 0.0]}}, "diag(2y): [2, 6]. That"),
        ("why-grad-output", {"inputs": {"x": 5.0}}, "= x = 5` is only the local part. The loss changes 32 times"),
        ("why-grad-output", {"inputs": {"x": 5.0}}, "w.grad is 32 · 5 = 160:"),
        (
            "used-twice",
            {"inputs": {"x": 1.0}},
            "adds 7 and 3 to 10, and only then steps into a = x * y: x.grad is 10 · 3 = 30",
        ),
        ("x-times-x", {"inputs": {"x": -4.0}}, "sends \u22124 back along its own edge; the leaf adds them to \u22128."),
        ("gradient-accumulation", {"inputs": {"w": 2.0}}, "it holds 5 + 25 = 30, exactly"),
        ("double-backward", {"inputs": {"x": 2.0}}, "3x² = 12 can be walked back again, to 6x = 12."),
        ("backward-twice", {"inputs": {"x": 3.0}}, "leaves x.grad = 6;"),
    ],
)
def test_with_other_inputs_it_has_their_numbers(slug: str, options: dict[str, Any], said: str) -> None:
    assert said in str(goal_of(slug, run_traced(FOLLOWING[slug].source, **options).document))


def test_it_says_nothing_of_numbers_that_the_trace_does_not_have() -> None:
    stack = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert goal_of("map", run_traced(FOLLOWING["map"].source, grad_output=stack).document) is None
