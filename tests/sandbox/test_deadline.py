"""The alarm inside a child: it interrupts the program, and nothing between an event's number and its last byte."""

import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from gradwalk.protocol.events import Event
from gradwalk.protocol.requests import TraceRequest, resolve_limits
from gradwalk.sandbox.deadline import PROGRAM_FILENAME, Alarm
from gradwalk.tracer import interruption
from gradwalk.tracer.interruption import TELLING, TimeLimitError
from gradwalk.tracer.run import trace_program
from gradwalk.tracer.stream import EventStream
from tests.twin import run_traced

AT_ONCE = 1e-6
SECONDS = 0.1
TOLD_SECONDS = 0.3
PASSES = "import torch\nx = torch.ones(1, requires_grad=True)\nfor _ in range(3):\n    (x * x).backward()\n"
RINGS = 80


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    before = signal.getsignal(signal.SIGALRM)
    yield Alarm()
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def ring() -> None:
    signal.raise_signal(signal.SIGALRM)


def run_snippet(source: str, filename: str = PROGRAM_FILENAME, **names: Any) -> dict[str, Any]:
    exec(compile(source, filename, "exec"), names)
    return names


def test_alarm_does_not_part_an_event_from_its_number(alarm: Alarm) -> None:
    """A gap in the numbers would make the parent refuse the whole answer."""
    events: list[Event] = []

    def emit(event: Event) -> None:
        ring()
        events.append(event)
        signal.setitimer(signal.ITIMER_REAL, 0)

    send = EventStream(emit, 100).send
    alarm.set(SECONDS, 60.0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    time.sleep(SECONDS)
    run_snippet("send({'type': 'stdout', 'text': 'x'})", send=send)
    assert [event["seq"] for event in events] == [0]


@pytest.mark.parametrize(("recording_seconds", "spent"), [(60.0, SECONDS + TOLD_SECONDS), (0.0, SECONDS)])
def test_time_of_recording_has_a_limit_of_its_own(alarm: Alarm, recording_seconds: float, spent: float) -> None:
    tell = "def tell_a_pass():\n    with telling, telling: sleep(seconds)"
    names = run_snippet(tell, interruption.__file__, telling=TELLING, sleep=time.sleep, seconds=TOLD_SECONDS)
    started = time.monotonic()
    alarm.set(SECONDS, recording_seconds)
    with pytest.raises(TimeLimitError):
        run_snippet("tell_a_pass()\nwhile True: pass", tell_a_pass=names["tell_a_pass"])
    assert time.monotonic() - started >= spent


def test_code_of_the_program_that_recording_runs_counts(alarm: Alarm) -> None:
    alarm.set(SECONDS, 60.0)
    with pytest.raises(TimeLimitError):
        run_snippet("with TELLING:\n    while True: pass", TELLING=TELLING)


class Ringing:
    """Runs `PASSES`, and rings once at a call or return of a function that Python makes, by its number."""

    def __init__(self) -> None:
        self.calls = self._ring_at = 0

    def run(self, ring_at: int = -1) -> tuple[str, ...]:
        """The kinds of the problems it ended with."""
        self.calls, self._ring_at = 0, ring_at
        events: list[Event] = []
        request = TraceRequest(source=PASSES)
        sys.setprofile(self._look)
        try:
            trace_program(request, events.append, resolve_limits(request.options.limits))
        finally:
            sys.setprofile(None)
        return tuple(event["kind"] for event in events if event["type"] == "problem")

    def _look(self, *_: object) -> None:
        self.calls += 1
        if self.calls == self._ring_at:
            sys.setprofile(None)
            ring()


def test_wherever_the_alarm_rings_the_time_is_up_and_nothing_else(alarm: Alarm) -> None:
    """Neither the recorder nor torch's stack of function modes is left half done."""
    alarm.set(AT_ONCE, 0.0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    ringing = Ringing()
    # The first run of a process calls much more than the others.
    assert ringing.run() == ringing.run() == ()
    ends = Counter(ringing.run(number) for number in range(1, ringing.calls, ringing.calls // RINGS))
    # The first and the last calls are not the program's.
    assert set(ends) == {(), ("timeout",)}
    assert ends["timeout",] > RINGS / 2


@pytest.mark.parametrize(("count", "is_drawn"), [(20, True), (2_000, False)])
def test_a_graph_too_long_for_the_rest_of_the_time_costs_no_timeout_its_line(count: int, *, is_drawn: bool) -> None:
    grow = f"y = torch.ones(1, requires_grad=True)\nfor _ in range({count}): y = y * 1.0\n"
    out_of_time = "from gradwalk.tracer.interruption import TimeLimitError\nraise TimeLimitError\n"
    [found] = [
        event for event in run_traced("import torch\n" + grow + out_of_time).events if event["type"] == "problem"
    ]
    assert (found["kind"], found["span"]["line"], "graph" in found) == ("timeout", 5, is_drawn)
