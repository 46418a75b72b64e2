"""What became of a run that did not finish by itself."""

import signal
from dataclasses import dataclass
from enum import Enum, auto

from gradwalk.protocol.events import Problem
from gradwalk.protocol.facts import fact
from gradwalk.protocol.problems import problem
from gradwalk.sandbox.launcher import Exit
from gradwalk.sandbox.limits import EXIT_OF_MEMORY, EXIT_OF_OUR_FAULT, EXIT_OF_TIME


class Ending(Enum):
    """Why reading from a child stopped."""

    COMPLETE = auto()
    """It said everything."""
    DEADLINE = auto()
    """Its time was over and it was killed."""
    CANCELLED = auto()
    """Nobody waits for it any more and it was killed."""
    TOO_LONG = auto()
    """It wrote more than may be kept and was killed."""
    UNREADABLE = auto()
    """It wrote what is not an answer and was killed."""
    SILENT = auto()
    """Its pipe closed before the answer was whole."""
    LOST = auto()
    """The process that makes children went, and took it along."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the stream ends in place of what the child did not say."""

    problem: Problem
    truncated: str | None = None
    """The limit that cut the run short."""


_CRASHES = {
    one for one in signal.Signals if one.name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP")
}
"""Those of them that this system has."""


def judge(ending: Ending, how: Exit | None, wall_seconds: float) -> Verdict:
    """The verdict for every ending but COMPLETE."""
    match ending:
        case Ending.DEADLINE:
            return _out_of_time(wall_seconds)
        case Ending.CANCELLED:
            return Verdict(problem("internal", fact("problem-left")))
        case Ending.TOO_LONG:
            return Verdict(problem("too_big", fact("problem-trace-too-large")), "trace_bytes")
        case Ending.UNREADABLE:
            return Verdict(problem("protocol", fact("problem-unusable-answer")))
        case _:
            if how is None or ending is Ending.LOST:
                return Verdict(problem("internal", fact("problem-lost")))
            return _judge_exit(how, wall_seconds)


def _judge_exit(how: Exit, wall_seconds: float) -> Verdict:
    if how.code == EXIT_OF_OUR_FAULT:
        return Verdict(problem("internal", fact("problem-broken-off")))
    if how.code == EXIT_OF_MEMORY:
        return Verdict(problem("memory", fact("problem-memory-used-up")), "memory")
    if how.code == EXIT_OF_TIME or how.signal == signal.SIGXCPU:
        return _out_of_time(wall_seconds)
    if how.signal == signal.SIGSYS:
        return Verdict(problem("forbidden", fact("problem-forbidden")))
    if how.signal in _CRASHES:
        return Verdict(problem("crashed", fact("problem-crashed", signal=signal.Signals(how.signal).name)))
    if how.signal == signal.SIGKILL:
        return Verdict(problem("memory", fact("problem-killed")), "memory")
    status = how.code if how.signal is None else how.signal
    return Verdict(problem("protocol", fact("problem-ended-itself", status=str(status))))


def _out_of_time(wall_seconds: float) -> Verdict:
    return Verdict(problem("timeout", fact("problem-stopped", seconds={"numbers": [wall_seconds]})), "time")
