"""One function that carries out a job, the same wherever it runs: web server, worker."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from gradwalk.engine.export import ExportJob, NoFileError, make_file
from gradwalk.exports.exporter import Report
from gradwalk.protocol.document import encode
from gradwalk.protocol.events import Event, Problem
from gradwalk.protocol.facts import fact
from gradwalk.protocol.problems import problem
from gradwalk.protocol.versions import installed_versions
from gradwalk.sandbox.answers import EventAnswer
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.conversation import Charge
from gradwalk.sandbox.jobs import GradcheckJob, JacobianJob, ReplayJob, TraceJob, ValueJob
from gradwalk.sandbox.supervisor import ReplayProblemError, Sandbox

Job = Annotated[TraceJob | JacobianJob | GradcheckJob | ValueJob | ExportJob, Field(discriminator="kind")]
JOB: TypeAdapter[Job] = TypeAdapter(Job)

Emit = Callable[[list[bytes]], None]
"""Takes encoded results as they come: events of a trace, the one list that a replay answers with, or a file."""

PASSING_KINDS = frozenset({"timeout", "memory", "crashed", "forbidden", "protocol", "busy", "internal"})
"""Problems that may be gone the next time; a trace with one is never kept as content."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended."""

    lasting: bool
    """True: the same job gives the same bytes again, so they may be kept for ever."""
    problem: Problem | None = None
    """Why there is no result; never of a trace, which carries its problems as events."""


CALLED_OFF = Outcome(lasting=False, problem=problem("internal", fact("problem-called-off")))
OUR_FAULT = Outcome(lasting=False, problem=problem("internal", fact("problem-server-mistake")))


def execute(
    job: Job,
    emit: Emit,
    *,
    sandbox: Sandbox,
    cancellation: Cancellation,
    answer: EventAnswer | None,
    report: Report,
    charge: Charge,
) -> Outcome:
    """Runs `job` in a child and emits what it says. Blocks; raises nothing for what a program does.

    `answer` is of a trace that may be postponed: what was emitted before is not emitted again. `report` hears how far
    a file is; `charge` what it cost, also where it was called off or postponed.
    """
    if isinstance(job, TraceJob):
        lasting = True
        for batch in sandbox.trace(job, installed_versions(), cancellation, answer, charge):
            emit([encode(event) for event in batch])
            lasting = lasting and not _has_passing_problem(batch)
        return Outcome(lasting)
    try:
        if isinstance(job, ExportJob):
            emit([make_file(job, report, cancellation, charge=charge)])
        else:
            emit([encode(_replay(job, sandbox, cancellation, charge))])
    except (NoFileError, ReplayProblemError) as refusal:
        return CALLED_OFF if refusal.problem is None else Outcome(lasting=False, problem=refusal.problem)
    return Outcome(lasting=True)


def refuse(why: Problem, emit: Emit, answer: EventAnswer | None) -> Outcome:
    """The end of a job that is not carried out; a trace, which has an `answer`, is whole and says why."""
    if answer is None:
        return Outcome(lasting=False, problem=why)
    emit([encode(event) for event in answer.end_with(why, None)])
    return Outcome(lasting=False)


def _replay(job: ReplayJob, sandbox: Sandbox, cancellation: Cancellation, charge: Charge) -> list[Any]:
    found = sandbox.replay(job, cancellation, charge)
    if isinstance(job, JacobianJob) and found and all(one["structure"] is None for one in found):
        raise ReplayProblemError(problem("not_differentiable", fact("problem-no-jacobian")))
    if isinstance(job, ValueJob) and not found:
        raise ReplayProblemError(problem("internal", fact("problem-value-lost")))
    return found


def _has_passing_problem(events: Sequence[Event]) -> bool:
    return any(event["type"] == "problem" and event["kind"] in PASSING_KINDS for event in events)
