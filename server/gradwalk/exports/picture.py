"""A still of a trace as Graphviz DOT: values on cards, gradients on edges, v times J, the sentence.

Everything stands where it stands on the page: places are computed first (`places`), then written into the DOT as
positions, which Graphviz's `nop2` layout draws as they are. So nothing moves from step to step. Everything that came
from a program is escaped text inside HTML-like labels; ids are the trace's own.
"""

import unicodedata

import graphviz

from gradwalk.exports.caption import CAPTION_POINTS, caption, text_scale
from gradwalk.exports.exporter import Selection
from gradwalk.exports.labels import ACCUMULATED, FONT, FORWARD, IN_FLIGHT, INK, MONO, PAPER, QUIET, row, text
from gradwalk.exports.moment import SEND, Moment, find_moment
from gradwalk.exports.places import Box, Curve, GroupBox, Layout, Point, find_layouts, point_at
from gradwalk.exports.spelling import spell_gradient, spell_value
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.graph import Edge, Node

CHARACTER = 7.0
"""Width of a character on a card's second and third line, in points."""
CARD_PADDING = 20
LONGEST_ON_EDGE = 13
ARROW = 8


def write_dot(document: TraceDocument, selection: Selection) -> bytes:
    """The still's DOT source, UTF-8."""
    moment = find_moment(document, selection)
    return draw_picture(moment, find_layouts(document)[moment.started["pass"]]).encode()


def draw_picture(moment: Moment, layout: Layout, travelled: float = 0.5) -> str:
    """DOT source: the graph as on the page, the active node in a thick frame, the equation and the sentence below.

    `travelled` says how far along their edges the gradients stand that this step sends, from 0 to 1.
    """
    picture = graphviz.Digraph("gradwalk")
    bounds = f"0,0,{layout.width:.2f},{layout.height:.2f}"
    # without margin="0" a PDF has half an inch of nothing on every side
    picture.attr("graph", layout="nop2", outputorder="edgesfirst", bgcolor=PAPER, pad="0.2", margin="0", bb=bounds)
    scale = text_scale(moment, layout)
    picture.attr("graph", fontname=FONT, fontsize=f"{CAPTION_POINTS * scale:g}", fontcolor=INK)
    picture.attr("graph", labelloc="b", label=caption(moment, scale))
    picture.attr("node", shape="plain", fontname=FONT, fontsize="12", fontcolor=INK)
    picture.attr("edge", fontname=FONT, fontsize="10", color=QUIET, arrowsize="0.7")
    for name, group in layout.groups.items():
        _draw_group(picture, layout, name, group, is_active=layout.home.get(moment.active or "") == name)
    for node in moment.graph["nodes"]:
        box = layout.nodes.get(node["id"])
        if box is not None:
            picture.node(node["id"], pos=_position(box.middle, layout), label=_card(moment, node, box))
    for edge in moment.graph["edges"]:
        curve = layout.edges.get(edge["id"])
        if curve:
            _draw_edge(picture, moment, edge, curve, layout)
            _draw_token(picture, moment, edge, curve, layout, travelled)
    return str(picture.source)


def _position(point: Point, layout: Layout) -> str:
    return f"{point.x:.2f},{layout.height - point.y:.2f}"


def _draw_group(picture: graphviz.Digraph, layout: Layout, name: str, group: GroupBox, *, is_active: bool) -> None:
    lines = row(f"<B>{text(group.label)}</B>", QUIET if group.is_open else INK)
    if not group.is_open:
        lines += row(f"{group.node_count} nodes", QUIET)
    style = "ROUNDED,DASHED" if group.is_open else "ROUNDED"
    frame = _frame(IN_FLIGHT if is_active else QUIET, 3 if is_active else 1, style)
    picture.node(name, pos=_position(group.box.middle, layout), label=_table(frame, group.box, lines))


def _card(moment: Moment, node: Node, box: Box) -> str:
    leaf = node.get("leaf")
    active = moment.active == node["id"]
    room = int((box.width - CARD_PADDING) / CHARACTER)
    title = _shortened(_title(node), room)
    aside = _shortened("leaf" if leaf else _variable(node), room - _width(title) - 1)
    title = f"<B>{text(title)}</B>"
    lines = row(f'{title} <FONT COLOR="{QUIET}">{text(aside)}</FONT>' if aside else title)
    exists = moment.computed is None or node["id"] in moment.computed
    value = node["outputs"][0]["value"] if node["outputs"] and exists else None
    lines += row(text(_shortened(spell_value(value, room), room)) if value else "\N{EN DASH}", FORWARD, face=MONO)
    if moment.computed is not None:
        lines += row(" ", QUIET, face=MONO)
    elif leaf:
        grad = moment.leaf_grads.get(leaf)
        written = spell_gradient(grad, room - 6) if grad else "not computed"
        has_arrived = grad is not None and "missing" not in grad
        lines += row(f".grad {text(_shortened(written, room - 6))}", ACCUMULATED if has_arrived else QUIET, face=MONO)
    else:
        received = moment.received.get(node["id"])
        written = f"v = {spell_gradient(received[0], room - 4)}" if received else " "
        lines += row(text(_shortened(written, room)), IN_FLIGHT, face=MONO)
    frame = _frame(IN_FLIGHT, 3, "ROUNDED") if active else _frame(QUIET, 1, "ROUNDED")
    return _table(f'{frame} BGCOLOR="{PAPER}"', box, lines)


def _frame(color: str, width: int, style: str) -> str:
    return f'BORDER="{width}" COLOR="{color}" STYLE="{style}"'


def _table(frame: str, box: Box, lines: str) -> str:
    """A table of exactly the box's size, its lines at the top left."""
    fixed = f'FIXEDSIZE="TRUE" WIDTH="{box.width:.0f}" HEIGHT="{box.height:.0f}"'
    inner = f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="2">{lines}</TABLE>'
    cell = f'<TR><TD ALIGN="LEFT" VALIGN="TOP" CELLPADDING="5">{inner}</TD></TR>'
    return f'<<TABLE {frame} {fixed} CELLBORDER="0" CELLSPACING="0" CELLPADDING="0">{cell}</TABLE>>'


def _draw_edge(picture: graphviz.Digraph, moment: Moment, edge: Edge, curve: Curve, layout: Layout) -> None:
    gradient = moment.sent.get(edge["id"])
    ends = (edge["from"]["node"], edge["to"]["node"])
    tail, head = (layout.home.get(end, end) for end in ends)
    if gradient is None:
        path = _path([*curve[:-1], _before(curve[-1], curve[-2])], layout)
        arrives = moment.forward is not None and moment.forward.node == edge["to"]["node"]
        look = {"color": FORWARD, "penwidth": "2"} if arrives else {}
        picture.edge(tail, head, id=edge["id"], pos=f"e,{_position(curve[-1], layout)} {path}", **look)
        return
    style = "dotted" if "missing" in gradient else "dashed"
    path = _path([_before(curve[0], curve[1]), *curve[1:]], layout)
    sent = f"s,{_position(curve[0], layout)} {path}"
    picture.edge(tail, head, id=edge["id"], pos=sent, color=IN_FLIGHT, style=style, dir="back")


def _path(curve: Curve, layout: Layout) -> str:
    return " ".join(_position(point, layout) for point in curve)


def _before(end: Point, control: Point) -> Point:
    """Where the line stops so that an arrowhead fits between it and `end`."""
    dx, dy = control.x - end.x, control.y - end.y
    length = max((dx * dx + dy * dy) ** 0.5, 1e-6)
    share = min(ARROW / length, 0.5)
    return Point(end.x + dx * share, end.y + dy * share)


def _draw_token(
    picture: graphviz.Digraph, moment: Moment, edge: Edge, curve: Curve, layout: Layout, travelled: float
) -> None:
    """The gradient, on its way back along the edge; those of earlier steps rest in the middle."""
    gradient = moment.sent.get(edge["id"])
    if gradient is None:
        return
    moving = moment.step is not None and moment.step["node"] == edge["to"]["node"] and moment.phase == SEND
    at = point_at(curve, 1 - (travelled if moving else 0.5))
    written = row(text(_shortened(spell_gradient(gradient, LONGEST_ON_EDGE), LONGEST_ON_EDGE)), IN_FLIGHT, size=10)
    label = f'<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="0" CELLSPACING="1" BGCOLOR="{PAPER}">{written}</TABLE>>'
    picture.node(f"gradient_{edge['id']}", pos=_position(at, layout), label=label)


def _title(node: Node) -> str:
    """What stands on top of a card: the leaf's name, else the operation."""
    return node.get("leaf") or node["label"]


def _variable(node: Node) -> str:
    """The variable that holds a node's value; empty where the program named none."""
    return (node["outputs"][0]["name"] or "") if node["outputs"] else ""


def _shortened(raw: str, most: int) -> str:
    """At most so many characters wide; nothing where not even one has room."""
    if _width(raw) <= most:
        return raw
    kept = raw
    while kept and _width(kept) > most - 1:
        kept = kept[:-1]
    return f"{kept}\N{HORIZONTAL ELLIPSIS}" if kept else ""


def _width(raw: str) -> int:
    """In characters of Latin: those of Chinese and Japanese are twice as wide."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in raw)
