"""The alarm inside a child, against a real clock."""

import signal
import time

import pytest

from gradwalk.sandbox.deadline import PROGRAM_FILENAME, Alarm
from gradwalk.tracer.interruption import TELLING, TimeLimitError

SECONDS = 0.2
TOLD_SECONDS = 0.6


def tell_a_pass() -> None:
    with TELLING, TELLING:
        time.sleep(TOLD_SECONDS)


@pytest.mark.parametrize(("recording_seconds", "spent"), [(60.0, SECONDS + TOLD_SECONDS), (0.0, SECONDS)])
def test_what_recording_takes_does_not_count_up_to_its_own_limit(recording_seconds: float, spent: float) -> None:
    program = compile("tell_a_pass()\nwhile True: pass", PROGRAM_FILENAME, "exec")
    started, before = time.monotonic(), signal.getsignal(signal.SIGALRM)
    try:
        Alarm().set(SECONDS, recording_seconds)
        with pytest.raises(TimeLimitError):
            exec(program, {"tell_a_pass": tell_a_pass})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - started >= spent


def test_code_of_the_program_that_recording_runs_counts() -> None:
    program = compile("with TELLING:\n    while True: pass", PROGRAM_FILENAME, "exec")
    before = signal.getsignal(signal.SIGALRM)
    try:
        Alarm().set(SECONDS, 60.0)
        with pytest.raises(TimeLimitError):
            exec(program, {"TELLING": TELLING})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
