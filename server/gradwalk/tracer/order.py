"""In which order a pass is told: what a person needs first, first.

The structure of the graph is enough for a picture; then come the values of the forward pass, the steps as they run,
and, when the pass is over, what explains them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

T = TypeVar("T")

ReadCalls = Callable[[Any, Sequence[Any]], Mapping[int, Any]]
"""Given the graph and the steps of a pass, by step what it says of the call that it computes."""

_NODES_TOGETHER: Final = 64
_OF_A_STEP: Final = ("formula_checked", "substitutions", "moves", "local_jacobians")


class TellingOrder:
    """Takes the events of a run apart, and says what is to be sent when."""

    def __init__(self) -> None:
        self.explains_last = False
        """Whether what explains a pass is sent at the end of all, not of the pass."""
        self.read_calls: ReadCalls = _no_calls
        """Says of calls that built several nodes what explains them."""
        self._unexplained: dict[int, Any] = {}
        """By pass, the graph with formulas that are not sent yet."""
        self._steps: dict[int, list[dict[str, Any]]] = {}
        """By pass, the steps that were sent bare. What explains them may still be written into them."""

    def apart(self, event: dict[str, Any]) -> list[dict[str, Any]]:
        """What is sent in the place of an event, in order."""
        match event["type"]:
            case "pass_started":
                return self._structure_first(event)
            case "step":
                return [self._bare_step(event)]
            case "pass_finished":
                return [event, *(() if self.explains_last else self._explained(event["pass"]))]
            case "finished":
                return [*(one for number in list(self._steps) for one in self._explained(number)), event]
            case _:
                return [event]

    def _structure_first(self, event: dict[str, Any]) -> list[dict[str, Any]]:
        graph, number = event["graph"], event["pass"]
        self._unexplained[number] = graph
        self._steps[number] = []
        bare = {**event, "graph": {**graph, "nodes": [_bare_node(node) for node in graph["nodes"]]}}
        told = [_values_of(node) for node in graph["nodes"]]
        return [bare, *({"seq": 0, "type": "forward", "pass": number, "nodes": [*some]} for some in _together(told))]

    def _bare_step(self, event: dict[str, Any]) -> dict[str, Any]:
        self._steps[event["pass"]].append(event)
        bare = {name: part for name, part in event.items() if name not in _OF_A_STEP}
        bare["local_jacobians"] = []
        return bare

    def _explained(self, number: int) -> Iterator[dict[str, Any]]:
        graph, steps = self._unexplained.pop(number), self._steps.pop(number)
        nodes = {node["id"]: node for node in graph["nodes"]}
        calls = self.read_calls(graph, steps)
        explanations = []
        for event in steps:
            node = nodes.pop(event["node"], None)
            explained: dict[str, Any] = {name: event[name] for name in _OF_A_STEP if name in event}
            if event["index"] in calls:
                explained["call"] = calls[event["index"]]
            formula = None if node is None else node["formula"]
            if formula is not None or len(explained) > 1 or event["local_jacobians"]:
                explanations.append({"node": event["node"], "step": event["index"], "formula": formula, **explained})
        explanations += [
            {"node": name, "step": None, "formula": node["formula"], "local_jacobians": []}
            for name, node in nodes.items()
            if node["formula"] is not None
        ]
        for some in _together(explanations):
            yield {"seq": 0, "type": "explained", "pass": number, "nodes": [*some]}


def _no_calls(_graph: Any, _steps: Sequence[Any]) -> Mapping[int, Any]:
    return {}


def _bare_node(node: dict[str, Any]) -> dict[str, Any]:
    """A node as far as a picture needs it before its values."""
    bare = {name: part for name, part in node.items() if name != "inside"}
    inputs = [{**operand, "value": None} for operand in node["inputs"]]
    return {**bare, "inputs": inputs, "outputs": [*map(_bare_output, node["outputs"])], "saved": [], "formula": None}


def _bare_output(output: dict[str, Any]) -> dict[str, Any]:
    value = output["value"]
    return output if value is None else {**output, "value": None, "shape": value["shape"]}


def _values_of(node: dict[str, Any]) -> dict[str, Any]:
    values = {
        "node": node["id"],
        "inputs": [operand["value"] for operand in node["inputs"]],
        "outputs": [output["value"] for output in node["outputs"]],
        "saved": node["saved"],
    }
    return {**values, "inside": node["inside"]} if "inside" in node else values


def _together(several: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(several), _NODES_TOGETHER):
        yield several[start : start + _NODES_TOGETHER]
