"""Traces of operations whose Jacobians differ in structure, for the front-end's tests of products.

They hold what the shipped examples do not. Rewrite with `pytest tests/examples --rewrite-goldens` and read the diff.
"""

import json
from pathlib import Path

import pytest

from gradwalk.protocol.document import assemble_document
from gradwalk.protocol.events import Event
from gradwalk.protocol.requests import SERVER_LIMITS, TraceRequest
from gradwalk.protocol.upgrades import load_document
from gradwalk.protocol.wire import write_document
from gradwalk.tracer.run import trace_program
from tests.examples.test_golden import first_difference, spell

GOLDEN = Path(__file__).parents[1] / "golden" / "structures"

PROGRAMS = {
    "convolution": """\
import torch
import torch.nn.functional as F

image = torch.arange(32.0).reshape(1, 2, 4, 4).sin().requires_grad_()
kernel = torch.tensor([[[[1.0, -1.0], [2.0, 0.5]], [[0.5, 0.0], [-2.0, 1.0]]]], requires_grad=True)
y = F.conv2d(image, kernel, stride=2, padding=1)
F.max_pool2d(y, 3).sum().backward()
""",
    "cross-entropy": """\
import torch
import torch.nn.functional as F

scores = torch.tensor([[2.0, 1.0, 0.1], [0.5, 2.5, 0.3]], requires_grad=True)
F.cross_entropy(scores, torch.tensor([0, 2])).backward()
""",
    "matrix-products": """\
import torch
import torch.nn.functional as F

a = torch.arange(12.0).reshape(2, 2, 3).cos().requires_grad_()
b = torch.arange(12.0).reshape(2, 3, 2).sin().requires_grad_()
m = torch.tensor([[1.0, 2.0], [0.5, -1.0]], requires_grad=True)
x = torch.tensor([3.0, -2.0], requires_grad=True)
weight = torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]], requires_grad=True)
y = F.linear(torch.bmm(a, b), weight)
(y * y).sum().backward()
(torch.mv(m, x) ** 2).sum().backward()
(torch.outer(x, m[0]) ** 2).sum().backward()
""",
    "travels": """\
import torch

x = torch.tensor([[1.0, 5.0, 2.0], [4.0, 3.0, 6.0]], requires_grad=True)
v = torch.tensor([1.0, 2.0, 3.0])
(x.T[1] * torch.tensor([1.0, 2.0])).sum().backward()
(x.gather(1, torch.tensor([[0, 0, 2], [1, 0, 1]])) * v).sum().backward()
(x.max(dim=1).values * torch.tensor([1.0, 2.0])).sum().backward()
(x.flip(0).reshape(3, 2)[torch.tensor([2, 0, 2])] * torch.tensor([1.0, 2.0])).sum().backward()
(torch.relu(x - 3).mean(dim=0) * v).sum().backward()
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_trace_is_the_golden_one(name: str, rewrite_goldens: bool) -> None:
    events: list[Event] = []
    trace_program(TraceRequest.model_validate({"source": PROGRAMS[name]}), events.append, SERVER_LIMITS)
    document = assemble_document(events)
    path = GOLDEN / f"{name}.json"
    if rewrite_goldens:
        path.parent.mkdir(exist_ok=True)
        path.write_text(spell(json.loads(write_document(document))), encoding="utf-8")

    golden = json.loads(path.read_text(encoding="utf-8"))

    assert [event for event in golden["events"] if event["type"] == "problem"] == []
    assert first_difference(dict(document), load_document(golden)) is None
