"""Every example runs under plain PyTorch and gives the numbers that its learning goal states; its trace is ready for
the gallery. `tests/tracer/test_truth.py` compares all traces with plain torch.
"""

import re

import pytest
import torch

from gradwalk.examples.catalogue import EXAMPLES, program_text
from gradwalk.examples.example import Example
from gradwalk.protocol.requests import TraceRequest
from gradwalk.words.catalogue import tell, tell_attribute
from tests.tracer.programs import plain_source, trace
from tests.twin import run_plain

# What a program does without us: the gradients of its leaves, what it prints, its error.
EXPECTED: dict[str, dict[str, object]] = {
    "map": {"p": [3.0, 2.0]},
    "rows-of-j": {"prints": "[1.0, 0.0, 0.0] -> [4.0, 0.0]\n[0.0, 1.0, 0.0] -> [3.0, 2.0]\n"
        "[0.0, 0.0, 1.0] -> [0.0, 6.0]"},
    "whole-jacobian": {"prints": "tensor([[4., 0.],\n        [3., 2.],\n        [0., 6.]])"},
    "ones-as-v": {"prints": "tensor([2., 4., 6.])\ntensor([2., 4., 6.])"},
    "weights-as-v": {"x": [1.2, 2.6]},
    "doubling-loop": {"x": [102.4, 1024.0, 0.1024]},
    "chain-of-two": {"x": [48.0, 68.0]},
    "why-grad-output": {"w": 28.0, "x": 42.0, "b": 14.0},
    "exp-function": {"x": [1.0, 27.182818, 738.9056]},
    "wrong-shape": {"error": "Function FBackward returned an invalid gradient at index 0 "
        "- got [2, 3] but expected shape compatible with [2]"},
    "returned-jacobian": {"x": [1.0, 2.7182818, 7.389056]},
    "batch": {"p": [[7 / 3, 8 / 3], [2 / 3, 1 / 3], [5 / 3, 10 / 3]]},
    "linear-function": {"weight": [[8.0, 12.0]], "bias": [4.0]},
    "gradcheck": {"prints": "tensor([2., 8.], dtype=torch.float64)\n"
        "tensor([ 3.0000, 12.0000], dtype=torch.float64)\nFalse"},
    "composite": {"prints": "\n".join(["tensor([[-0.3348,  0.2447,  0.0900]])"] * 2)},
    "none-zeros-undefined": {"prints": "grad_second is None\na tensor(2.)\nb None\nc tensor(0.)\nd None"},
    "sin-expression": {"x": 2 * -0.4161468365 + 1, "y": 1 * -0.4161468365},
    "used-twice": {"x": 48.0, "y": 32.0},
    "x-times-x": {"x": 6.0},
    "broadcast-bias": {"bias": [3.0, 30.0, 300.0]},
    "gradient-accumulation": {"prints": "tensor(2.5000)\ntensor(15.)\ntensor(15.)"},
    "double-backward": {"prints": "tensor(27., grad_fn=<MulBackward0>)\ntensor(18.)"},
    "detach": {"x": 12.0},
    "backward-twice": {"x": 4.0, "prints": "tensor(4.)", "error": "backward through the graph a second time"},
    "in-place": {"prints": "0\n1", "error": "has been modified by an inplace operation"},
    "vanishing": {"prints": "tensor(3.8752e-07)"},
    "mlp-step": {"prints": "1.59 -> 1.05"},
    "attention": {},
}  # fmt: skip


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)
def test_a_program_does_what_its_learning_goal_says(example: Example) -> None:
    grads = dict(EXPECTED[example.slug])
    prints, error = grads.pop("prints", None), grads.pop("error", None)
    twin = run_plain(plain_source(example))
    assert error in str(twin.error) if error else twin.error is None
    assert prints in (None, twin.printed.rstrip("\n"))
    for leaf, grad in grads.items():
        torch.testing.assert_close(twin.namespace[leaf].grad, torch.tensor(grad), rtol=1e-6, atol=0)


def test_attention_moves_weight_between_tokens_without_making_any() -> None:
    source = program_text("attention").replace("output.sum().backward()", "")
    namespace = run_plain(source).namespace
    (into_scores,) = torch.autograd.grad(namespace["output"].sum(), namespace["scores"])
    torch.testing.assert_close(into_scores.sum(dim=-1), torch.zeros(3), rtol=0, atol=1e-6)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)
def test_an_example_is_ready_for_the_gallery_and_answers_at_a_step_that_exists(example: Example) -> None:
    TraceRequest.model_validate({"source": example.source, "options": example.options})
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", example.slug)
    assert example.source == program_text(example.slug)
    assert len(example.source.splitlines()) <= 25
    assert max(map(len, example.source.splitlines())) <= 105, "a line that a narrow editor would have to wrap"
    assert (tell_attribute(example.fact, "question") or "").endswith(("?", "."))
    assert tell_attribute(example.fact, "title")
    assert tell(example.fact).endswith(".")
    step, phase = map(int, example.stop.split("."))
    assert 1 <= step <= trace(example.slug).events[-1]["steps"]
    assert 1 <= phase <= 5
    assert trace(example.slug).of("warning") == []


def test_slugs_are_apart_and_at_least_twelve_examples_answer_recorded_questions() -> None:
    assert sorted(example.slug for example in EXAMPLES) == sorted(EXPECTED)
    answering = [example.seed_files for example in EXAMPLES if example.seed_files]
    assert len(answering) >= 12
    assert {number for numbers in answering for number in numbers} == {"000", "001", "002", "003", "004"}
