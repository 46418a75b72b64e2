"""What became of a run that did not finish by itself, said so that a student can act on it."""

import signal
from dataclasses import dataclass
from enum import Enum, auto

from gradwalk.protocol.events import Problem
from gradwalk.protocol.problems import problem
from gradwalk.sandbox.launcher import Exit
from gradwalk.sandbox.limits import EXIT_OF_MEMORY, EXIT_OF_OUR_FAULT


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
    truncated: str | None
    """The limit that cut the run short."""


_CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP}
_ODD_EXIT_HINT = "Remove what ends the process (os._exit, quit from a thread), and run it again."


def judge(ending: Ending, how: Exit | None, wall_seconds: float) -> Verdict:
    """The verdict for every ending but COMPLETE."""
    match ending:
        case Ending.DEADLINE:
            return _out_of_time(wall_seconds)
        case Ending.CANCELLED:
            return _verdict("internal", "Called off", "Everybody who watched this run has left, so it was stopped.")
        case Ending.TOO_LONG:
            return Verdict(
                problem(
                    "too_big",
                    "The trace is too large",
                    "This program records more than one trace can hold; everything before this point is kept.",
                    hint="Use smaller tensors or fewer steps, or lower the limit on elements per value.",
                ),
                "trace_bytes",
            )
        case Ending.UNREADABLE:
            return _verdict(
                "protocol",
                "No usable answer",
                "The process that ran this program answered in a way that cannot be read, so its answer was dropped.",
                "If the program writes to file descriptors or changes the standard library, remove that. "
                "Otherwise this is a bug of gradwalk: please report the program.",
            )
        case _:
            return _lost() if how is None or ending is Ending.LOST else _judge_exit(how, wall_seconds)


def _judge_exit(how: Exit, wall_seconds: float) -> Verdict:
    if how.code == EXIT_OF_OUR_FAULT:
        return _lost()
    if how.code == EXIT_OF_MEMORY:
        return _out_of_memory()
    if how.signal is None:
        return _odd_exit(how.code)
    if how.signal == signal.SIGXCPU:
        return _out_of_time(wall_seconds)
    if how.signal == signal.SIGSYS:
        return _verdict(
            "forbidden",
            "A forbidden system operation",
            "The program asked the operating system for something that programs may not do here, and was ended.",
            "Files, the network and other processes are out of reach; tensors made in the program itself work.",
        )
    if how.signal in _CRASHES:
        return _verdict(
            "crashed",
            "PyTorch itself crashed",
            f"A call in this program crashed PyTorch ({signal.Signals(how.signal).name}); nothing else was affected.",
            "Compare the shapes and dtypes of the last call with its documentation: some mistakes are not checked "
            "by PyTorch and end the process.",
        )
    if how.signal == signal.SIGKILL:
        return Verdict(
            problem(
                "memory",
                "The program was ended by the system",
                "The operating system ended this program, most likely because memory ran out.",
                hint="Try smaller tensors; if it was small already, run it again.",
            ),
            "memory",
        )
    return _odd_exit(how.signal)


def _odd_exit(status: int | None) -> Verdict:
    return _verdict(
        "protocol",
        "The program ended its own process",
        f"The process ended (status {status}) before the trace was whole.",
        _ODD_EXIT_HINT,
    )


def _out_of_time(wall_seconds: float) -> Verdict:
    return Verdict(
        problem(
            "timeout",
            "The program ran too long",
            f"It was stopped after {wall_seconds:g} s.",
            hint="Use fewer iterations or smaller tensors, or see whether a loop waits for what never happens.",
        ),
        "time",
    )


def _out_of_memory() -> Verdict:
    return Verdict(
        problem(
            "memory",
            "Out of memory",
            "The program used up all of its memory, so that nothing was left to tell its trace with.",
            hint="Use smaller tensors or fewer of them; what is shown before this is right.",
        ),
        "memory",
    )


def _lost() -> Verdict:
    return _verdict(
        "internal",
        "The server lost this run",
        "The process that runs programs had to be restarted. This is not a mistake in your program.",
        "Run it again.",
    )


def _verdict(kind: str, title: str, message: str, hint: str | None = None) -> Verdict:
    return Verdict(problem(kind, title, message, hint=hint), None)  # type: ignore[arg-type]
