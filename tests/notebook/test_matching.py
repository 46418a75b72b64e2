"""`assert_backward_matches`; `torch.autograd.gradcheck` decides, and the derivatives are known."""

from pathlib import Path

import pytest
import torch

from gradwalk import assert_backward_matches


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, times):
        ctx.save_for_backward(x, w)
        ctx.times = times
        return times * x * x * w


class Right(Scale):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return ctx.times * g * 2 * x * w, ctx.times * g * x * x, None


class Wrong(Scale):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return ctx.times * g * x * w, ctx.times * g * x * x, None  # 2 is missing


X, W = torch.tensor([0.5, 2.0]), torch.tensor([3.0, 0.25])


def test_a_right_backward_passes_and_leaves_its_inputs_alone():
    assert_backward_matches(Right, X, W, 3)
    assert_backward_matches(lambda x: Right.apply(x, W.double(), 2).sum(), X)
    assert not X.requires_grad
    assert_backward_matches(torch.sin, X)


class Layer(torch.nn.Module):
    def forward(self, x, w, times):
        return Wrong.apply(x, w, times)


@pytest.mark.parametrize("function", [Wrong, lambda x, w, times: Wrong.apply(x, w, times) + 1, Layer()])
def test_a_wrong_one_is_told_with_its_line_the_operand_and_both_numbers(function):
    with pytest.raises(AssertionError) as caught:
        assert_backward_matches(function, X, W, 1)
    text = str(caught.value)
    line = Path(__file__).read_text().partition("class Wrong")[0].count("\n") + 3
    assert text.startswith(f"{__file__}:{line}: ")
    assert "`x`" in text
    assert "1.5 where it should be 3" in text  # x w and 2 x w at 0.5, 3


@pytest.mark.parametrize(("function", "at"), [(lambda x: x * x.detach(), X), (torch.sgn, torch.tensor([0.0]))])
def test_what_no_function_of_the_program_is_to_blame_for_is_told_as_torch_tells_it(function, at):
    with pytest.raises(AssertionError, match="Jacobian mismatch"):
        assert_backward_matches(function, at)
