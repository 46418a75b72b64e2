"""Every example runs under plain PyTorch and gives the numbers that its learning goal states."""

import re
from dataclasses import dataclass, field

import pytest
import torch

from gradwalk.examples.catalogue import EXAMPLES, program_text
from gradwalk.examples.example import Example
from gradwalk.protocol.requests import TraceRequest
from gradwalk.words.catalogue import tell, tell_attribute
from tests.tracer.programs import plain_source
from tests.twin import run_plain

BY_SLUG = {example.slug: example for example in EXAMPLES}


@dataclass
class Outcome:
    """What a program does without us: what it prints, the gradients of its leaves, its error."""

    prints: list[str] = field(default_factory=list)
    grads: dict[str, object] = field(default_factory=dict)
    error: str | None = None


EXPECTED = {
    "map": Outcome(grads={"p": [3.0, 2.0]}),
    "rows-of-j": Outcome(
        prints=["[1.0, 0.0, 0.0] -> [4.0, 0.0]", "[0.0, 1.0, 0.0] -> [3.0, 2.0]", "[0.0, 0.0, 1.0] -> [0.0, 6.0]"]
    ),
    "whole-jacobian": Outcome(prints=["tensor([[4., 0.],", "        [3., 2.],", "        [0., 6.]])"]),
    "ones-as-v": Outcome(prints=["tensor([2., 4., 6.])", "tensor([2., 4., 6.])"]),
    "weights-as-v": Outcome(grads={"x": [1.2, 2.6]}),
    "doubling-loop": Outcome(grads={"x": [102.4, 1024.0, 0.1024]}),
    "chain-of-two": Outcome(grads={"x": [48.0, 68.0]}),
    "why-grad-output": Outcome(grads={"w": 28.0, "x": 42.0, "b": 14.0}),
    "exp-function": Outcome(grads={"x": [1.0, 27.182818, 738.9056]}),
    "wrong-shape": Outcome(
        error="Function FBackward returned an invalid gradient at index 0 "
        "- got [2, 3] but expected shape compatible with [2]"
    ),
    "returned-jacobian": Outcome(grads={"x": [1.0, 2.7182818, 7.389056]}),
    "batch": Outcome(grads={"p": [[7 / 3, 8 / 3], [2 / 3, 1 / 3], [5 / 3, 10 / 3]]}),
    "linear-function": Outcome(grads={"weight": [[8.0, 12.0]], "bias": [4.0]}),
    "gradcheck": Outcome(
        prints=[
            "tensor([2., 8.], dtype=torch.float64)",
            "tensor([ 3.0000, 12.0000], dtype=torch.float64)",
            "False",
        ]
    ),
    "composite": Outcome(prints=["tensor([[-0.3348,  0.2447,  0.0900]])"] * 2),
    "none-zeros-undefined": Outcome(
        prints=["grad_second is None", "a tensor(2.)", "b None", "c tensor(0.)", "d None"],
    ),
    "sin-expression": Outcome(grads={"x": 2 * -0.4161468365 + 1, "y": 1 * -0.4161468365}),
    "used-twice": Outcome(grads={"x": 48.0, "y": 32.0}),
    "x-times-x": Outcome(grads={"x": 6.0}),
    "broadcast-bias": Outcome(grads={"bias": [3.0, 30.0, 300.0]}),
    "gradient-accumulation": Outcome(prints=["tensor(2.5000)", "tensor(15.)", "tensor(15.)"]),
    "double-backward": Outcome(prints=["tensor(27., grad_fn=<MulBackward0>)", "tensor(18.)"]),
    "detach": Outcome(grads={"x": 12.0}),
    "backward-twice": Outcome(
        prints=["tensor(4.)"], error="Trying to backward through the graph a second time", grads={"x": 4.0}
    ),
    "in-place": Outcome(prints=["0", "1"], error="has been modified by an inplace operation"),
    "vanishing": Outcome(prints=["tensor(3.8752e-07)"]),
    "mlp-step": Outcome(prints=["1.59 -> 1.05"]),
    "attention": Outcome(),
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)
def test_a_program_does_what_its_learning_goal_says(example: Example) -> None:
    expected = EXPECTED[example.slug]

    twin = run_plain(plain_source(example))

    assert expected.error in str(twin.error) if expected.error else twin.error is None
    if expected.prints:
        assert twin.printed.splitlines() == expected.prints
    for leaf, grad in expected.grads.items():
        torch.testing.assert_close(twin.namespace[leaf].grad, torch.tensor(grad), rtol=1e-6, atol=0)


def test_attention_moves_weight_between_tokens_without_making_any() -> None:
    source = BY_SLUG["attention"].source.replace("output.sum().backward()", "")
    namespace = run_plain(source).namespace

    (into_scores,) = torch.autograd.grad(namespace["output"].sum(), namespace["scores"])

    torch.testing.assert_close(into_scores.sum(dim=-1), torch.zeros(3), rtol=0, atol=1e-6)


def test_no_expectation_is_left_behind() -> None:
    assert EXPECTED.keys() == BY_SLUG.keys()
    assert len(BY_SLUG) == len(EXAMPLES), "two examples share a slug"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)
def test_an_example_is_ready_for_the_gallery(example: Example) -> None:
    TraceRequest.model_validate({"source": example.source, "options": example.options})
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", example.slug)
    assert example.source == program_text(example.slug)
    assert len(example.source.splitlines()) <= 25
    assert max(map(len, example.source.splitlines())) <= 105, "a line that a narrow editor would have to wrap"
    assert (tell_attribute(example.fact, "question") or "").endswith(("?", "."))
    assert tell_attribute(example.fact, "title")
    assert tell(example.fact).endswith(".")


def test_at_least_twelve_answer_recorded_questions() -> None:
    answering = [example for example in EXAMPLES if example.seed_files]
    assert len(answering) >= 12
    assert {number for example in answering for number in example.seed_files} == {"000", "001", "002", "003", "004"}
