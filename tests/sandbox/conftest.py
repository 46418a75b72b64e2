"""A real sandbox, shared by the tests of one worker: starting one takes seconds."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gradwalk.protocol.document import encode
from gradwalk.protocol.events import Event
from gradwalk.protocol.requests import TraceRequest, resolve_limits
from gradwalk.protocol.versions import installed_versions
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.jobs import TraceJob
from gradwalk.sandbox.limits import RunLimits
from gradwalk.sandbox.supervisor import Sandbox

WALL_SECONDS = 2.0
MEMORY_BYTES = 128 << 20
REFERENCE = """
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
(x * x).sum().backward()
print(x.grad)
"""

Trace = Callable[..., list[Event]]


def trace_in(sandbox: Sandbox, source: str, **options: Any) -> list[Event]:
    request = TraceRequest.model_validate({"source": source, "options": options})
    job = TraceJob(request=request, limits=resolve_limits(request.options.limits))
    return [event for batch in sandbox.trace(job, installed_versions(), Cancellation()) for event in batch]


@pytest.fixture(scope="session")
def offered() -> Iterator[Sandbox]:
    """All layers, as the server runs it."""
    with Sandbox(RunLimits(wall_seconds=WALL_SECONDS, memory_bytes=MEMORY_BYTES)) as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def unpoliced() -> Iterator[Sandbox]:
    """The kernel's layers alone: a program may say anything."""
    with Sandbox(RunLimits(wall_seconds=WALL_SECONDS, memory_bytes=MEMORY_BYTES, policy=False)) as sandbox:
        yield sandbox


@pytest.fixture
def trace(offered: Sandbox) -> Trace:
    """Events of a program."""
    return lambda source, **options: trace_in(offered, source, **options)


@pytest.fixture(scope="session")
def reference_bytes(unpoliced: Sandbox) -> bytes:
    """What the reference program gives when nothing has happened yet."""
    return encode(trace_in(unpoliced, REFERENCE))


@pytest.fixture
def survive(unpoliced: Sandbox, reference_bytes: bytes) -> Iterator[Trace]:
    """Traces a hostile program; afterwards the reference program must give the same bytes as ever."""
    yield lambda source, **options: trace_in(unpoliced, source, **options)
    assert encode(trace_in(unpoliced, REFERENCE)) == reference_bytes
