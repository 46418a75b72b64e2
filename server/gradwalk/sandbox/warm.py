"""Makes a process ready to run programs: everything imported, one thread, one snapshot of memory in large pages.

Runs in the zygote before it forks, or in a spawned child where forking is unsafe.
"""

import ctypes
import gc
import importlib
import logging
import os
import pkgutil
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Final

import torch
import torch._dynamo  # noqa: F401 (imported by torch at the first use of an optimiser, which takes a second)

from gradwalk.protocol.document import encode
from gradwalk.protocol.events import Event
from gradwalk.protocol.requests import SERVER_LIMITS, TraceRequest
from gradwalk.sandbox.jobs import ERRAND, TraceJob
from gradwalk.sandbox.lockdown import IS_LINUX
from gradwalk.sandbox.ordinary import Ordinary
from gradwalk.tracer.collection import RELAXED_COLLECTION
from gradwalk.tracer.program_check import gradcheck_of_program
from gradwalk.tracer.replay import gradcheck_of_step, jacobian_of_step
from gradwalk.tracer.run import trace_program

_BESIDES: Final = """
numpy.ma numpy.polynomial numpy.testing numpy.typing torch.nn.utils.prune torch.utils.benchmark torch.utils.flop_counter
torch.utils.serialization.config torch._decomp.decompositions_for_jvp torch._subclasses.schema_check_mode
torch.profiler._cupti_monitor torch.nested._internal.ops torch.masked.maskedtensor._ops_refs torch.autograd._functions
torch.nn.attention.bias torch.nn.attention.flex_attention torch.nn.modules.linear_cross_entropy functorch
einops einops.layers.torch
"""
"""What neither torch nor NumPy imports by itself."""

_WITHOUT_USE: Final = frozenset(["antigravity", "idlelib", "lib2to3", "this", "tkinter", "turtle", "turtledemo"])
"""Of the standard library: they open windows, speak when they are imported, or are large."""

PROGRAMS: Final = (
    # What every lesson does, and what torch sets up at its first use.
    """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import jacfwd, jacrev, vmap
from torch.utils.checkpoint import checkpoint

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 2

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * ctx.saved_tensors[0] * grad_output

x = torch.tensor([1.0, 2.0], requires_grad=True)
x.register_hook(lambda g: g * 2)
checkpoint(lambda x: Square.apply(x).sin(), x, use_reentrant=False).sum().backward()
(g,) = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
g.sum().backward()
torch.autograd.functional.hessian(lambda t: (t ** 3).sum(), torch.ones(2))
torch.autograd.gradcheck(lambda t: (t ** 2).sum(), torch.randn(3, dtype=torch.double, requires_grad=True))
vmap(jacfwd(jacrev(lambda x: x ** 3)))(torch.ones(3))

net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 5))
optimizer = torch.optim.Adam(net.parameters())
F.cross_entropy(net(torch.randn(6, 1, 8, 8)), torch.randint(0, 5, (6,))).backward()
optimizer.step()
nn.LSTM(4, 8)(torch.randn(5, 2, 4))[0].sum().backward()
nn.TransformerEncoderLayer(16, 2, 32)(torch.randn(3, 2, 16)).sum().backward()

a = torch.randn(4, 4, dtype=torch.double)
torch.linalg.inv(a), torch.linalg.svd(a), torch.linalg.eig(a), torch.linalg.eigh(a @ a.T), torch.fft.fft(a)
torch.distributions.Normal(torch.zeros(2), torch.ones(2)).log_prob(torch.ones(2))
print(x.grad, repr(net), f"{x.sum().item():.3f}", g.grad_fn, torch.randn(100, 100), a.numpy())
""",
    # Free variables, and no backward call.
    "sin(x * y) + x",
    # Mistakes: a child finds what builds their messages.
    "x = (",
    "import torch\nx = torch.ones(2, requires_grad=True)\ny = x.exp()\ny += 1\ny.sum().backward()",
)

_CHECKED: Final = "x = torch.tensor([0.0, 2.0], requires_grad=True)\ntorch.relu(x).sum().backward()\n"
"""Asked about again, step and pass, as a reader may do."""

# linux/mman.h, since 6.1. What is there now is moved; what a child adds stays in small pages.
_MADV_COLLAPSE = 25
_LARGE_PAGE_BYTES = 2 << 20
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p \S+ \S+ \S+ *(\[heap\])?$")


def warm_up() -> Ordinary:
    """All of it but the large pages; what a program finds round itself, installed."""
    set_up_torch()
    _use_everything_once()
    ordinary = Ordinary()
    ordinary.install()
    # Out of the garbage collector's sight, so that children share the pages of what lives now. A child begins with few
    # objects and is soon gone: it seldom has to look for garbage.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*RELAXED_COLLECTION)
    gc.enable()
    return ordinary


def set_up_torch() -> None:
    """One thread, so that a fork is safe, and no kernels that need memory made executable at run time: no oneDNN, and
    QNNPACK for quantized tensors.

    Without oneDNN an LSTM is also drawn as its real gates instead of one fused node.
    """
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    torch.backends.mkldnn.enabled = False  # type: ignore[assignment]
    if "qnnpack" in torch.backends.quantized.supported_engines:
        torch.backends.quantized.engine = "qnnpack"
    # The product of integer matrices is compiled once for all, when it is first asked for: here, where it may be.
    torch.ones(1, 1, dtype=torch.int64).mm(torch.ones(1, 1, dtype=torch.int64))


def gather_into_large_pages() -> int:
    """Moves this process's own memory, as it is now, into pages of 2 MiB; the bytes that were moved.

    A fork copies an entry for each page that the parent has written to, and the child's end takes each back: 60,000
    small ones for torch and all that is imported, a hundred large ones, a third of the time. The kernel takes a large
    page apart for a child that writes to it. A kernel that has none changes nothing.
    """
    if not IS_LINUX:
        return 0
    libc = ctypes.CDLL(None)
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    moved = 0
    for mapping in filter(None, map(_MAPPING.fullmatch, Path("/proc/self/maps").read_text().splitlines())):
        first, end = int(mapping[1], 16), int(mapping[2], 16)
        # Page by page: asked for all at once, the kernel stops at the first for which it finds no room.
        for number in range(-(-first // _LARGE_PAGE_BYTES), end // _LARGE_PAGE_BYTES):
            collapsed = libc.madvise(number * _LARGE_PAGE_BYTES, _LARGE_PAGE_BYTES, _MADV_COLLAPSE) == 0
            moved += _LARGE_PAGE_BYTES * collapsed
    return moved


def assert_forkable() -> None:
    """One task, and no memory that a child could change for its siblings; or this must not have children."""
    tasks = len(os.listdir("/proc/self/task"))  # noqa: PTH208 (names are not needed, only how many)
    if tasks != 1:
        raise RuntimeError(f"{tasks} threads run where children would be forked from one")
    shared = [line for line in Path("/proc/self/maps").read_text().splitlines() if re.match(r"\S+ .w.s ", line)]
    if shared:
        raise RuntimeError(f"memory that children would share: {shared[0]}")


def _use_everything_once() -> None:
    """A locked child can import nothing, and torch imports and prepares much at its first use."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    for name in chain(_standard_library(), _BESIDES.split()):
        with suppress(ImportError):
            importlib.import_module(name)
    for source in PROGRAMS:
        job = TraceJob(request=TraceRequest(source=source), limits=SERVER_LIMITS)
        ERRAND.validate_json(job.model_dump_json())
        trace_program(job.request, _discard, job.limits)
    checked = TraceRequest(source=_CHECKED)
    encode(jacobian_of_step(checked, 0, 0, SERVER_LIMITS))
    encode(gradcheck_of_step(checked, 0, 0, SERVER_LIMITS))
    encode(gradcheck_of_program(checked, 0, SERVER_LIMITS))
    logging.disable(logging.NOTSET)


def _standard_library() -> Iterator[str]:
    """Each package before what is in it, which is looked for once the package was imported."""
    for name in sorted(sys.stdlib_module_names - _WITHOUT_USE):
        if name[0] != "_":
            yield name
            inside = pkgutil.walk_packages(getattr(sys.modules.get(name), "__path__", ()), f"{name}.")
            yield from (module.name for module in inside if not module.name.endswith("__main__"))


def _discard(event: Event) -> None:
    encode(event)
