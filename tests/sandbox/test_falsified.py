"""What a program can do to the record of itself, and that it can do no more.

A patch of PyTorch changes what the program computes, never what is recorded of it. An attack on the recorder falsifies
its own trace; its header stays the parent's, and the next program's trace is what it would have been.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from gradwalk.protocol.document import encode, trace_id
from gradwalk.protocol.versions import installed_versions
from gradwalk.protocol.wire import read_events
from gradwalk.sandbox.answers import expected_header
from gradwalk.sandbox.frames import encode_frame
from gradwalk.sandbox.supervisor import Sandbox
from tests.twin import check_pass, run_watched
from tests.world.sandbox import REFERENCE, job_of, trace_in

HEAD = "import torch\nlayer = torch.nn.Linear(2, 2)\n"
BODY = """
x = torch.tensor([0.5, -2.0], requires_grad=True)
y = torch.exp(layer(x)) * x + torch.relu(x).sum()
y.sum().backward()
"""
LIES = {
    "functions": """
import math
kept = {'exp', 'relu', 'tensor', 'ones_like', 'is_grad_enabled', 'linear'}
for owner in (torch, torch.nn.functional, math):
    for name in dir(owner):
        if name[0] != '_' and name not in kept and type(vars(owner)[name]).__name__.endswith(('function', 'method')):
            setattr(owner, name, lambda *_, **__: 7)
""",
    "methods": """
def put(name, value):
    setattr(torch.Tensor, name, value)
for name in ('detach', 'clone'):
    put(name, lambda self, **_: torch.zeros(7))
for name in ('tolist', 'numpy', 'item', '__repr__'):
    put(name, lambda self, **_: 'tensor(7.)')
for name in ('grad_fn', 'is_leaf'):
    put(name, property(lambda self: None))
torch.autograd.graph.Node.name = lambda self: 'SevenBackward0'
torch.autograd.graph.get_gradient_edge = lambda tensor: None
""",
}
"""Patches that say something false of tensors and leave what is computed as it is."""
CHANGES = {
    "backward": ("torch.Tensor", "backward", "lambda self, *a, **k: old(self * 3, *a, **k)"),
    "autograd.backward": ("torch.autograd", "backward", "lambda outputs, *a, **k: old(outputs * 3, *a, **k)"),
    "__mul__": ("torch.Tensor", "__mul__", "lambda self, other: old(self, 3 * other)"),
    "exp": ("torch", "exp", "lambda tensor: old(tensor).sin()"),
    "Module.__call__": ("torch.nn.Module", "__call__", "lambda self, x: old(self, x) * 3"),
    "linear": ("torch.nn.functional", "linear", "lambda x, w, b: w @ x"),
    "__add__": ("torch.Tensor", "__add__", "lambda self, other: self - other"),
    "register_hook": ("torch.Tensor", "register_hook", "None"),
}
"""Owner, name and what is put there instead of `old`; put back at the end, for the twin's sake."""
FORGED: list[Any] = [
    {**expected_header("0" * 40, job_of(REFERENCE).request, installed_versions()), "inputs": []},
    {"type": "stdout", "text": "forged\n"},
    {"type": "finished", "passes": 0, "steps": 0, "problems": 0, "truncated": None},
]
HEADER, *REST = [encode_frame(encode({**event, "seq": seq})) for seq, event in enumerate(FORGED)]
ATTACKS = {
    "frames": """
import sys
frame = sys._getframe()
while not hasattr(frame.f_locals.get('self'), 'stream'):
    frame = frame.f_back
frame.f_locals['self'].stream.send({'seq': 0, 'type': 'stdout', 'text': 'forged\\n'})
""",
    "the memory of a string": """
import ctypes, sys
text = sys.intern('stdout')
ctypes.memmove(id(text) + sys.getsizeof(text) - 7, b'warned', 6)
print('forged')
""",
    "a type": """
import ctypes, gc
ctypes.py_object.from_address(id([]) + 8).value = tuple
gc.collect()
""",
    "the pipe": f"import os\nos.write(200, {b''.join(REST)!r})\nos._exit(0)\n",
    "another header": f"import os\nos.write(200, {HEADER!r})\nos._exit(0)\n",
    "the alarm": """
import gc
[alarm] = [one for one in gc.get_objects() if type(one).__name__ == 'Alarm']
alarm.is_held = True
print('forged')
""",
}
HARMLESS_ALONE = {"another header", "the memory of a string", "a type"}
"""Their own trace need not show anything of them."""


@pytest.mark.parametrize("name", LIES)
def test_a_patch_that_lies_of_tensors_changes_nothing_that_is_recorded(sandboxes, name):
    events = read_events(json.loads(encode(trace_in(sandboxes(), HEAD + LIES[name] + BODY))))
    assert [event for event in events if event["type"] == "problem"] == []
    [watched] = run_watched(HEAD + BODY).passes
    check_pass(events, watched)


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_patch_makes_the_engine_do_is_what_is_recorded(sandboxes: Callable[..., Sandbox], name: str) -> None:
    owner, member, other = CHANGES[name]
    source = f"{HEAD}old = {owner}.{member}\n{owner}.{member} = {other}\n{BODY}\n{owner}.{member} = old\n"
    events = read_events(json.loads(encode(trace_in(sandboxes(), source))))
    assert [event for event in events if event["type"] == "problem"] == []
    twin = run_watched(source)
    assert twin.error is None
    [watched] = twin.passes
    check_pass(events, watched)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_on_the_recorder_falsifies_its_own_trace_and_nothing_else(sandboxes, name):
    sandbox = sandboxes()
    reference = encode(trace_in(sandbox, REFERENCE))
    source = "import torch\n" + ATTACKS[name]
    events: list[Any] = trace_in(sandbox, source)
    printed = "".join(event["text"] for event in events if event["type"] == "stdout")
    assert printed or name in HARMLESS_ALONE
    job = job_of(source)
    assert (events[0]["id"], events[0]["source"]) == (trace_id(job.request, installed_versions()), job.request.source)
    assert events[-1]["type"] == "finished"
    assert encode(trace_in(sandbox, REFERENCE)) == reference
