"""Makes this process ready to run programs: torch set up, everything imported, one thread, one snapshot of memory.

Runs in the zygote before it forks, or in a spawned child where forking is unsafe.
"""

import gc
import importlib
import logging
import os
import warnings
from contextlib import suppress
from pathlib import Path

import torch
import torch._dynamo  # noqa: F401 (imported by torch at the first use of an optimiser, which takes a second)

from gradwalk.protocol.document import encode
from gradwalk.protocol.events import Event
from gradwalk.protocol.requests import SERVER_LIMITS, TraceRequest
from gradwalk.sandbox.jobs import PROGRAM_JOB, JacobianJob, TraceJob
from gradwalk.sandbox.warmup import CHECKED, MODULES, PROGRAMS
from gradwalk.tracer.collection import RELAXED_COLLECTION
from gradwalk.tracer.program_check import gradcheck_of_program
from gradwalk.tracer.replay import gradcheck_of_step, jacobian_of_step
from gradwalk.tracer.run import trace_program

_REPLAYED = "import torch\nx = torch.ones(2, requires_grad=True)\n(x * x).sum().backward()"


class UnfitProcessError(RuntimeError):
    """This process must not become the parent of children."""


def set_up_torch() -> None:
    """One thread, so that a fork is safe, and no oneDNN, whose kernels need memory made executable at run time.

    Without oneDNN an LSTM is also drawn as its real gates instead of one fused node.
    """
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    torch.backends.mkldnn.enabled = False  # type: ignore[assignment]
    # A child has no accelerator. For the day when it gets one, torch would keep each seed with a whole formatted stack.
    torch.cuda.manual_seed_all = _seed_nothing
    torch.xpu.manual_seed_all = _seed_nothing
    torch.mtia.manual_seed_all = _seed_nothing


def warm_up() -> None:
    """Imports what a program may import, and traces every warm-up program once, throwing its events away."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    for name in MODULES:
        with suppress(ImportError):
            importlib.import_module(name)
    for source in PROGRAMS:
        request = TraceRequest(source=source)
        job = PROGRAM_JOB.validate_json(TraceJob(request=request, limits=SERVER_LIMITS).model_dump_json())
        trace_program(job.request, _discard, job.limits)
    request = TraceRequest(source=_REPLAYED)
    replay = PROGRAM_JOB.validate_json(
        JacobianJob(request=request, limits=SERVER_LIMITS, index=0, argnum=0).model_dump_json()
    )
    encode(jacobian_of_step(replay.request, 0, 0, replay.limits))
    for checked in CHECKED:
        request = TraceRequest(source=checked)
        encode(gradcheck_of_step(request, 0, 0, SERVER_LIMITS))
        encode(gradcheck_of_program(request, 0, SERVER_LIMITS))
    logging.disable(logging.NOTSET)


def settle() -> None:
    """Moves everything that lives now out of the garbage collector's sight, so that children share its pages.

    A child begins with few objects and is soon gone: it seldom has to look for garbage.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*RELAXED_COLLECTION)


def assert_forkable() -> None:
    """One task, and no memory that a child could change for its siblings.

    Raises:
        UnfitProcessError: with what is wrong.
    """
    tasks = len(os.listdir("/proc/self/task"))  # noqa: PTH208 (names are not needed, only how many)
    if tasks != 1:
        raise UnfitProcessError(f"{tasks} threads run where children would be forked from one")
    shared = [line for line in Path("/proc/self/maps").read_text().splitlines() if _is_shared_and_writable(line)]
    if shared:
        raise UnfitProcessError(f"memory that children would share: {shared[0]}")


def _is_shared_and_writable(mapping: str) -> bool:
    permissions = mapping.split()[1]
    return permissions[1] == "w" and permissions[3] == "s"


def _seed_nothing(seed: int) -> None:
    """Nothing is there to seed."""


def _discard(event: Event) -> None:
    encode(event)
