"""Finite differences over HTTP, judged by hand-made derivatives and torch's own gradcheck."""

from typing import Any

import torch

from tests.world.stream import trace_events

WRONG = """\
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, v):
        x, = ctx.saved_tensors
        return v * FACTOR * x ** 2
x = torch.tensor([1.0, 2.0], requires_grad=True)
Cube.apply(x).sum().backward()
"""


def traced(server: Any, source: str) -> str:
    return str(trace_events(server.client, source)[0]["id"])


def test_a_right_backward_agrees_and_a_wrong_one_has_its_wrong_entries_named(server: Any) -> None:
    verdicts = {}
    for factor in (3, 2):
        trace = traced(server, WRONG.replace("FACTOR", str(factor)))
        answer = server.client.get(f"/api/traces/{trace}/steps/1/gradcheck?argnum=0")
        assert answer.status_code == 200, answer.text
        (verdicts[factor],) = answer.json()
    assert verdicts[3]["verdict"] == "agrees"
    assert verdicts[3]["wrong"] == []
    assert verdicts[2]["verdict"] == "differs"
    assert {(cell["row"], cell["column"]) for cell in verdicts[2]["wrong"]} == {(0, 0), (1, 1)}
    numeric = torch.tensor(verdicts[2]["numeric"]["data"]).reshape(2, 2)
    assert torch.allclose(numeric, torch.diag(3 * torch.tensor([1.0, 2.0]) ** 2), atol=1e-4)


def test_a_whole_pass_is_checked_leaf_by_leaf(server: Any) -> None:
    trace = traced(server, WRONG.replace("FACTOR", "2"))
    answer = server.client.get(f"/api/traces/{trace}/gradcheck")
    assert answer.status_code == 200, answer.text
    (report,) = answer.json()
    assert report["name"] == "x"
    assert report["verdict"] == "differs"


def test_a_corner_is_named(server: Any) -> None:
    trace = traced(server, "x = torch.tensor(0.0, requires_grad=True)\ntorch.relu(x).backward()\n")
    (report,) = server.client.get(f"/api/traces/{trace}/steps/0/gradcheck").json()
    assert report["verdict"] == "not_differentiable"
    assert report["kinks"]
