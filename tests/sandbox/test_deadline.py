"""The alarm raises where it may: in the program, and not between an event's number and its last byte."""

import signal
import sys
from typing import Any

import pytest

from gradwalk.protocol.events import Event
from gradwalk.sandbox.deadline import PROGRAM_FILENAME, Alarm
from gradwalk.tracer.interruption import TimeLimitError
from gradwalk.tracer.stream import EventStream


def run_snippet(source: str, **names: Any) -> None:
    exec(compile(source, PROGRAM_FILENAME, "exec"), names)


def test_the_alarm_raises_in_the_program_and_in_what_it_calls() -> None:
    alarm = Alarm()
    with pytest.raises(TimeLimitError):
        run_snippet("ring()", ring=lambda: alarm._ring(signal.SIGALRM, sys._getframe()))


def test_the_alarm_does_not_ring_outside_the_program() -> None:
    Alarm()._ring(signal.SIGALRM, sys._getframe())


def test_the_alarm_never_parts_an_event_from_its_number() -> None:
    """A gap in the numbers would make the parent refuse the whole answer."""
    alarm, events = Alarm(), []

    def emit(event: Event) -> None:
        alarm._ring(signal.SIGALRM, sys._getframe())
        events.append(event)

    run_snippet("send({'type': 'stdout', 'text': 'x'})", send=EventStream(emit, 100).send)
    assert [event["seq"] for event in events] == [0]
