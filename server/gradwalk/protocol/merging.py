"""A trace put together: what was told in the order in which a person needs it, in the places where it belongs."""

from collections.abc import Iterable
from typing import Any

from gradwalk.protocol.events import Event, Explained, Forward, PassStarted, Step
from gradwalk.protocol.graph import Node


def merge(events: Iterable[Event]) -> list[Event]:
    """The events without `forward` and `explained`, whose parts stand in the nodes and steps that they are about."""
    merged: list[Event] = []
    nodes: dict[int, dict[str, Node]] = {}
    steps: dict[int, Step] = {}
    for event in events:
        match event["type"]:
            case "forward":
                _put_values(event, nodes[event["pass"]])
                continue
            case "explained":
                _put_explanations(event, nodes[event["pass"]], steps)
                continue
            case "pass_started":
                event = _fresh(event)
                nodes[event["pass"]] = {node["id"]: node for node in event["graph"]["nodes"]}
            case "step":
                event = steps[event["index"]] = event.copy()
        merged.append(event)
    return merged


def _fresh(event: PassStarted) -> PassStarted:
    """With nodes that can be written into."""
    fresh = event.copy()
    fresh["graph"] = {**event["graph"], "nodes": [node.copy() for node in event["graph"]["nodes"]]}
    return fresh


def _put_values(event: Forward, nodes: dict[str, Node]) -> None:
    for told in event["nodes"]:
        node = nodes[told["node"]]
        node["inputs"] = [{**one, "value": value} for one, value in zip(node["inputs"], told["inputs"], strict=True)]
        node["outputs"] = [{**one, "value": value} for one, value in zip(node["outputs"], told["outputs"], strict=True)]
        node["saved"] = told["saved"]
        if "inside" in told:
            node["inside"] = told["inside"]


def _put_explanations(event: Explained, nodes: dict[str, Node], steps: dict[int, Step]) -> None:
    for told in event["nodes"]:
        if told["formula"] is not None:
            nodes[told["node"]]["formula"] = told["formula"]
        if told["step"] is None:
            continue
        step: Any = steps[told["step"]]
        step.update({name: part for name, part in told.items() if name not in ("node", "step", "formula")})
