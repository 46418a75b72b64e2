"""From payloads to typed values: nothing a child wrote is passed on unchecked.

A child runs a stranger's program and may write anything at all. So every value is validated against the
protocol and rebuilt, the header is replaced by what the parent itself knows, and the order is checked:
`started` first, `seq` without a gap, `finished` last. Whatever happens to the child, the stream that
leaves here is well formed.
"""

import math
from typing import Any, Final

from pydantic import TypeAdapter

from gradwalk.protocol.answers import GradcheckReport
from gradwalk.protocol.document import FORMAT, canonical_request
from gradwalk.protocol.events import Event, Finished, LocalJacobian, Problem, Started, Versions
from gradwalk.protocol.packed import count_entries
from gradwalk.protocol.requests import TraceRequest
from gradwalk.protocol.values import TensorValue
from gradwalk.protocol.wire import VALUES, Checker
from gradwalk.sandbox.jobs import JacobianJob, ReplayJob, ValueJob

LOCAL_JACOBIANS: Final[TypeAdapter[list[Any]]] = TypeAdapter(list[LocalJacobian])
GRADCHECK_REPORTS: Final[TypeAdapter[list[Any]]] = TypeAdapter(list[GradcheckReport])
_OF_THE_PROGRAM: Final = ("inputs", "directions", "values")
"""What only the child can say of a header."""


class AnswerError(ValueError):
    """A payload that breaks the agreement between parent and child."""


def expected_header(trace: str, request: TraceRequest, versions: Versions) -> Started:
    """The `started` event of a trace with this id, as far as it is known without running anything."""
    canonical = canonical_request(request)
    return {
        "seq": 0,
        "type": "started",
        "format": FORMAT,
        "id": trace,
        "source": canonical["source"],
        "options": canonical["options"],
        "versions": versions,
    }


class EventAnswer:
    """Checks the events of one run, in order, and can end the stream by itself.

    A run that was lost through no fault of the program may be repeated: after `restart` the events that were
    already passed on are checked and left out.
    """

    def __init__(self, header: Started) -> None:
        self._header = header
        self._checker = Checker()
        self._next_seq = 0
        self._passed_on = 0
        self._passes = 0
        self._steps = 0
        self._unrecorded = 0
        self._problems = 0
        self._latest: Event | None = None
        self.is_complete = False
        """True once `finished` has come; whatever a child writes after that is not read."""

    def accept(self, payload: bytes) -> list[Event]:
        """The event in `payload`; nothing if it was passed on before a restart.

        Raises:
            AnswerError: not an event, or not the one whose turn it is.
        """
        event = self._decode(payload)
        if event["seq"] != self._next_seq:
            raise AnswerError(f"event {event['seq']} came where {self._next_seq} was due")
        if (event["type"] == "started") != (self._next_seq == 0):
            raise AnswerError("a stream has one 'started', at its beginning")
        self._next_seq += 1
        if event["type"] == "started":
            event = self._with_our_header(event)
        elif event["type"] == "finished":
            self.is_complete = True
        if self._next_seq <= self._passed_on:
            return []
        self._count(event)
        return [event]

    def restart(self) -> None:
        """The next payload comes from a new child that runs the same program again."""
        self._checker = Checker()
        self._next_seq = 0

    def pass_over(self, events: list[Event]) -> None:
        """These were passed on already, by somebody who ran the same program before."""
        for event in events:
            self._count(event)
            self.is_complete = event["type"] == "finished"

    def end_with(self, problem: Problem, truncated: str | None) -> list[Event]:
        """What is missing to make a whole stream: the header where nothing came, the problem, `finished`."""
        if self.is_complete:
            return []
        events: list[Event] = [self._header] if self._passed_on == 0 else []
        # A child may say what is wrong, and die of it before it says that it has finished.
        if self._latest is None or self._latest["type"] != "problem" or self._latest["kind"] != problem["kind"]:
            problem["seq"] = self._passed_on + len(events)
            events.append(problem)
        finished: Finished = {
            "seq": self._passed_on + len(events),
            "type": "finished",
            "passes": self._passes,
            "steps": self._steps,
            "problems": self._problems + (problem in events),
            "truncated": truncated,
        }
        if self._unrecorded:
            finished["unrecorded"] = self._unrecorded
        self.is_complete = True
        return [*events, finished]

    def _with_our_header(self, event: Started) -> Started:
        header: Any = self._header.copy()
        own: Any = event
        header.update({name: own[name] for name in _OF_THE_PROGRAM if name in own})
        return header  # type: ignore[no-any-return]

    def _decode(self, payload: bytes) -> Any:
        # pydantic's ValidationError is a ValueError, as is what its parser says of invalid UTF-8 and lone surrogates.
        try:
            return self._checker.check(payload)
        except (ValueError, RecursionError) as error:
            raise AnswerError("not an event of the trace format") from error

    def _count(self, event: Event) -> None:
        self._passed_on += 1
        self._passes += event["type"] == "pass_started"
        self._steps += event["type"] == "step"
        self._problems += event["type"] == "problem"
        if event["type"] == "unrecorded":
            self._unrecorded += len(event["of"])
        self._latest = event


class ReplayAnswer:
    """Checks the one payload of a replay: a list of local Jacobians, of gradcheck reports, or of one value."""

    def __init__(self, job: ReplayJob) -> None:
        self._job = job
        self.is_complete = False
        """True once the payload has come."""

    def accept(self, payload: bytes) -> list[Any]:
        """What was asked for, re-typed.

        Raises:
            AnswerError: something else is in `payload`.
        """
        try:
            found = self._read(payload)
        except (ValueError, RecursionError) as error:
            raise AnswerError("not an answer of the kind that was asked for") from error
        self.is_complete = True
        return found

    def _read(self, payload: bytes) -> list[Any]:
        match self._job:
            case JacobianJob():
                return LOCAL_JACOBIANS.validate_json(payload)
            case ValueJob(value=value):
                found = VALUES.validate_json(payload)
                if any(not _is_whole(one, value) for one in found):
                    raise ValueError("not all entries of the value that was asked for")
                return found
            case _:
                return GRADCHECK_REPORTS.validate_json(payload)


def _is_whole(value: TensorValue, asked: TensorValue) -> bool:
    """Whether these are all entries of the value that was asked for."""
    if (value["shape"], value["dtype"]) != (asked["shape"], asked["dtype"]):
        return False
    packed = value.get("packed")
    count = len(value.get("data", ())) if packed is None else count_entries(packed, value["dtype"])
    return count == math.prod(value["shape"])
