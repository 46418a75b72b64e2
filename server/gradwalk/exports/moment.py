"""What is known at one step and phase: a fold over the events before it, as the player sees it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gradwalk.exports.exporter import LAST_PHASE, NothingToExport, Selection
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.events import PassStarted, Step
from gradwalk.protocol.graph import Graph, Node
from gradwalk.protocol.values import Gradient

COLLECT, LOCAL_RULE, MULTIPLY, SEND, LAND = range(1, LAST_PHASE + 1)
PHASE_NAMES = ("collect", "local rule", "multiply", "send", "land")


@dataclass(frozen=True)
class Moment:
    """One still of a backward pass."""

    started: PassStarted
    step: Step | None
    """None before the first step."""
    step_number: int
    """1-based; 0 before the first step."""
    step_count: int
    phase: int
    nodes: dict[str, Node]
    """Those of the pass, by id."""
    received: dict[str, list[Gradient]] = field(default_factory=dict)
    """grad_outputs by node, of every node that has been reached."""
    sent: dict[str, Gradient] = field(default_factory=dict)
    """The gradient that travelled along an edge, by edge id."""
    leaf_grads: dict[str, Gradient] = field(default_factory=dict)
    """`.grad` by leaf name, as far as the pass has come."""

    @property
    def graph(self) -> Graph:
        return self.started["graph"]

    @property
    def active_node(self) -> Node | None:
        return None if self.step is None else self.nodes[self.step["node"]]

    @property
    def sentence(self) -> str:
        """What the player would say here."""
        if self.step is None:
            names = [output["name"] or "the output" for output in self.started["outputs"]]
            return f"Before the pass: it starts at {' and '.join(names)}; no gradient is computed yet."
        phases = self.step["phases"]
        said = (phases["collect"], phases["local_rule"], phases["multiply"], phases["send"], phases["land"])
        return said[self.phase - 1]

    @property
    def where(self) -> str:
        """`step 3 of 7, multiply`."""
        if self.step is None:
            return "before the pass"
        return f"step {self.step_number} of {self.step_count}, {PHASE_NAMES[self.phase - 1]}"


class Walk:
    """All moments of a trace."""

    def __init__(self, document: TraceDocument) -> None:
        """
        Raises:
            NothingToExport: the trace has no backward pass.
        """
        self.passes = [event for event in document["events"] if event["type"] == "pass_started"]
        self.steps = [event for event in document["events"] if event["type"] == "step"]
        self._nodes = {p["pass"]: {node["id"]: node for node in p["graph"]["nodes"]} for p in self.passes}
        if not self.passes:
            raise NothingToExport(
                "this trace has no backward pass: the program stopped before one, or had nothing to differentiate"
            )

    def moment(self, selection: Selection) -> Moment:
        """The still that `selection` names; a step beyond the last is the last."""
        count = len(self.steps)
        number = count if selection.step is None else min(max(selection.step, 0), count)
        phase = min(max(selection.phase, COLLECT), LAND)
        step = self.steps[number - 1] if number else None
        started = self.passes[0] if step is None else next(p for p in self.passes if p["pass"] == step["pass"])
        moment = Moment(started, step, number, count, phase, self._nodes[started["pass"]])
        for walked in self.steps[:number]:
            done = walked is not step
            _walk(moment, walked, landed=done or phase == LAND, sent=done or phase >= SEND)
        return moment

    def moments(self, selection: Selection) -> Iterator[Moment]:
        """One per step, as it ends, or one per phase."""
        phases = [LAND] if selection.every == "step" else [COLLECT, LOCAL_RULE, MULTIPLY, SEND, LAND]
        for number in range(1, len(self.steps) + 1):
            for phase in phases:
                yield self.moment(Selection(number, phase))

    def count(self, selection: Selection) -> int:
        """How many `moments` gives."""
        return len(self.steps) * (1 if selection.every == "step" else LAST_PHASE)


def find_moment(document: TraceDocument, selection: Selection) -> Moment:
    """The still that `selection` names.

    Raises:
        NothingToExport: the trace has no backward pass.
    """
    return Walk(document).moment(selection)


def _walk(moment: Moment, step: Step, *, landed: bool, sent: bool) -> None:
    accumulate = step["accumulate"]
    if accumulate is not None:
        moment.leaf_grads[accumulate["leaf"]] = accumulate["after"] if landed else accumulate["before"]
    if step["pass"] != moment.started["pass"]:
        return
    moment.received[step["node"]] = step["grad_outputs"]
    if not sent:
        return
    for operand in moment.nodes[step["node"]]["inputs"]:
        edge = operand.get("edge")
        if edge is not None:
            moment.sent[edge] = step["grad_inputs"][operand["argnum"]]
