"""The child: prepares itself, reads one job, runs it, is gone. Never returns, never reused.

A child may be forked before there is a job for it (a spare). What can be done ahead is done ahead; the alarm
and the seccomp filter come when the job has been read.
"""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from gradwalk.protocol.document import encode
from gradwalk.protocol.wire import Writer, packed_value
from gradwalk.sandbox import lockdown
from gradwalk.sandbox.deadline import Alarm
from gradwalk.sandbox.frames import LENGTH_BYTES, encode_frame
from gradwalk.sandbox.jobs import ERRAND, GradcheckJob, JacobianJob, ProbeJob, TraceJob, ValueJob
from gradwalk.sandbox.limits import EXIT_OF_MEMORY, EXIT_OF_OUR_FAULT, EXIT_OF_TIME, RunLimits
from gradwalk.sandbox.ordinary import Ordinary
from gradwalk.sandbox.probes import probe
from gradwalk.tracer.explanation import is_out_of_memory
from gradwalk.tracer.interruption import TimeLimitError
from gradwalk.tracer.program_check import gradcheck_of_program
from gradwalk.tracer.replay import entries_of_value, gradcheck_of_step, jacobian_of_step
from gradwalk.tracer.run import trace_program

CHANNEL = 200
"""The descriptor of the pipe to the parent: private, and far from those that a program opens."""

_READ_BYTES = 1 << 16
_EXIT_UNHEARD = 1
"""As of a program that ends by itself."""
_ENDED_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD)


@dataclass(frozen=True, slots=True)
class Confinement:
    """How a child is locked in; layers that the platform lacks are switched off."""

    limits: RunLimits
    spent_seconds: int
    """Of processor time, by this process before it is a child: nothing for one that is forked."""
    ordinary: Ordinary
    """What a program finds round itself."""
    base_bytes: int
    """Address space of the warm process."""
    null_device: int
    landlock_ruleset: int | None
    seccomp: bool

    @classmethod
    def prepare(cls, limits: RunLimits, ordinary: Ordinary, spent_seconds: int = 0) -> "Confinement":
        """What a child cannot do for itself any more."""
        return cls(
            limits=limits,
            spent_seconds=spent_seconds,
            ordinary=ordinary,
            base_bytes=lockdown.address_space_bytes(),
            null_device=os.open(os.devnull, os.O_RDWR),
            landlock_ruleset=lockdown.create_landlock_ruleset() if limits.landlock else None,
            seccomp=limits.seccomp and lockdown.seccomp_is_known_here(),
        )


def run_child(channel: int, confinement: Confinement, parent: int) -> NoReturn:
    """Everything between fork and exit; `parent` is the process that forked."""
    status = EXIT_OF_OUR_FAULT
    try:
        lockdown.die_with_parent(parent)
        _confine_early(channel, confinement)
        payload = _read_frame()
        if payload:
            _run_job(payload, confinement)
        status = 0
    except (MemoryError, RuntimeError, ValueError) as error:
        if is_out_of_memory(error):
            status = EXIT_OF_MEMORY
    except TimeLimitError:
        # It rang while the recorder looked at a tensor, which ran code of the program.
        status = EXIT_OF_TIME
    finally:
        # Not sys.exit: whatever the program has left behind (atexit, destructors, buffers) must not run.
        os._exit(status)


def _confine_early(channel: int, confinement: Confinement) -> None:
    for number in _ENDED_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    os.dup2(channel, CHANNEL, inheritable=False)
    # A program may ask for it, as inspect and `torch.library` do, and learns nothing of the server's folders.
    os.chdir("/")
    lockdown.refuse_new_privileges()
    if confinement.landlock_ruleset is not None:
        lockdown.enter_landlock(confinement.landlock_ruleset)
    lockdown.close_descriptors(confinement.null_device, keep=CHANNEL)


def _run_job(payload: bytes, confinement: Confinement) -> None:
    job = ERRAND.validate_json(payload)
    limits = confinement.limits
    if limits.resource_limits:
        memory_bytes = confinement.base_bytes + limits.memory_bytes
        lockdown.limit_resources(memory_bytes, confinement.spent_seconds + limits.cpu_seconds)
    Alarm().set(limits.soft_seconds, limits.recording_seconds)
    if confinement.seccomp:
        lockdown.install_seccomp()
    send = _sender()
    ordinary = confinement.ordinary
    match job:
        case ProbeJob():
            for name in job.probes:
                send(encode(probe(name)))
        case TraceJob():
            write = Writer().write
            trace_program(job.request, lambda event: send(write(event)), job.limits, ordinary)
        case JacobianJob():
            send(encode(jacobian_of_step(job.request, job.index, job.argnum, job.limits, ordinary)))
        case ValueJob():
            send(encode([packed_value(one) for one in entries_of_value(job.request, job.value, job.limits, ordinary)]))
        case GradcheckJob() if job.index is not None:
            send(encode(gradcheck_of_step(job.request, job.index, job.argnum, job.limits, ordinary)))
        case GradcheckJob():
            send(encode(gradcheck_of_program(job.request, job.pass_index, job.limits, ordinary)))


def _sender() -> Callable[[bytes], None]:
    """Writes whole frames."""
    write, leave = os.write, os._exit

    def send(payload: bytes) -> None:
        rest = memoryview(encode_frame(payload))
        try:
            while rest:
                rest = rest[write(CHANNEL, rest) :]
        except OSError:
            # The program has closed it: nothing that is still to be told can be, and the fault is not ours.
            leave(_EXIT_UNHEARD)

    return send


def _read_frame() -> bytes:
    """The job, or nothing when the parent has no use for this child."""
    head = _read_exactly(LENGTH_BYTES)
    return _read_exactly(int.from_bytes(head, "big")) if head else b""


def _read_exactly(count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        part = os.read(CHANNEL, min(count - len(parts), _READ_BYTES))
        if not part:
            return b""
        parts += part
    return bytes(parts)
