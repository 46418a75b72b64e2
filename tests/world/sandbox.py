"""Sandboxes in this process: shared ones by what they allow, and what a test asks of them."""

from typing import Any

from gradwalk.protocol.events import Event
from gradwalk.protocol.requests import TraceRequest, resolve_limits
from gradwalk.protocol.versions import installed_versions
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.jobs import JacobianJob, TraceJob
from gradwalk.sandbox.limits import RunLimits
from gradwalk.sandbox.supervisor import Sandbox

MEMORY_BYTES = 128 << 20
PATIENT = RunLimits(wall_seconds=60.0, memory_bytes=MEMORY_BYTES)
"""For programs that end by themselves, however little of a busy machine they get."""
HASTY_SECONDS = 2.4
HASTY = RunLimits(wall_seconds=HASTY_SECONDS, soft_share=1 / 3, memory_bytes=MEMORY_BYTES)
"""For programs that never end. After a third of it they are asked to; a busy machine takes a while to answer."""
REFERENCE = "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\n(x * x).sum().backward()\nprint(x.grad)\n"
"""Its trace must be the same bytes whatever ran before it."""


def job_of(source: str, **options: Any) -> TraceJob:
    """The job of a request for a trace."""
    request = TraceRequest.model_validate({"source": source, "options": options})
    return TraceJob(request=request, limits=resolve_limits(request.options.limits))


def jacobian_job_of(source: str) -> JacobianJob:
    """The job of a request for the first local Jacobian of the first step."""
    request = TraceRequest(source=source)
    return JacobianJob(request=request, limits=resolve_limits(request.options.limits), index=0, argnum=0)


def trace_in(sandbox: Sandbox, source: str, **options: Any) -> list[Event]:
    """The events of a program."""
    batches = sandbox.trace(job_of(source, **options), installed_versions(), Cancellation())
    return [event for batch in batches for event in batch]
