"""What is known at one step and phase: a fold over the events before it, as the player sees it."""

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
        if self.step is None:
            return None
        return next(node for node in self.graph["nodes"] if node["id"] == self.step["node"])

    @property
    def sentence(self) -> str:
        """What the player would say here."""
        if self.step is None:
            return "Before the pass: no gradient has been computed."
        phases = self.step["phases"]
        said = (phases["collect"], phases["local_rule"], phases["multiply"], phases["send"], phases["land"])
        return said[self.phase - 1]


def find_moment(document: TraceDocument, selection: Selection) -> Moment:
    """The still that `selection` names; a step beyond the last is the last.

    Raises:
        NothingToExport: the trace has no backward pass.
    """
    passes = [event for event in document["events"] if event["type"] == "pass_started"]
    steps = [event for event in document["events"] if event["type"] == "step"]
    if not passes:
        raise NothingToExport(
            "this trace has no backward pass: the program stopped before one, or had nothing to differentiate"
        )
    number = len(steps) if selection.step is None else min(max(selection.step, 0), len(steps))
    phase = min(max(selection.phase, COLLECT), LAND)
    step = steps[number - 1] if number else None
    started = passes[0] if step is None else next(p for p in passes if p["pass"] == step["pass"])
    moment = Moment(started, step, number, len(steps), phase)
    for walked in steps[:number]:
        _walk(moment, walked, landed=walked is not step or phase == LAND, sent=walked is not step or phase >= SEND)
    return moment


def _walk(moment: Moment, step: Step, *, landed: bool, sent: bool) -> None:
    accumulate = step["accumulate"]
    if accumulate is not None:
        moment.leaf_grads[accumulate["leaf"]] = accumulate["after"] if landed else accumulate["before"]
    if step["pass"] != moment.started["pass"]:
        return
    moment.received[step["node"]] = step["grad_outputs"]
    if not sent:
        return
    node = next(node for node in moment.graph["nodes"] if node["id"] == step["node"])
    for operand in node["inputs"]:
        edge = operand.get("edge")
        if edge is not None:
            moment.sent[edge] = step["grad_inputs"][operand["argnum"]]
