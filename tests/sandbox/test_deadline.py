"""The alarm inside a child: it interrupts the program, and nothing between an event's number and its last byte."""

import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from gradwalk.protocol.events import Event
from gradwalk.sandbox.deadline import PROGRAM_FILENAME, Alarm
from gradwalk.tracer.interruption import TELLING, TimeLimitError
from gradwalk.tracer.stream import EventStream

AT_ONCE = 1e-6
SECONDS = 0.1
TOLD_SECONDS = 0.3


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    before = signal.getsignal(signal.SIGALRM)
    yield Alarm()
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def ring() -> None:
    signal.raise_signal(signal.SIGALRM)


def run_snippet(source: str, **names: Any) -> None:
    exec(compile(source, PROGRAM_FILENAME, "exec"), names)


def test_alarm_raises_in_the_program_and_in_what_it_calls_only(alarm: Alarm) -> None:
    alarm.set(AT_ONCE, 0.0)
    ring()
    with pytest.raises(TimeLimitError):
        run_snippet("ring()", ring=ring)


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
    def tell_a_pass() -> None:
        with TELLING, TELLING:
            time.sleep(TOLD_SECONDS)

    started = time.monotonic()
    alarm.set(SECONDS, recording_seconds)
    with pytest.raises(TimeLimitError):
        run_snippet("tell_a_pass()\nwhile True: pass", tell_a_pass=tell_a_pass)
    assert time.monotonic() - started >= spent


def test_code_of_the_program_that_recording_runs_counts(alarm: Alarm) -> None:
    alarm.set(SECONDS, 60.0)
    with pytest.raises(TimeLimitError):
        run_snippet("with TELLING:\n    while True: pass", TELLING=TELLING)
