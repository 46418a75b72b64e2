"""Programs as people paste them, in a locked child: what they ask for behaves, or is explained at its line."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gradwalk.sandbox.explain import explain
from gradwalk.sandbox.supervisor import Sandbox
from tests.world.sandbox import trace_in

X = "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\n"
BEHAVES: dict[str, tuple[str, str, list[tuple[str, dict[str, str]]]]] = {
    "a GPU that is not here": (
        X + "model = torch.nn.Linear(2, 1).cuda()\ndevice = torch.device('cuda:0')\n"
        "t = torch.zeros(1, device=device)\nloss = (model(x.to(device)) - t).pow(2).sum()\nloss.backward()\n"
        "torch.cuda.synchronize()\nprint(model.weight.grad.device, model.weight.grad.shape == (1, 2))",
        "cpu True\n",
        [("note-on-cpu", {"asked": ".cuda()", "line": "3"})],
    ),
    "mps and a default device": (
        X + "with torch.random.fork_rng():\n    torch.rand(1)\n"
        "torch.set_default_device('mps')\n(x * torch.ones(2)).sum().backward()\nprint(x.grad)",
        "tensor([1., 1.])\n",
        [("note-on-cpu", {"asked": "mps", "line": "5"})],
    ),
    "workers and pinned memory": (
        X + "from torch.utils.data import DataLoader, TensorDataset\nfour = TensorDataset(torch.arange(4.))\n"
        "for (b,) in DataLoader(four, batch_size=2, num_workers=4, pin_memory=True, persistent_workers=True):\n"
        "    (x * b).sum().backward()\nprint(x.grad)\n"
        "for (b,) in DataLoader(four, 2, False, None, None, 0, None, True):\n    print(b)",
        "tensor([2., 4.])\ntensor([0., 1.])\ntensor([2., 3.])\n",
        [("note-no-workers", {"workers": "4", "line": "5"}),
         ("note-on-cpu", {"asked": "pin_memory=True", "line": "8"})],
    ),
    "a generator for a GPU": (
        X + "g = torch.Generator('cuda').manual_seed(3)\n"
        "a = torch.rand(2, generator=g, device='cuda')\ntorch.manual_seed(3)\n(x * a).sum().backward()\n"
        "print(all(isinstance(one, torch.Generator) for one in (g, torch.default_generator)))\n"
        "print(torch.equal(x.grad, torch.rand(2)))",
        "True\nTrue\n",
        [("note-on-cpu", {"asked": 'torch.Generator("cuda")', "line": "3"})],
    ),
    "streams and events": (
        X + "start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)\nstart.record()\n"
        "stream = torch.cuda.Stream()\nwith torch.cuda.stream(stream):\n    x.sum().backward()\nend.record()\n"
        "torch.cuda.current_stream().wait_stream(stream)\ntorch.cuda.synchronize()\n"
        "print(x.grad, start.elapsed_time(end) > 0)",
        "tensor([1., 1.]) True\n",
        [("note-on-cpu", {"asked": "torch.cuda.Event()", "line": "3"})],
    ),
    "mixed precision": (
        X + "optimizer, scaler = torch.optim.SGD([x], 1.0), torch.amp.GradScaler('cuda')\n"
        "with torch.autocast('cuda', dtype=torch.float16):\n    loss = (x * x).sum()\nscaler.scale(loss).backward()\n"
        "scaler.step(optimizer)\nscaler.update()\nprint(loss.dtype, x.data)",
        "torch.float32 tensor([-1., -2.])\n",
        [("note-full-precision", {"asked": "GradScaler", "line": "3"})],
    ),
    "weights from a GPU": (
        "import io\n" + X + "file = io.BytesIO()\ntorch.save({'w': x}, file)\nfile.seek(0)\n"
        "w = torch.load(file, map_location='cuda')['w']\nw.sum().backward()\nprint(w.device, w.grad)",
        "cpu tensor([1., 1.])\n",
        [("note-on-cpu", {"asked": "cuda", "line": "7"})],
    ),
    "the number of a GPU": (
        X + "x.to(0).sum().backward()\nprint(torch.zeros(1, device=0).device, x.type(torch.cuda.FloatTensor).device)\n"
        "torch.set_default_tensor_type('torch.cuda.FloatTensor')\nprint(torch.cuda.get_device_properties(0).name)",
        "cpu cpu\nCPU\n",
        [("note-on-cpu", {"asked": "cuda:0", "line": "3"})],
    ),
    "asyncio": (
        "import asyncio\n" + X + "async def one(n):\n    await asyncio.sleep(0.001 * n)\n    return x[n] * n\n"
        "async def main():\n    queue = asyncio.Queue()\n    for y in await asyncio.gather(one(1), one(0)):\n"
        "        await queue.put(y)\n    return await asyncio.wait_for(queue.get(), 1)\n"
        "asyncio.run(main()).backward()\nprint(x.grad)",
        "tensor([0., 1.])\n",
        [],
    ),
    "pictures and reports": (
        "import matplotlib.pyplot as plt, wandb\nfrom torch.utils.tensorboard import SummaryWriter\n" + X
        + "fig, axes = plt.subplots(2, 2)\naxes[0, 1].plot([1, 2], label='a')\nwandb.init(project='a')\n"
        "with SummaryWriter() as writer:\n    writer.add_scalar('loss', 1)\nplt.show()\nx.sum().backward()\nprint(plt)",
        "<module 'matplotlib.pyplot'>\n",
        [("note-quiet", {"library": "matplotlib", "line": "1"}), ("note-quiet", {"library": "wandb", "line": "1"}),
         ("note-quiet", {"library": "torch.utils.tensorboard", "line": "2"})],
    ),
    "a progress bar": (
        X + "from tqdm import tqdm, trange\nbar = tqdm([1, 2], desc='epoch')\nfor k in bar:\n"
        "    (x * k).sum().backward()\n    bar.set_postfix(loss=1)\n    tqdm.write('k')\n"
        "print(len(bar), list(trange(2)))",
        "k\nk\n2 [0, 1]\n",
        [],
    ),
    "a command line, a log, the standard error": (
        "import argparse, logging, os, sys, time\n" + X + "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('--lr', type=float, default=0.1)\nlogging.basicConfig(level=logging.INFO)\n"
        "logging.info('lr %s', parser.parse_args().lr)\nprint('err', file=sys.stderr)\nos.environ['A'] = '1'\n"
        "time.sleep(0.001)\n\nif __name__ == '__main__':\n    x.sum().backward()\n    sys.exit(0)",
        "INFO:root:lr 0.1\nerr\n",
        [],
    ),
    "the compiler and the debugger": (
        X + "@torch.compile\ndef f(x):\n    return x * x\nbreakpoint()\nf(x).sum().backward()\nprint(x.grad)",
        "tensor([2., 4.])\n",
        [("note-compiled-in-line", {"line": "3"})],
    ),
    "classes of the library": (
        "from __future__ import annotations\nimport copy, enum, pickle, typing\nfrom dataclasses import dataclass\n" + X
        + "@dataclass\nclass Config:\n    lr: float = 0.1\nclass Mode(enum.IntFlag):\n    A = 1\n"
        "print(pickle.loads(pickle.dumps(Config())) == copy.copy(Config()))\n"
        "print(typing.get_type_hints(Config), Mode.A | 2)\n"
        "try:\n    raise ValueError from KeyError('k')\nexcept ValueError as error:\n    print(repr(error.__cause__))\n"
        "import torch.nn.utils.parametrize as parametrize\nclass Twice(torch.nn.Module):\n    def forward(self, w):\n"
        "        return 2 * w\nlayer = torch.nn.Linear(2, 1)\n"
        "parametrize.register_parametrization(layer, 'weight', Twice())\n"
        "layer(x).sum().backward()",
        "True\n{'lr': <class 'float'>} 3\nKeyError('k')\n",
        [],
    ),
    "an audit hook": (
        X + "import sys\nsys.addaudithook(print)\nx.sum().backward()\nprint(x.grad)",
        "tensor([1., 1.])\n",
        [("note-no-audit-hook", {"line": "4"})],
    ),
    "what reaches inside": (
        X + "import ctypes, gc, sys\ngc.get_referrers(x)\nsys.setprofile(None)\nctypes.string_at(id(0), 1)\n"
        "x.sum().backward()\nprint([name for name in sys.modules if name.startswith('gradwalk')])",
        "[]\n",
        [("note-reaches-inside", {"what": "gc.get_referrers", "line": "4"}),
         ("note-reaches-inside", {"what": "sys.setprofile", "line": "5"})],
    ),
}  # fmt: skip
EXPLAINED = {
    "input": ("n = input('n? ')", "problem-no-input", {}),
    "a file": ("open('data.csv')", "problem-no-file", {"file": "data.csv"}),
    "saving": ("torch.save(x, 'x.pt')", "problem-no-files", {}),
    "a data set": (
        "from torchvision import datasets; datasets.CIFAR10('data', download=True)",
        "problem-no-library-data",
        {"library": "torchvision", "instead": "torch.randn(64, 3, 32, 32), torch.randint(10, (64,))"},
    ),
    "another library": ("import pandas as pd", "problem-no-library", {"library": "pandas"}),
    "a download": ("import urllib.request as r\nr.urlopen('http://localhost/a')", "problem-no-network", {}),
    "a server": ("import socket\nsocket.socket()", "problem-no-network", {}),
    "a group of processes": (
        "import os, torch.distributed as dist\nos.environ.update(MASTER_ADDR='localhost', MASTER_PORT='29500')\n"
        "dist.init_process_group('gloo', rank=0, world_size=1)",
        "problem-no-processes",
        {},
    ),
    "a client": ("import requests", "problem-no-network", {}),
    "a temporary folder": ("import tempfile\ntempfile.mkdtemp()", "problem-no-files", {}),
    "a thread": ("import threading\nthreading.Thread(target=print).start()", "problem-no-processes", {}),
    "a graph of CUDA": ("torch.cuda.CUDAGraph()", "problem-no-gpu", {}),
    "a process": ("import subprocess\nsubprocess.run(['ls'])", "problem-no-processes", {}),
    "an end with a word": ("import sys\nsys.exit('bad')", "problem-exited-with", {"code": "'bad'"}),
    "nobody calls it": ("def train(model, n=1):\n    torch.ones(2).sum().backward()\n", "problem-nothing-called",
        {"name": "train", "call": "train(model)"}),
    "NumPy alone": ("import numpy as np\nx = np.ones(2)", "problem-nothing-numpy", {}),
}  # fmt: skip

BREAKS: dict[str, tuple[str, str | None]] = {
    "one builtin": ("import builtins\ndel builtins.len", "builtins.len"),
    "a builtin that types need": ("import builtins\ndel builtins.isinstance", "builtins.isinstance"),
    "a builtin after the last step": ("import builtins\ndel builtins.sorted", "builtins.sorted"),
    "a builtin that torch asks first": ("import builtins\nbuiltins.isinstance = lambda *_: False", None),
    "a builtin replaced": ("import builtins\nbuiltins.sorted = lambda *_, **__: 7", "builtins.sorted"),
    "a builtin that raises": ("import builtins\nbuiltins.len = lambda x: 1 / 0", "builtins.len"),
    "all builtins": ("import builtins\nvars(builtins).clear()", "builtins"),
    "imports": ("import builtins\nbuiltins.__import__ = None", "builtins.__import__"),
    "all modules": ("import sys\nsys.modules.clear()", "sys.modules"),
    "sys itself": ("import sys\nvars(sys).clear()", "sys"),
    "torch itself": ("vars(torch).clear()", "torch"),
    "a part of torch": ("del torch.autograd", "torch.autograd"),
    "the base of Functions": ("torch.autograd.Function = None", "torch.autograd.Function"),
    "a method of tensors": ("torch.Tensor.untyped_storage = None", "torch.Tensor.untyped_storage"),
    "a shape that raises": ("torch.Tensor.shape = property(lambda self: 1 / 0)", "torch.Tensor.shape"),
    "no room for calls": ("import sys\nsys.setrecursionlimit(20)", "sys.setrecursionlimit"),
    "threads": ("import threading\nthreading.Thread = None", "threading.Thread"),
    "regular expressions": ("import re\nvars(re).clear()", "re"),
    "the stack of modes": ("torch._C._pop_torch_function_stack()", "torch._C._pop_torch_function_stack"),
    "an audit hook that raises": ("import sys\ndef hook(*_):\n    raise ValueError\nsys.addaudithook(hook)", None),
    "a trace function that raises": ("import sys\ndef hook(*_):\n    raise ValueError\nsys.settrace(hook)", None),
    "no output": ("import sys\nsys.stdout = None", None),
    "no collector": ("import gc\ngc.disable()", None),
    "its own backward": ("torch.Tensor.backward = lambda self: None", None),
    "warnings": ("import warnings\nwarnings.warn = warnings.showwarning = warnings.filters = None", None),
    "signals": ("import signal\nsignal.signal(signal.SIGALRM, print)", None),
    "the hook for errors": ("import sys\nsys.excepthook = None\n1 / 0", None),
}
"""What a program breaks of the interpreter that it shares with the recorder; None where recording does not need it."""


@pytest.mark.parametrize("name", BREAKS)
def test_a_program_that_breaks_the_interpreter_is_no_fault_of_gradwalk(sandboxes, name):
    source, broken = BREAKS[name]
    events: list[Any] = trace_in(sandboxes(), X + source + "\n(x * x).sum().backward()\nprint(x.grad)")
    problems = [event for event in events if event["type"] == "problem"]
    assert {problem["kind"] for problem in problems} <= {"error", "not_differentiable"}
    assert events[-1]["type"] == "finished"
    told = [one for one in problems if one["fact"]["kind"] == "problem-interpreter-broken"]
    assert [one["fact"]["operands"]["what"] for one in told] == ([broken] if broken else [])
    if broken and "." in broken:
        assert told[0]["span"]["line"] == 2 + len(source.split("\n"))


@pytest.mark.parametrize("name", BEHAVES)
def test_what_a_locked_child_cannot_have_behaves_and_is_noted_at_its_line(sandboxes, name):
    source, printed, notes = BEHAVES[name]
    events: list[Any] = trace_in(sandboxes(), source)
    assert [event for event in events if event["type"] == "problem"] == []
    assert any(event["type"] == "step" for event in events)
    assert "".join(event["text"] for event in events if event["type"] == "stdout") == printed
    told = [(note["kind"], note["operands"]) for event in events for note in event.get("notes", [])]
    assert [note for note in told if note in notes] == notes
    assert notes or not told


@pytest.mark.parametrize("name", EXPLAINED)
def test_what_is_refused_is_explained_at_its_line(sandboxes: Callable[..., Sandbox], name: str) -> None:
    source, kind, operands = EXPLAINED[name]
    head = "" if kind.startswith("problem-nothing") else X
    events: list[Any] = trace_in(sandboxes(), head + source)
    [problem] = [event for event in events if event["type"] == "problem"]
    assert (problem["fact"]["kind"], problem["fact"].get("operands", {})) == (kind, operands)
    line = 1 if kind == "problem-nothing-called" else source.count("\n") + 1 + head.count("\n")
    assert kind == "problem-nothing-numpy" or problem["span"]["line"] == line


def test_random_data_instead_of_a_data_set_can_be_made() -> None:
    for name in ("MNIST(", "CIFAR100(", "load_iris(", "make_moons(", "load_diabetes(", "ImageFolder("):
        told: Any = explain(ModuleNotFoundError("no", name="sklearn"), f"from sklearn import x\n{name})")
        features, targets = eval(told["operands"]["instead"], {"torch": torch})  # noqa: S307
        assert len(features) == len(targets)
