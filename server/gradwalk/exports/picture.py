"""A still of a trace as Graphviz DOT: values on cards, gradients on edges, v times J, the sentence.

Everything that came from a program is escaped text inside HTML-like labels; ids are the trace's own.
"""

import graphviz

from gradwalk.exports.equation import equation_table
from gradwalk.exports.exporter import Selection
from gradwalk.exports.labels import ACCUMULATED, FONT, FORWARD, IN_FLIGHT, INK, PAPER, QUIET, row, text
from gradwalk.exports.moment import PHASE_NAMES, Moment, find_moment
from gradwalk.exports.spelling import spell_gradient, spell_value
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.graph import Edge, Node


def write_dot(document: TraceDocument, selection: Selection) -> bytes:
    """The still's DOT source, UTF-8."""
    return draw_picture(find_moment(document, selection)).encode()


def draw_picture(moment: Moment) -> str:
    """DOT source: the graph from left to right as on screen, the active node in a thick frame, the equation below."""
    picture = graphviz.Digraph("gradwalk")
    picture.attr("graph", rankdir="LR", ordering="out", bgcolor=PAPER, nodesep="0.3", ranksep="0.6", pad="0.2")
    picture.attr("graph", fontname=FONT, fontsize="13", fontcolor=INK, labelloc="b", label=_caption(moment))
    picture.attr("node", shape="plain", fontname=FONT, fontsize="11", fontcolor=INK)
    picture.attr("edge", fontname=FONT, fontsize="10", color=QUIET, arrowsize="0.7")
    for node in moment.graph["nodes"]:
        picture.node(node["id"], label=_card(moment, node))
    for edge in moment.graph["edges"]:
        _draw_edge(picture, moment, edge)
    return str(picture.source)


def _card(moment: Moment, node: Node) -> str:
    leaf = node.get("leaf")
    active = moment.step is not None and moment.step["node"] == node["id"]
    lines = [row(f"<B>{text(leaf or node['label'])}</B>")]
    for output in node["outputs"]:
        if output["value"] is not None:
            name = f"{text(output['name'])} = " if output["name"] and not leaf else ""
            lines.append(row(name + text(spell_value(output["value"])), FORWARD))
    if leaf:
        grad = moment.leaf_grads.get(leaf)
        lines.append(row(f".grad {text(spell_gradient(grad)) if grad else 'not computed'}", ACCUMULATED))
    else:
        lines += [row(f"v = {text(spell_gradient(v))}", IN_FLIGHT) for v in moment.received.get(node["id"], [])]
    frame = f'BORDER="3" COLOR="{IN_FLIGHT}"' if active else f'BORDER="1" COLOR="{QUIET}"'
    attributes = f'{frame} STYLE="ROUNDED" CELLBORDER="0" CELLSPACING="0" CELLPADDING="3"'
    return f"<<TABLE {attributes}>{''.join(lines)}</TABLE>>"


def _draw_edge(picture: graphviz.Digraph, moment: Moment, edge: Edge) -> None:
    gradient = moment.sent.get(edge["id"])
    ends = (edge["from"]["node"], edge["to"]["node"])
    if gradient is None:
        picture.edge(*ends, id=edge["id"])
        return
    label = f'<<FONT COLOR="{IN_FLIGHT}">{text(spell_gradient(gradient))}</FONT>>'
    style = "dotted" if "missing" in gradient else "dashed"
    picture.edge(*ends, id=edge["id"], label=label, color=IN_FLIGHT, style=style, dir="back")


def _caption(moment: Moment) -> str:
    where = "before the pass"
    if moment.step is not None:
        where = f"step {moment.step_number} of {moment.step_count}, {PHASE_NAMES[moment.phase - 1]}"
    rows = [equation_table(moment), row(text(moment.sentence), size=14), row(where, QUIET, size=10)]
    return f'<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="4">{"".join(rows)}</TABLE>>'
