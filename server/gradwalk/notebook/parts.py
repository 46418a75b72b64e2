"""The parts of a trace to work with: passes, nodes, edges and steps, with tensors where the document has numbers."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import torch

from gradwalk.notebook.tensors import Named, NamedTensors, Tensors
from gradwalk.protocol import events as protocol
from gradwalk.protocol.events import Call, PassFinished, PassStarted
from gradwalk.protocol.graph import Formula, Span
from gradwalk.protocol.graph import Node as WrittenNode


class Node:
    """One autograd node."""

    def __init__(self, written: WrittenNode) -> None:
        self.written = written
        """As the document has it."""
        self.id = written["id"]
        self.name = written["name"]
        """As torch prints it: `MulBackward0`."""
        self.leaf = written.get("leaf")
        """The leaf's name; only of an AccumulateGrad."""

    @property
    def line(self) -> int | None:
        """The line of the program that made it, from 1."""
        span = self.written["span"]
        return None if span is None else span["line"]

    @property
    def formula(self) -> Formula | None:
        """Its mathematics, where that is known."""
        return self.written["formula"]

    @property
    def inputs(self) -> Tensors:
        """The forward values of its operands, in order."""
        return Tensors([operand["value"] for operand in self.written["inputs"]])

    @property
    def outputs(self) -> Tensors:
        """The forward values that it computed; of a leaf, the leaf."""
        return Tensors([output["value"] for output in self.written["outputs"]])

    @property
    def saved(self) -> NamedTensors:
        """The tensors that it kept for its backward, as that finds them."""
        return NamedTensors({one["name"]: one["value"] for one in self.written["saved"] if "option" not in one})

    def __repr__(self) -> str:
        of = f" of {self.leaf}" if self.leaf else ""
        return f"<{self.name}{of}, {self.id}>"


class Edge(NamedTuple):
    """From the node that computed a forward value to the one that used it; the gradient goes the other way."""

    producer: Node
    output_nr: int
    consumer: Node
    argnum: int
    contribution: torch.Tensor | None
    """The gradient that came back along it; None where none did, or its entries were not recorded."""


class Contribution(NamedTuple):
    """One summand of a grad_output."""

    output_nr: int
    sender: "Step | None"
    """The step that returned it; None for the seed."""
    written: protocol.Contribution

    @property
    def value(self) -> torch.Tensor | None:
        """What arrived."""
        return Tensors([self.written["value"]])[0]


class Step:
    """One executed node: what arrived, and what it returned."""

    def __init__(self, written: protocol.Step, node: Node, earlier: "Mapping[int, Step]") -> None:
        self.written = written
        """As the document has it."""
        self.index = written["index"]
        """Over the whole trace, from 0."""
        self.node = node
        self._earlier = earlier

    @property
    def grad_outputs(self) -> Tensors:
        """v: what the engine handed to the node, one for each of its outputs, summed."""
        return Tensors(self.written["grad_outputs"])

    @property
    def grad_inputs(self) -> Tensors:
        """v times J: what was sent on, one for each operand."""
        return Tensors(self.written["grad_inputs"])

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """The summands of grad_outputs, in the order in which they arrived."""
        return tuple(
            Contribution(
                one["output_nr"], None if one["from_step"] is None else self._earlier.get(one["from_step"]), one
            )
            for one in self.written["contributions"]
        )

    def local_jacobian(self, argnum: int = 0, output_nr: int = 0) -> torch.Tensor | None:
        """d output / d operand, of the output's shape then the operand's; None where none was computed."""
        for one in self.written["local_jacobians"]:
            if (one["argnum"], one["output_nr"]) == (argnum, output_nr) and "shape" in one["value"]:
                return Tensors([one["value"]])[0]
        return None

    def __repr__(self) -> str:
        return f"<step {self.index + 1}: {self.node.name}, grad_outputs {self.grad_outputs!r}>"


class Pass:
    """One backward pass."""

    def __init__(
        self,
        started: PassStarted,
        steps: Iterable[protocol.Step],
        finished: PassFinished | None,
        earlier: dict[int, Step],
    ) -> None:
        self.written = started
        """As the document has its beginning."""
        self.finished = finished
        """As the document has its end; None where it did not come to one."""
        self.call: Call = started["call"]
        self.number: int = started.get("number", started["pass"])
        """Among all passes that ran, from 0."""
        self.span: Span | None = started["span"]
        """Of the call that started it."""
        by_id = {node["id"]: Node(node) for node in started["graph"]["nodes"]}
        self._nodes = by_id
        made = []
        for one in steps:
            step = earlier[one["index"]] = Step(one, by_id[one["node"]], earlier)
            made.append(step)
        self.steps: tuple[Step, ...] = tuple(made)
        """In the order of execution."""

    @cached_property
    def nodes(self) -> Named[Node]:
        """By name: `MulBackward0`, and `MulBackward0:2` for the second of that name from the outputs on."""
        named: dict[str, Node] = {}
        counts: dict[str, int] = {}
        for node in self._nodes.values():
            name = node.name if node.leaf is None else f"{node.name} {node.leaf}"
            counts[name] = counts.get(name, 0) + 1
            named[name if counts[name] == 1 else f"{name}:{counts[name]}"] = node
        return Named(named)

    @cached_property
    def leaves(self) -> Named[Node]:
        """The AccumulateGrads by the names of their leaves."""
        return Named({node.leaf: node for node in self._nodes.values() if node.leaf is not None})

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """In the order of the document."""
        sent: dict[tuple[str, int], Any] = {}
        for step in self.steps:
            for argnum, gradient in enumerate(step.written["grad_inputs"]):
                sent[step.node.id, argnum] = gradient
        return tuple(
            Edge(
                self._nodes[one["from"]["node"]],
                one["from"]["output_nr"],
                self._nodes[one["to"]["node"]],
                one["to"]["argnum"],
                _recorded(sent.get((one["to"]["node"], one["to"]["argnum"]))),
            )
            for one in self.written["graph"]["edges"]
        )

    @property
    def outputs(self) -> NamedTensors:
        """The seeds v by the names of the tensors that the pass starts from."""
        seeds = self.written["outputs"]
        return NamedTensors({one["name"] or f"{one['node']}.{one['output_nr']}": one["seed"] for one in seeds})

    @property
    def leaf_grads(self) -> NamedTensors:
        """`.grad` of every named leaf after the pass; empty where it did not come to its end."""
        found = () if self.finished is None else self.finished["leaf_grads"]
        return NamedTensors({one["leaf"]: one["grad"] for one in found})

    @property
    def results(self) -> Tensors:
        """What a `grad` call returned, in the order of its inputs."""
        return Tensors([] if self.finished is None else self.finished.get("results", []))

    def __repr__(self) -> str:
        return f"<pass {self.number + 1}: {self.call} from {', '.join(self.outputs)}, {len(self.steps)} steps>"


def _recorded(gradient: Any) -> torch.Tensor | None:
    return Tensors([gradient])[0] if gradient is not None and "data" in gradient else None


def passes_of(merged: Iterable[Any]) -> tuple[Pass, ...]:
    """The recorded passes of merged events, in their order."""
    started: dict[int, PassStarted] = {}
    steps: dict[int, list[protocol.Step]] = {}
    finished: dict[int, PassFinished] = {}
    for event in merged:
        match event["type"]:
            case "pass_started":
                started[event["pass"]] = event
                steps[event["pass"]] = []
            case "step":
                steps[event["pass"]].append(event)
            case "pass_finished":
                finished[event["pass"]] = event
    earlier: dict[int, Step] = {}
    return tuple(Pass(one, steps[number], finished.get(number), earlier) for number, one in started.items())
