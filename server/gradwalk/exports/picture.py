"""A still of a trace as Graphviz DOT: values on cards, gradients on edges, v times J, the sentence.

Everything stands where it stands on the page: places are computed first (`places`), then written into the DOT as
positions, which Graphviz's `nop2` layout draws as they are. So nothing moves from step to step. Everything that came
from a program is escaped text inside HTML-like labels; ids are the trace's own.
"""

import unicodedata

import graphviz

from gradwalk.exports.canvas import draw_rectangle, path, position
from gradwalk.exports.caption import CAPTION_POINTS, caption, text_scale
from gradwalk.exports.exporter import Selection
from gradwalk.exports.labels import ACCUMULATED, FONT, FORWARD, IN_FLIGHT, INK, MONO, PAPER, QUIET, row, text
from gradwalk.exports.locator import draw_locator
from gradwalk.exports.moment import SEND, Moment, find_moment
from gradwalk.exports.places import (
    Box,
    Curve,
    Cut,
    GroupBox,
    Layout,
    Point,
    Window,
    curve_length,
    find_layouts,
    point_at,
)
from gradwalk.exports.spelling import spell_gradient, spell_value
from gradwalk.exports.window import ALL_SIDES
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.graph import Edge, Node
from gradwalk.words.catalogue import say

CHARACTER = 7.0
"""Width of a character on a card's second and third line, in points."""
CARD_PADDING = 20
CELL_PADDING = 5
LINE_HEIGHT, LEAST_WIDTH = 18, 40
"""Points; of a card that a border cuts nothing is written where it would not fit."""
LONGEST_ON_EDGE = 13
LONGEST_NAME = 11
"""Characters of what a card calls its value."""
ARROW = 8
UNCUT = Cut(start=False, end=False)
BEYOND = "beyond"
"""What edges lead to that end outside a window; it is not seen, and as large as the picture."""
FADING_LENGTH = 60
SHORTEST_WITH_TOKEN = 70
"""Of what a border leaves of an edge; the gradient is on the card at its other end too."""
FADED = {QUIET: ("#9aa6b1", "#cfd6dc"), IN_FLIGHT: ("#d49066", "#ecd0bd"), FORWARD: ("#62a7d1", "#bcd9eb")}
"""Of an edge's colour, what follows it towards the border."""


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
    # at the left, so that it stays where it is whatever it says
    picture.attr("graph", labelloc="b", labeljust="l", label=caption(moment, scale))
    picture.attr("node", shape="plain", fontname=FONT, fontsize="12", fontcolor=INK)
    picture.attr("edge", fontname=FONT, fontsize="10", color=QUIET, arrowsize="0.7")
    for name, group in layout.groups.items():
        _draw_group(picture, layout, name, group, is_active=layout.home.get(moment.active or "") == name)
    for node in moment.graph["nodes"]:
        box = layout.nodes.get(node["id"])
        if box is not None:
            picture.node(
                node["id"], pos=position(box.middle, layout), label=_card(moment, node, box, _sides(layout, node["id"]))
            )
    for edge in moment.graph["edges"]:
        curve = layout.edges.get(edge["id"])
        if curve:
            _draw_edge(picture, moment, edge, curve, layout)
            _draw_token(picture, moment, edge, curve, layout, travelled)
    if layout.window is not None:
        _draw_border(picture, moment, layout, layout.window)
    return str(picture.source)


def _draw_border(picture: graphviz.Digraph, moment: Moment, layout: Layout, window: Window) -> None:
    """What shows that there is more than this: edges that only pass, and the whole as a strip."""
    whole = Box(0, 0, layout.width, layout.height)
    draw_rectangle(picture, BEYOND, layout, whole, line="none", fill="none")
    for curve in window.passing:
        picture.edge(BEYOND, BEYOND, pos=path(curve, layout), color=FADED[QUIET][1], dir="none")
    draw_locator(picture, moment, layout, window)


def _draw_group(picture: graphviz.Digraph, layout: Layout, name: str, group: GroupBox, *, is_active: bool) -> None:
    sides = _sides(layout, name)
    room = int((group.box.width - CARD_PADDING) / CHARACTER)
    lines = [row(f"<B>{text(_shortened(group.label, room))}</B>", QUIET if group.is_open else INK)]
    if not group.is_open:
        lines.append(row(text(_shortened(say("export-nodes", count=group.node_count), room)), QUIET))
    shown = lines if sides == ALL_SIDES else _fitting(lines, group.box)
    color, width = (IN_FLIGHT, 3) if is_active else (QUIET, 1)
    frame = _frame(color, width, sides, is_dashed=group.is_open)
    picture.node(name, pos=position(group.box.middle, layout), label=_table(frame, group.box, "".join(shown)))


def _fitting(lines: list[str], box: Box) -> list[str]:
    """Those that have room in what a border left of a box."""
    count = int((box.height - 2 * CELL_PADDING) / LINE_HEIGHT) if box.width >= LEAST_WIDTH else 0
    return lines[: max(count, 0)]


def _card(moment: Moment, node: Node, box: Box, sides: str) -> str:
    leaf = node.get("leaf")
    active = moment.active == node["id"]
    room = int((box.width - CARD_PADDING) / CHARACTER)
    title = _shortened(_title(node), room)
    aside = _shortened(say("export-leaf"), room - _width(title) - 1) if leaf else ""
    title = f"<B>{text(title)}</B>"
    lines = [row(f'{title} <FONT COLOR="{QUIET}">{text(aside)}</FONT>' if aside else title)]
    exists = moment.computed is None or node["id"] in moment.computed
    value = node["outputs"][0]["value"] if node["outputs"] and exists else None
    name = _shortened(_variable(node) or say("player-value"), LONGEST_NAME)
    left = room - _width(name) - 1
    written = _shortened(spell_value(value, left), left) if value else "\N{EN DASH}"
    lines.append(row(f'<FONT COLOR="{INK}">{text(name)}</FONT> {text(written)}', FORWARD, face=MONO))
    if moment.computed is not None:
        lines.append(row(" ", QUIET, face=MONO))
    elif leaf:
        grad = moment.leaf_grads.get(leaf)
        written = spell_gradient(grad, room - 6) if grad else say("export-not-computed")
        has_arrived = grad is not None and "missing" not in grad
        color = ACCUMULATED if has_arrived else QUIET
        lines.append(row(f".grad {text(_shortened(written, room - 6))}", color, face=MONO))
    else:
        received = moment.received.get(node["id"])
        written = f"v {spell_gradient(received[0], room - 2)}" if received else " "
        lines.append(row(text(_shortened(written, room)), IN_FLIGHT, face=MONO))
    shown = "".join(lines if sides == ALL_SIDES else _fitting(lines, box))
    frame = _frame(IN_FLIGHT, 3, sides) if active else _frame(QUIET, 1, sides)
    return _table(f'{frame} BGCOLOR="{PAPER}"', box, shown)


def _sides(layout: Layout, name: str) -> str:
    """The sides of a box that are drawn: those that no border cuts off."""
    return ALL_SIDES if layout.window is None else layout.window.sides.get(name, ALL_SIDES)


def _frame(color: str, width: int, sides: str, *, is_dashed: bool = False) -> str:
    """Graphviz rounds only the corners of whole boxes."""
    style = ",".join(each for each in ("ROUNDED" * (sides == ALL_SIDES), "DASHED" * is_dashed) if each)
    look = f'BORDER="{width if sides else 0}" COLOR="{color}"'
    look += f' STYLE="{style}"' if style else ""
    return look if sides in ("", ALL_SIDES) else f'{look} SIDES="{sides}"'


def _table(frame: str, box: Box, lines: str) -> str:
    """A table of exactly the box's size, its lines at the top left."""
    fixed = f'FIXEDSIZE="TRUE" WIDTH="{box.width:.0f}" HEIGHT="{box.height:.0f}"'
    inner = f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="2">{lines}</TABLE>' if lines else ""
    padding = CELL_PADDING if lines else 0
    cell = f'<TR><TD ALIGN="LEFT" VALIGN="TOP" CELLPADDING="{padding}">{inner}</TD></TR>'
    return f'<<TABLE {frame} {fixed} CELLBORDER="0" CELLSPACING="0" CELLPADDING="0">{cell}</TABLE>>'


def _draw_edge(picture: graphviz.Digraph, moment: Moment, edge: Edge, curve: Curve, layout: Layout) -> None:
    gradient = moment.sent.get(edge["id"])
    window = layout.window
    cut = UNCUT if window is None else window.cut.get(edge["id"], UNCUT)
    ends = [layout.home.get(end, end) for end in (edge["from"]["node"], edge["to"]["node"])]
    tail, head = (end if end in layout.nodes or end in layout.groups else BEYOND for end in ends)
    if gradient is None:
        arrives = moment.forward is not None and moment.forward.node == edge["to"]["node"]
        color = FORWARD if arrives else QUIET
        look = {"penwidth": "2"} if arrives else {}
    else:
        color = IN_FLIGHT
        look = {"style": "dotted" if "missing" in gradient else "dashed", "dir": "back"}
    points, point_before = [*curve], ""
    if gradient is None and not cut.end:
        points[-1], point_before = _before(curve[-1], curve[-2]), f"e,{position(curve[-1], layout)} "
    elif gradient is not None and not cut.start:
        points[0], point_before = _before(curve[0], curve[1]), f"s,{position(curve[0], layout)} "
    elif gradient is None or cut.start:
        look["dir"] = "none"
    look["color"] = _fading(color, cut, curve)
    picture.edge(tail, head, id=edge["id"], pos=f"{point_before}{path(points, layout)}", **look)


def _fading(color: str, cut: Cut, curve: Curve) -> str:
    """The colour, paler towards the ends that a border cuts off."""
    share = min(FADING_LENGTH / max(curve_length(curve), 1), 0.4) / 2
    paler = FADED[color]
    parts = [(each, share) for each in reversed(paler)] if cut.start else []
    parts.append((color, 1 - 2 * share * (cut.start + cut.end)))
    parts += [(each, share) for each in paler] if cut.end else []
    return color if len(parts) == 1 else ":".join(f"{each};{part:.4f}" for each, part in parts)


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
    if gradient is None or (layout.window is not None and curve_length(curve) < SHORTEST_WITH_TOKEN):
        return
    moving = moment.step is not None and moment.step["node"] == edge["to"]["node"] and moment.phase == SEND
    at = point_at(curve, 1 - (travelled if moving else 0.5))
    written = row(text(_shortened(spell_gradient(gradient, LONGEST_ON_EDGE), LONGEST_ON_EDGE)), IN_FLIGHT, size=10)
    label = f'<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="0" CELLSPACING="1" BGCOLOR="{PAPER}">{written}</TABLE>>'
    picture.node(f"gradient_{edge['id']}", pos=position(at, layout), label=label)


def _title(node: Node) -> str:
    """What stands on top of a card: the leaf's name, else the operation."""
    return node.get("leaf") or node["label"]


def _variable(node: Node) -> str:
    """The variable that holds an operation's value; empty where the program named none."""
    if node.get("leaf"):
        return ""
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
