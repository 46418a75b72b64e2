"""How well programs are locked in here: measured in real children, not claimed from what was switched on.

Children try harmless things (`probes.py`); whatever goes through is open. `full`: nothing is. `none`: a program could
read this computer's files, reach the network, start programs or run for ever. `partial`: anything in between.
"""

import json
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from gradwalk.protocol.facts import Fact, fact
from gradwalk.sandbox.answers import AnswerError
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.conversation import Conversation
from gradwalk.sandbox.jobs import ProbeJob, ProbeName
from gradwalk.sandbox.launcher import Launcher, LauncherGoneError
from gradwalk.sandbox.verdict import Ending

Level = Literal["full", "partial", "none"]

_ANSWER_SECONDS = 10.0
"""Generous, because a probe without an answer counts as open."""
_LOOP_SECONDS = 0.3
_ATTEMPTS = 3
_KILLED = 9
_FORBIDDEN = 31
_FATAL: Final[frozenset[ProbeName]] = frozenset({"read", "list", "connect", "exec", "loop"})
_CAN: Final[dict[ProbeName, Fact]] = {
    "read": fact("page-protection-read"),
    "list": fact("page-protection-list"),
    "stat": fact("page-protection-stat"),
    "connect": fact("page-protection-connect"),
    "fork": fact("page-protection-fork"),
    "thread": fact("page-protection-thread"),
    "signal": fact("page-protection-signal"),
    "memory": fact("page-protection-memory"),
    "raise": fact("page-protection-raise"),
    "exec": fact("page-protection-exec"),
    "loop": fact("page-protection-loop"),
}


@dataclass(frozen=True, slots=True)
class Protection:
    """What the self-test found."""

    level: Level
    open: tuple[ProbeName, ...]
    """The probes that went through."""

    @property
    def said(self) -> Fact:
        """What that means for whoever uses this server."""
        if not self.open:
            return fact("page-protection-full")
        return fact("page-protection-open", can=[_CAN[name] for name in self.open])

    def describe(self) -> dict[str, Any]:
        """For answers of the API."""
        return {"level": self.level, "open": list(self.open), "said": self.said}


def measure(launcher: Launcher) -> Protection:
    """Runs every probe; about half a second.

    Raises:
        LauncherGoneError: no children can be had, or none lives long enough to answer.
    """
    answers: dict[ProbeName, bool] = {}
    waiting = [name for name in get_args(ProbeName) if name != "loop"]
    while waiting:
        _ask(launcher, waiting, _ANSWER_SECONDS, answers)
        waiting = [name for name in waiting if name not in answers]
    _ask(launcher, ["loop"], _LOOP_SECONDS, answers)
    return judge_probes(tuple(name for name in get_args(ProbeName) if answers[name]))


def judge_probes(went_through: tuple[ProbeName, ...]) -> Protection:
    """The level that follows from the probes that went through."""
    level: Level = "full" if not went_through else "none" if _FATAL & set(went_through) else "partial"
    return Protection(level, went_through)


def _ask(launcher: Launcher, probes: list[ProbeName], seconds: float, answers: dict[ProbeName, bool]) -> None:
    """Adds the answers of one child: those that it gave, and for the probe that ended it, what its end says.

    A child that was ended by somebody else says nothing, so the question is put again, a few times.
    """
    for _ in range(_ATTEMPTS):
        asked = [name for name in probes if name not in answers]
        conversation = Conversation(seconds, seconds, _ProbeAnswer(asked), Cancellation())
        payload = ProbeJob(probes=tuple(asked)).model_dump_json().encode()
        for batch in conversation.hold(launcher, payload):
            answers.update(batch)
        unanswered = next((name for name in asked if name not in answers), None)
        if unanswered is None:
            return
        was_stopped = _was_stopped(unanswered, conversation)
        if was_stopped is not None:
            answers[unanswered] = not was_stopped
            return
    raise LauncherGoneError("somebody else ended the self-test's children")


def _was_stopped(name: ProbeName, conversation: Conversation[Any]) -> bool | None:
    """Whether the probe was; None when its child was ended by somebody else, or its end is not known."""
    how = conversation.exit
    if how is None or (how.signal == _KILLED and conversation.ending is not Ending.DEADLINE):
        return None
    if name == "loop":
        return conversation.ending is Ending.DEADLINE and how.signal == _KILLED
    return conversation.ending is Ending.SILENT and how.signal == _FORBIDDEN


class _ProbeAnswer:
    """One frame per probe, in order; anything else ends the conversation, and then counts as open."""

    def __init__(self, probes: list[ProbeName]) -> None:
        self._due = list(probes)

    @property
    def is_complete(self) -> bool:
        return not self._due

    def accept(self, payload: bytes) -> list[tuple[ProbeName, bool]]:
        try:
            said = json.loads(payload)
        except (ValueError, RecursionError) as error:
            raise AnswerError("not an answer to a probe") from error
        if not isinstance(said, dict) or said.get("probe") != self._due[0]:
            raise AnswerError("not an answer to this probe")
        return [(self._due.pop(0), said.get("is_open") is not False)]
