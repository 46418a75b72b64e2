"""The two walks through a trace, stop by stop: what is said at each, and its picture."""

from functools import cached_property
from typing import Final, NamedTuple

from gradwalk.exports.exporter import Direction, Look, NothingToExport, Selection
from gradwalk.exports.scene import SCENE, Script, StepWords, StopWords, Walks
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.facts import fact
from gradwalk.protocol.wire import write_document
from gradwalk.words.catalogue import language_spoken, say

PHASES: Final[dict[Direction, tuple[str, ...]]] = {
    "backward": ("phase-collect", "phase-local-rule", "phase-multiply", "phase-send", "phase-land"),
    "forward": ("phase-arrive", "phase-compute", "phase-save"),
}


class Stop(NamedTuple):
    """Where a walk stands still."""

    place: str
    """As in an address: `7.3`, `f7.3`, `0`."""
    said: str
    step: str
    """`Step 3 of 7`."""
    title: str
    """`Step 3 of 7, multiply: MulBackward0`."""


class Walk:
    """Of one trace, in the language spoken here.

    Raises:
        NothingToExport: by `stop` and `stops`, where the trace has no backward pass, or no such step.
        ExportUnavailable: by everything but `Walk` itself; see `Scene`.
    """

    def __init__(self, document: TraceDocument) -> None:
        self._script = Script(write_document(document), language_spoken())
        self._has_pass = any(event["type"] == "pass_started" for event in document["events"])

    @cached_property
    def _words(self) -> Walks:
        return SCENE.open(self._script)

    @property
    def sentences(self) -> list[str]:
        """One for each backward step."""
        return [step["whole"] for step in self._words["backward"]]

    def stop(self, selection: Selection) -> Stop:
        """The stop that `selection` names: itself, or where a step does not stop in that phase the one before it."""
        steps = self._steps(selection.direction)
        number = len(steps) if selection.step is None else selection.step
        if not 0 <= number <= len(steps):
            raise NothingToExport(fact("export-no-such-step", step=str(number), count=len(steps)))
        if number == 0:
            return self.opening(selection.direction)
        stops = steps[number - 1]["stops"]
        reached = [stop for stop in stops if stop["phase"] <= selection.phase]
        return _stop(selection.direction, steps, number, (reached or stops[:1])[-1])

    def opening(self, direction: Direction) -> Stop:
        """Before the first step."""
        is_forward = direction == "forward"
        where = say("export-before-program" if is_forward else "export-before-pass")
        return Stop("f0" if is_forward else "0", self._words["start"][direction], where, where)

    def stops(self, selection: Selection) -> list[Stop]:
        """One per step, as it ends, or one per phase; at least one."""
        steps = self._steps(selection.direction)
        if not steps:
            is_forward = selection.direction == "forward"
            raise NothingToExport(fact("export-no-forward-step") if is_forward else fact("export-no-backward-step"))
        return [
            _stop(selection.direction, steps, number, stop)
            for number, step in enumerate(steps, start=1)
            for stop in (step["stops"][-1:] if selection.every == "step" else step["stops"])
        ]

    def draw(self, stop: Stop, look: Look, progress: float = 1.0) -> str:
        """SVG of the stop; `progress`, from 0 to 1, is how far what moves there has come."""
        return SCENE.draw(self._script, stop.place, look, progress)

    def _steps(self, direction: Direction) -> list[StepWords]:
        if not self._has_pass:
            raise NothingToExport(fact("export-no-pass"))
        return self._words[direction]


def _stop(direction: Direction, steps: list[StepWords], number: int, words: StopWords) -> Stop:
    is_forward, phase = direction == "forward", words["phase"]
    step = say("export-operation" if is_forward else "export-step", number=str(number), total=str(len(steps)))
    where = say("export-place", where=step, phase=say(PHASES[direction][phase - 1]))
    title = say("export-page-title", where=where, name=steps[number - 1]["name"])
    return Stop(f"{'f' if is_forward else ''}{number}.{phase}", words["said"], step, title)


def write_svg(document: TraceDocument, selection: Selection) -> bytes:
    """One stop, UTF-8.

    Raises:
        NothingToExport, ExportUnavailable: see `Walk.stop`.
    """
    walk = Walk(document)
    return walk.draw(walk.stop(selection), selection.look).encode()
