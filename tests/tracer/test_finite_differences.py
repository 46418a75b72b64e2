"""Finite differences; autograd is the oracle where it is right, and a wrong backward is found out."""

import numpy as np
import pytest
import torch

from gradwalk.tracer.finite_differences import compare, finite_differences


def analytic(function, primals):
    jacobians = torch.autograd.functional.jacobian(lambda *points: as_tuple(function(*points)), tuple(primals))
    return [[one.reshape(-1, primal.numel()).numpy() for one, primal in zip(of_output, primals, strict=True)]
            for of_output in jacobians]  # fmt: skip


def as_tuple(returned):
    return (returned,) if isinstance(returned, torch.Tensor) else tuple(returned)


FUNCTIONS = {
    "map": lambda x, y: torch.stack([x * x, x * y, y * y]),
    "two_outputs": lambda x, y: (x.sin() * y, x - y**2),
    "scalar": lambda x, y: (x * y).sum(),
    "softmax": lambda x, y: torch.softmax(x + y, -1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_differences_agree_with_autograd(name):
    generator = torch.Generator().manual_seed(0)
    primals = [torch.randn(2, 3, dtype=torch.float64, generator=generator) for _ in range(2)]
    expected = analytic(FUNCTIONS[name], primals)
    numeric = finite_differences(FUNCTIONS[name], primals)
    for of_output, exact in zip(numeric, expected, strict=True):
        for one, other in zip(of_output, exact, strict=True):
            assert np.allclose(one, other, atol=1e-7)
    for of_output in compare(FUNCTIONS[name], primals, expected):
        assert all((one.wrong, one.kinks) == ([], []) for one in of_output)


def test_the_wrong_entry_is_marked():
    primals = [torch.tensor([3.0, 5.0])]
    wrong = [[np.array([[6.0, 0.0], [5.0, 3.0], [0.0, 5.0]])]]
    [[found]] = compare(lambda p: torch.stack([p[0] ** 2, p[0] * p[1], p[1] ** 2]), primals, wrong)
    assert found.wrong == [(2, 1)]
    assert found.kinks == []
    assert found.numeric[2, 1] == pytest.approx(10.0)


def test_a_corner_is_named():
    primals = [torch.tensor([0.0, 1.0, -1.0])]
    [[found]] = compare(torch.relu, primals, [[np.diag([0.0, 1.0, 0.0])]])
    assert found.kinks == [(0, 0)]
    assert found.wrong == [(0, 0)]


def test_the_primals_are_left_alone():
    primal = torch.tensor([1.0, 2.0], requires_grad=True)
    finite_differences(lambda x: x.mul_(2), [primal])
    assert primal.tolist() == [1.0, 2.0]
    assert primal.grad is None
