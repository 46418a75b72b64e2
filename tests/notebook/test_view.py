"""What a notebook is given: every form readable by its own reader, the caller's tensors as they were."""

import base64
import re

import pytest
import torch

import gradwalk
from gradwalk.notebook.grads import find_leaves
from gradwalk.words.problems import tell_problem
from tests.exports.readers import pages_of, words_of

pytestmark = pytest.mark.usefixtures("run")
"""V8 is a process."""


@pytest.fixture
def weight() -> torch.Tensor:
    return torch.tensor([2.0, 3.0], requires_grad=True)


def test_the_bundle_has_a_form_for_every_host_which_may_ask_for_less(weight: torch.Tensor) -> None:
    view = gradwalk.show((weight * weight).sum(), step="2.3")
    bundle, _ = view._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "image/svg+xml", "application/pdf"}
    assert "MulBackward0" in words_of(bundle["image/svg+xml"].encode())
    assert "MulBackward0" in pages_of(base64.b64decode(bundle["application/pdf"]))[0]
    assert "weight.grad was None, now it is [4, 6]" in bundle["text/plain"]
    assert set(view._repr_mimebundle_(include={"image/svg+xml"})[0]) == {"image/svg+xml"}
    assert "text/html" not in view._repr_mimebundle_(exclude={"text/html"})[0]


def test_the_page_shows_its_picture_where_frames_and_scripts_are_taken_away(weight: torch.Tensor) -> None:
    html = gradwalk.show((weight * weight).sum())._repr_html_()
    without_frames = re.sub(r"<iframe.*?</iframe>", "", html, flags=re.DOTALL)
    (picture,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', without_frames)
    assert "SumBackward0" in words_of(base64.b64decode(picture))
    assert "<script" not in without_frames
    assert not re.findall(r'(?:src|href)="(?!data:)', html)


def test_showing_changes_nothing_of_the_callers(weight: torch.Tensor) -> None:
    (weight * 10).sum().backward()
    before = weight.grad
    loss = (weight * weight).sum()
    view = gradwalk.show(loss)
    assert weight.grad is before
    assert weight.grad.tolist() == [10.0, 10.0]
    assert "weight.grad: [10, 10] + [4, 6] = [14, 16]" in repr(view)
    loss.backward()  # the graph is still there
    assert weight.grad.tolist() == [14.0, 16.0]


def test_every_leaf_is_found_once_however_deep(weight: torch.Tensor) -> None:
    deep = weight
    for _ in range(3000):
        deep = deep + weight
    assert [leaf is weight for leaf in find_leaves([deep, weight, deep.detach()])].count(True) >= 1
    assert len({id(leaf) for leaf in find_leaves([deep])}) == 1


def test_a_program_that_fails_is_shown_in_words() -> None:
    view = gradwalk.show(gradwalk.trace("x = torch.ones(2, requires_grad=True)\ny = x @ torch.ones(3)"))
    bundle, _ = view._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert tell_problem(view.trace.problems[0]).title in bundle["text/html"]
