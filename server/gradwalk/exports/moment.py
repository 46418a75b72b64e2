"""What is known at one step and phase: a fold over the events before it, as the player sees it."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

from gradwalk.exports.exporter import LAST_FORWARD_PHASE, LAST_PHASE, NothingToExport, Selection
from gradwalk.exports.places import ForwardStep, find_forward
from gradwalk.exports.sentences import Words, find_words
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.events import PassStarted, Step
from gradwalk.protocol.facts import fact
from gradwalk.protocol.graph import Graph, Node
from gradwalk.protocol.merging import merge
from gradwalk.protocol.values import Gradient
from gradwalk.words.catalogue import say

COLLECT, LOCAL_RULE, MULTIPLY, SEND, LAND = range(1, LAST_PHASE + 1)
ARRIVE, COMPUTE, SAVE = range(1, LAST_FORWARD_PHASE + 1)
PHASES = ("phase-collect", "phase-local-rule", "phase-multiply", "phase-send", "phase-land")
FORWARD_PHASES = ("phase-arrive", "phase-compute", "phase-save")


@dataclass(frozen=True)
class Moment:
    """One still of a backward pass, or of the forward walk to it."""

    started: PassStarted
    step: Step | None
    """None before the first step, and in the forward walk."""
    step_number: int
    """1-based; 0 before the first step."""
    step_count: int
    phase: int
    nodes: dict[str, Node]
    """Those of the pass, by id."""
    sentence: str
    """What the player says here."""
    operands: Sequence[str] = ()
    """What the page calls the operands of the node at work, in the order of its inputs."""
    received: dict[str, list[Gradient]] = field(default_factory=dict)
    """grad_outputs by node, of every node that has been reached."""
    sent: dict[str, Gradient] = field(default_factory=dict)
    """The gradient that travelled along an edge, by edge id."""
    leaf_grads: dict[str, Gradient] = field(default_factory=dict)
    """`.grad` by leaf name, as far as the pass has come."""
    forward: ForwardStep | None = None
    """Only in the forward walk, after its first step has begun."""
    computed: Set[str] | None = None
    """In the forward walk: the nodes whose value exists. None in the backward walk, where every value does."""

    @property
    def graph(self) -> Graph:
        return self.started["graph"]

    @property
    def active(self) -> str | None:
        """The node at work."""
        if self.forward is not None:
            return self.forward.node
        return None if self.step is None else self.step["node"]

    @property
    def active_node(self) -> Node | None:
        return None if self.active is None else self.nodes[self.active]

    @property
    def place(self) -> str:
        """`Step 3 of 7`."""
        if self.step_number == 0:
            return say("export-before-pass" if self.computed is None else "export-before-program")
        key = "export-step" if self.computed is None else "export-operation"
        return say(key, number=str(self.step_number), total=str(self.step_count))

    @property
    def where(self) -> str:
        """`Step 3 of 7, multiply`."""
        if self.step_number == 0:
            return self.place
        phases = PHASES if self.computed is None else FORWARD_PHASES
        return say("export-place", where=self.place, phase=say(phases[self.phase - 1]))


class Walk:
    """All moments of a trace."""

    def __init__(self, document: TraceDocument) -> None:
        """
        Raises:
            NothingToExport: the trace has no backward pass.
        """
        self._document = document
        events = merge(document["events"])
        self.passes = [event for event in events if event["type"] == "pass_started"]
        self.steps = [event for event in events if event["type"] == "step"]
        self._nodes = {p["pass"]: {node["id"]: node for node in p["graph"]["nodes"]} for p in self.passes}
        if not self.passes:
            raise NothingToExport(fact("export-no-pass"))

    @cached_property
    def forward(self) -> list[ForwardStep]:
        """The forward walk. A call that raised is in none of the passes, and has no picture."""
        return [step for step in find_forward(self._document) if step.node in self._nodes.get(step.pass_index, {})]

    @cached_property
    def words(self) -> Words:
        """The sentences of the backward walk."""
        return find_words(self._document)

    def moment(self, selection: Selection) -> Moment:
        """The still that `selection` names.

        Raises:
            NothingToExport: there is no such step.
            ExportUnavailable: what is said, or the forward walk, cannot be worked out here.
        """
        if selection.direction == "forward":
            return self._forward_moment(selection)
        count = len(self.steps)
        number, phase = self._within(selection, count)
        step = self.steps[number - 1] if number else None
        started = self.passes[0] if step is None else next(p for p in self.passes if p["pass"] == step["pass"])
        words = self.words.steps[number - 1] if number else None
        said, operands = (self.words.start, []) if words is None else (words.phases[phase - 1], words.operands)
        moment = Moment(started, step, number, count, phase, self._nodes[started["pass"]], said, operands)
        for walked in self.steps[:number]:
            done = walked is not step
            _walk(moment, walked, landed=done or phase == LAND, sent=done or phase >= SEND)
        return moment

    def _forward_moment(self, selection: Selection) -> Moment:
        order = self.forward
        number, phase = self._within(selection, len(order))
        step = order[number - 1] if number else None
        started = self.passes[0] if step is None else next(p for p in self.passes if p["pass"] == step.pass_index)
        done = number if phase >= COMPUTE else number - 1
        computed = {each.node for each in order[: max(done, 0)]}
        for nodes in self._nodes.values():
            computed |= {name for name, node in nodes.items() if node["kind"] == "accumulate_grad"}
        nodes = self._nodes[started["pass"]]
        said, operands = (say("start-program"), []) if step is None else (step.said[phase - 1], step.operands)
        return Moment(started, None, number, len(order), phase, nodes, said, operands, forward=step, computed=computed)

    def moments(self, selection: Selection) -> Iterator[Moment]:
        """One per step, as it ends, or one per phase."""
        for number in range(1, self._step_count(selection) + 1):
            stops = self._stops(selection, number)
            for phase in stops[-1:] if selection.every == "step" else stops:
                yield self.moment(replace(selection, step=number, phase=phase))

    def count(self, selection: Selection) -> int:
        """How many `moments` gives."""
        steps = self._step_count(selection)
        if selection.every == "step":
            return steps
        return sum(len(self._stops(selection, number)) for number in range(1, steps + 1))

    def _stops(self, selection: Selection, number: int) -> list[int]:
        """The phases at which a step, counted from 1, has something to say: the page knows."""
        steps = self.forward if selection.direction == "forward" else self.words.steps
        return steps[number - 1].stops

    def _within(self, selection: Selection, count: int) -> tuple[int, int]:
        """The step, and the stop that the phase opens: itself, or the one before it."""
        number = count if selection.step is None else selection.step
        if not 0 <= number <= count:
            raise NothingToExport(fact("export-no-such-step", step=str(number), count=count))
        if number == 0:
            return 0, 1
        stops = self._stops(selection, number)
        return number, max((stop for stop in stops if stop <= selection.phase), default=stops[0])

    def _step_count(self, selection: Selection) -> int:
        return len(self.forward if selection.direction == "forward" else self.steps)


def find_moment(document: TraceDocument, selection: Selection) -> Moment:
    """The still that `selection` names.

    Raises:
        NothingToExport: the trace has no backward pass, or no such step.
        ExportUnavailable: see `Walk.moment`.
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
