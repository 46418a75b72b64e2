"""What hooks take by reference and tell later is what they would have told at once."""

import json
from zlib import crc32

import pytest
import torch
from torch import nn

from gradwalk.notebook.recording import trace_tensors
from gradwalk.protocol.requests import ResolvedLimits, TraceRequest
from gradwalk.tracer import quiet
from gradwalk.tracer.quiet import QuietPasses
from gradwalk.tracer.run import trace_program
from gradwalk.tracer.summary import summarise, summarise_all
from tests.tracer.programs import PROGRAMS
from tests.twin import tensor_of

ON_DEMAND = {"elements": 16, "jacobian_cells": 0}
LIMITS = [ResolvedLimits(), ResolvedLimits(elements=2, jacobian_cells=0)]
RESERVED = frozenset({"rnn"})
"""Saves memory that nobody has written into."""
SAMPLED = [
    pytest.param(name, marks=() if crc32(name.encode()) % 3 == 0 else pytest.mark.sweep)
    for name in sorted(PROGRAMS.keys() - RESERVED)
]


def events_of(name, limits):
    events = []
    trace_program(TraceRequest(source=PROGRAMS[name]), events.append, limits)
    return json.loads(json.dumps(events))


def net():
    torch.manual_seed(0)
    layers = [layer for _ in range(3) for layer in (nn.Linear(6, 6), nn.LayerNorm(6), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(6, 3))


def trace_of(model):
    loss = model(torch.linspace(-1, 1, 24).reshape(4, 6)).square().mean()
    return trace_tensors(loss, limits=ON_DEMAND, params=dict(model.named_parameters()))


def live_events():
    return json.loads(json.dumps(trace_of(net()).document["events"]))


def never_quiet(monkeypatch):
    for name in ("watch", "record"):
        monkeypatch.setattr(QuietPasses, name, lambda *_args, **_kwargs: None)


@pytest.mark.parametrize("limits", LIMITS, ids=["jacobians", "summaries"])
@pytest.mark.parametrize("name", SAMPLED)
def test_a_program_is_told_the_same_at_once(name, limits, monkeypatch):
    later = events_of(name, limits)
    never_quiet(monkeypatch)
    assert later == events_of(name, limits)


def test_live_tensors_and_a_pass_told_in_pieces_are_the_same(monkeypatch):
    whole, live = events_of("multihead attention", LIMITS[1]), live_events()
    with monkeypatch.context() as patched:
        patched.setattr(quiet, "SECONDS_UNTOLD", 0.0)
        patched.setattr(quiet, "BYTES_HELD", 0)
        assert (whole, live) == (events_of("multihead attention", LIMITS[1]), live_events())
    never_quiet(monkeypatch)
    assert live == live_events()


@pytest.mark.parametrize("write", [lambda g: g.mul_(3), lambda g: g.data.mul_(3)], ids=["in place", ".data"])
def test_a_hook_that_nobody_saw_may_write_into_its_gradient(write):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x.sin()
    h.register_hook(lambda gradient: None if write(gradient) is None else None)
    [sine] = [event for event in trace_tensors((h * 5).sum(), limits=ON_DEMAND).events if "hooks" in event]
    expected = torch.tensor([5.0, 5.0])
    assert torch.allclose(sum(tensor_of(one["value"]) for one in sine["contributions"]), expected)
    assert torch.allclose(tensor_of(sine["grad_outputs"][0]), 3 * expected)
    assert torch.allclose(x.grad, 3 * expected * torch.tensor([1.0, 2.0]).cos())


def test_what_is_changed_afterwards_is_not_what_was_recorded():
    model = net()
    trace = trace_of(model)
    for parameter in model.parameters():
        parameter.data.zero_()
        parameter.grad.zero_()
    assert trace.document == trace_of(net()).document
    explained = [node for event in trace.events if event["type"] == "explained" for node in event["nodes"]]
    assert any(node.get("formula_checked") for node in explained)


def test_nodes_keep_nothing_of_ours():
    x = torch.ones(3, requires_grad=True)
    y = (x * 2).sin()
    trace_tensors(y.sum(), retain_graph=True, limits={"jacobian_cells": 0})
    ran = []
    y.grad_fn.register_hook(lambda *_: ran.append("sin"))
    x.grad = None
    y.sum().backward()
    assert ran == ["sin"]
    assert torch.equal(x.grad, 2 * (x * 2).cos())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.complex64])
def test_summaries_together_are_those_one_by_one(dtype):
    torch.manual_seed(0)
    shapes = [(2, 4, 16), (8, 16), (128,), (33, 31), (100, 7), (1, 9), (40, 40), (65, 129), (1000,), ()]
    tensors = [torch.randn(shape).mul(10.0**power).to(dtype) for shape in shapes for power in (-20, 0, 3)]
    tensors += [torch.zeros(128).to(dtype), torch.ones(8, 16).to(dtype), torch.ones(()).to(dtype).expand(8, 16)]
    infinite = torch.tensor([1.0, float("nan"), -float("inf")] * 20)
    tensors += [tensors[0].transpose(0, 2), infinite.nan_to_num(2).to(dtype)]
    if dtype.is_floating_point:
        tensors += [torch.tensor([1.0, float("nan"), -float("inf"), 4.0] * 32).to(dtype)] * 2
    assert [repr(summarise(one)) for one in tensors] == [repr(one) for one in summarise_all(tensors)]
