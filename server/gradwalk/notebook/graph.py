"""One pass as a `graphviz.Digraph`, as torchviz's `make_dot` gives it: to style, to render, to put in a paper."""

from collections.abc import Mapping

import graphviz

from gradwalk.exports.spelling import spell_gradient, spell_value
from gradwalk.notebook.parts import Pass
from gradwalk.protocol.graph import Graph
from gradwalk.protocol.graph import Node as WrittenNode

_LEAF, _OUTPUT, _OPERATION = "#cfe3f3", "#d5e8d4", "#eceff1"
_LONGEST = 24
"""Characters of a value or a gradient; a longer one is told by its shape."""


def draw_pass(one: Pass) -> graphviz.Digraph:
    """Its nodes with their forward values, along its edges the gradients that went back; forward is downwards."""
    picture = graphviz.Digraph("gradwalk", node_attr={"shape": "box", "style": "filled", "fontname": "monospace"})
    graph = one.written["graph"]
    colors = {output["node"]: _OUTPUT for output in one.written["outputs"]}
    _draw_group(picture, graph, None, colors)
    sent = {
        (step.node.id, argnum): gradient
        for step in one.steps
        for argnum, gradient in enumerate(step.written["grad_inputs"])
    }
    for edge in graph["edges"]:
        gradient = sent.get((edge["to"]["node"], edge["to"]["argnum"]))
        label = "" if gradient is None else spell_gradient(gradient, _LONGEST)
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


def _label(node: WrittenNode) -> str:
    value = node["outputs"][0]["value"] if node["outputs"] else None
    return node["label"] if value is None else f"{node['label']}\n{spell_value(value, _LONGEST)}"
