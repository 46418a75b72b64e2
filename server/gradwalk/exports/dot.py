"""One pass as a `graphviz.Digraph`, as torchviz's `make_dot` gives it: to style, to render, to put in a paper."""

import math
from collections.abc import Iterable, Mapping
from typing import Final

import graphviz

from gradwalk.exports.exporter import NothingToExport, Selection
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.events import PassStarted, Step
from gradwalk.protocol.facts import fact
from gradwalk.protocol.graph import Graph, Node
from gradwalk.protocol.merging import merge
from gradwalk.protocol.numbers import Number
from gradwalk.protocol.values import Gradient, MissingReason, TensorValue
from gradwalk.words.catalogue import say, tell_attribute
from gradwalk.words.numbers import spell_number, spell_numbers, spell_shape

_LEAF, _OUTPUT, _OPERATION = "#cfe3f3", "#d5e8d4", "#eceff1"
_LONGEST = 24
"""Characters of a value or a gradient; a longer one is told by its shape."""
_MISSING: Final[dict[MissingReason, str]] = {
    "undefined": "export-undefined",
    "not_required": "export-not-required",
    "returned_none": "export-returned-none",
    "no_path": "export-no-path",
    "not_computed": "export-not-computed",
}


def write_dot(document: TraceDocument, selection: Selection) -> bytes:
    """The pass in which the step is, UTF-8; of the forward walk the first.

    Raises:
        NothingToExport: the trace has no backward pass, or no such step.
    """
    events = merge(document["events"])
    passes = [event for event in events if event["type"] == "pass_started"]
    steps = [event for event in events if event["type"] == "step"]
    if not passes:
        raise NothingToExport(fact("export-no-pass"))
    number = len(steps) if selection.step is None else selection.step
    if number > len(steps):
        raise NothingToExport(fact("export-no-such-step", step=str(number), count=len(steps)))
    shown = steps[number - 1]["pass"] if number and selection.direction == "backward" else passes[0]["pass"]
    return str(draw_pass(next(one for one in passes if one["pass"] == shown), steps).source).encode()


def draw_pass(started: PassStarted, steps: Iterable[Step]) -> graphviz.Digraph:
    """Its nodes with their forward values, along its edges the gradients that went back; forward is downwards."""
    picture = graphviz.Digraph("gradwalk", node_attr={"shape": "box", "style": "filled", "fontname": "monospace"})
    graph = started["graph"]
    colors = {output["node"]: _OUTPUT for output in started["outputs"]}
    _draw_group(picture, graph, None, colors)
    sent = {
        (step["node"], argnum): gradient
        for step in steps
        if step["pass"] == started["pass"]
        for argnum, gradient in enumerate(step["grad_inputs"])
    }
    for edge in graph["edges"]:
        gradient = sent.get((edge["to"]["node"], edge["to"]["argnum"]))
        label = "" if gradient is None else _spell_gradient(gradient)
        picture.edge(edge["from"]["node"], edge["to"]["node"], graphviz.escape(label))
    return picture


def _draw_group(picture: graphviz.Digraph, graph: Graph, group: str | None, colors: Mapping[str, str]) -> None:
    for node in graph["nodes"]:
        if node["group"] == group:
            color = _LEAF if "leaf" in node else colors.get(node["id"], _OPERATION)
            picture.node(node["id"], graphviz.escape(_label(node)), fillcolor=color)
    for inner in graph["groups"]:
        if inner["parent"] == group:
            with picture.subgraph(name=f"cluster_{inner['id']}") as box:
                box.attr(label=graphviz.escape(inner["label"]), fontname="monospace")
                _draw_group(box, graph, inner["id"], colors)


def _label(node: Node) -> str:
    value = node["outputs"][0]["value"] if node["outputs"] else None
    return node["label"] if value is None else f"{node['label']}\n{_spell_value(value)}"


def _spell_gradient(gradient: Gradient) -> str:
    """Numbers where they fit, else shape and norm; what is missing in words, never as a number."""
    return say(_MISSING[gradient["missing"]]) if "missing" in gradient else _spell_value(gradient)


def _spell_value(value: TensorValue) -> str:
    """`[[1, 2], [3, 4]]`; where that would be too long `[64, 10] norm 3.2`, or the shape alone."""
    data = value.get("data")
    if data is not None and len(data) <= _LONGEST // 2:
        numbers = spell_numbers(data, value["shape"])
        if len(numbers) <= _LONGEST:
            return numbers
    shape = spell_shape(value["shape"])
    why, norm = value.get("unavailable"), _norm(value)
    if why is not None:
        described = f"{shape} {tell_attribute(why, 'title') or value['dtype']}"
    elif norm is None:
        described = f"{shape} {value.get('layout', value['dtype'])}"
    else:
        described = say("export-norm", shape=shape, norm=spell_number(norm))
    return described if len(described) <= _LONGEST else shape


def _norm(value: TensorValue) -> Number | None:
    summary = value.get("summary")
    if summary is not None:
        return summary["norm"]
    real = [entry for entry in value.get("data", []) if isinstance(entry, int | float)]
    return math.hypot(*real) if real and len(real) == len(value.get("data", [])) else None
