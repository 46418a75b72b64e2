"""Places for cards and curves for edges: the DOTs of the trace, laid out as the page lays them out.

Every group has its own DOT; it is laid out by itself, innermost first, and an open group is one box with ports in its
parent's DOT. Sizes and ports are appended to the DOT text, Graphviz places, the results nest by translation. The
page does the same in `frontend/src/layout/place.ts`.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gradwalk.exports.sizes import Size, card_size, closed_group_size, open_groups
from gradwalk.protocol.graph import Graph, Group

TOP = ""
GROUP_HEADER, GROUP_PADDING, PORT = 30, 14, 4
POINTS_PER_INCH = 72
DEFAULTS = 'edge [arrowhead=none arrowtail=none] node [label="" fixedsize=true shape=box]'
SPACING = "rankdir=LR nodesep=0.3 ranksep=1.15"
BARE = 'BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0"'
LARGE_GRAPH_NODES, USES_TOO_MANY = 200, 24

EDGE = re.compile(r'^(\s*)"?(\w+)"?\s*->\s*"?(\w+)"?\s*(\[.*)$', re.MULTILINE)
EDGE_ID = re.compile(r'\bid="?(\w+)')
BORDER_POINT = re.compile(r"(in|out)_(\w+)")


class Point(NamedTuple):
    """Points from the top left corner; y grows downwards."""

    x: float
    y: float


class Box(NamedTuple):
    """`x`, `y` is the top left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> Point:
        return Point(self.x + self.width / 2, self.y + self.height / 2)


Curve = list[Point]
"""Cubic Bezier pieces, end to end: a start point, then two control points and an end point per piece."""


@dataclass
class Layout:
    """Where everything stands in the picture of one pass."""

    width: float
    height: float
    nodes: dict[str, Box] = field(default_factory=dict)
    open_groups: dict[str, Box] = field(default_factory=dict)
    closed_groups: dict[str, Box] = field(default_factory=dict)
    edges: dict[str, Curve] = field(default_factory=dict)
    """From the producer of the forward value to its consumer; edges inside closed groups have none."""
    home: dict[str, str] = field(default_factory=dict)
    """For a node inside a closed group: the outermost such group, whose box stands for it."""


@dataclass
class _Placed:
    """One level, in its own coordinates."""

    size: Size
    boxes: dict[str, Box]
    ports: dict[str, tuple[str, float]]
    curves: dict[str, Curve]
    inner: dict[str, "_Placed"]


def place(graph: Graph, run_dot: Callable[[str], bytes]) -> Layout:
    """Lays out a pass's graph; `run_dot` runs `dot` on a DOT text and returns its `json0`."""
    children: dict[str, list[Group]] = {}
    for group in graph["groups"]:
        children.setdefault(group["parent"] or TOP, []).append(group)
    sizes = {node["id"]: card_size(node) for node in graph["nodes"]}
    sizes |= {group["id"]: closed_group_size(group) for group in graph["groups"]}
    level = _Level(children, sizes, open_groups(graph), _loose_edges(graph), run_dot)
    top = [node["id"] for node in graph["nodes"] if node["group"] is None]
    placed = level.place(TOP, graph["dot"], top)
    layout = Layout(*placed.size, edges=placed.curves)
    _nest(layout, placed, Point(0, 0), {group["id"] for group in graph["groups"]})
    _house(layout, graph)
    for edge in graph["edges"]:
        if edge["id"] in level.loose:
            start, end = (_box_of(layout, edge[side]["node"]) for side in ("from", "to"))
            if start and end and start != end:
                layout.edges[edge["id"]] = _straight(start, end)
    return layout


def point_at(curve: Curve, fraction: float) -> Point:
    """The point at a fraction (0 to 1) of a curve, by its pieces."""
    pieces = max(1, (len(curve) - 1) // 3)
    along = min(max(fraction, 0), 1) * pieces
    piece = min(int(along), pieces - 1)
    t = along - piece
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    four = curve[3 * piece : 3 * piece + 4]
    return Point(
        sum(w * p.x for w, p in zip(weights, four, strict=False)),
        sum(w * p.y for w, p in zip(weights, four, strict=False)),
    )


@dataclass
class _Level:
    children: dict[str, list[Group]]
    sizes: dict[str, Size]
    open: set[str]
    loose: set[str]
    run_dot: Callable[[str], bytes]

    def place(self, group: str, dot: str, nodes: list[str]) -> _Placed:
        below = self.children.get(group, [])
        inner = {g["id"]: self.place(g["id"], g["dot"], g["nodes"]) for g in below if g["id"] in self.open}
        sizes = {name: self.sizes[name] for name in [*nodes, *(g["id"] for g in below)]}
        sizes |= {name: _outer_size(placed.size) for name, placed in inner.items()}
        result = json.loads(self.run_dot(_sized_dot(dot, sizes, inner, self.loose)))
        return _read_places(result, sizes, inner)


def _loose_edges(graph: Graph) -> set[str]:
    """In a large graph, edges of values used over and over: Graphviz would have millions of bends to place."""
    if len(graph["nodes"]) <= LARGE_GRAPH_NODES:
        return set()
    uses: dict[str, list[str]] = {}
    for edge in graph["edges"]:
        uses.setdefault(edge["from"]["node"], []).append(edge["id"])
    return {edge for edges in uses.values() if len(edges) >= USES_TOO_MANY for edge in edges}


def _nest(layout: Layout, level: _Placed, origin: Point, groups: set[str]) -> None:
    for name, box in level.boxes.items():
        absolute = Box(box.x + origin.x, box.y + origin.y, box.width, box.height)
        inner = level.inner.get(name)
        if name not in groups:
            layout.nodes[name] = absolute
        elif inner is None:
            layout.closed_groups[name] = absolute
        else:
            layout.open_groups[name] = absolute
            _nest(layout, inner, _inside(absolute), groups)


def _house(layout: Layout, graph: Graph) -> None:
    parents = {group["id"]: group["parent"] for group in graph["groups"]}
    for node in graph["nodes"]:
        group = None if node["id"] in layout.nodes else node["group"]
        while group is not None and group not in layout.closed_groups:
            group = parents.get(group)
        if group is not None:
            layout.home[node["id"]] = group


def _box_of(layout: Layout, node: str) -> Box | None:
    return layout.nodes.get(node) or layout.closed_groups.get(layout.home.get(node, ""))


def _straight(start: Box, end: Box) -> Curve:
    """Out of the right side, into the left side."""
    a, b = Point(start.x + start.width, start.middle.y), Point(end.x, end.middle.y)
    bend = min(80, abs(b.x - a.x) / 2)
    return [a, Point(a.x + bend, a.y), Point(b.x - bend, b.y), b]


def _outer_size(inner: Size) -> Size:
    return Size(inner.width + 2 * GROUP_PADDING, inner.height + GROUP_HEADER + GROUP_PADDING)


def _inside(box: Box) -> Point:
    return Point(box.x + GROUP_PADDING, box.y + GROUP_HEADER)


def _sized_dot(dot: str, sizes: dict[str, Size], inner: dict[str, _Placed], loose: set[str]) -> str:
    """The DOT with sizes and ports added: the last assignment wins, but defaults must come first."""

    def mend(match: re.Match[str]) -> str:
        indent, tail, head, attributes = match.groups()
        found = EDGE_ID.search(attributes)
        if found and found[1] in loose:
            return ""
        if tail not in inner:
            attributes = re.sub(r'\btailport="?\w+"?,?', "", attributes)
        if head not in inner:
            attributes = re.sub(r'\bheadport="?\w+"?,?', "", attributes)
        return f"{indent}{tail} -> {head} {attributes}"

    statements = [
        _port_statement(name, size, inner[name]) if name in inner else _box_statement(name, size)
        for name, size in sizes.items()
    ]
    body = EDGE.sub(mend, dot).replace("{", f"{{ {DEFAULTS}\n", 1)
    end = body.rindex("}")
    return "\n".join([body[:end], SPACING, *statements, "}"])


def _box_statement(name: str, size: Size) -> str:
    return f'{name} [shape=box fixedsize=true label="" width={_inches(size.width)} height={_inches(size.height)}]'


def _inches(points: float) -> str:
    return f"{points / POINTS_PER_INCH:.4f}"


def _port_statement(name: str, size: Size, placed: _Placed) -> str:
    """A table whose left and right border cells are the ports, at the heights where the inner layout put them."""
    height = round(size.height)
    middle = f'<TD FIXEDSIZE="TRUE" WIDTH="{round(size.width) - 4}" HEIGHT="{height}"></TD>'
    left, right = (f"<TD>{_port_strip(side, height, placed)}</TD>" for side in ("in", "out"))
    label = f"<<TABLE {BARE}><TR>{left}{middle}{right}</TR></TABLE>>"
    extent = f"width={_inches(size.width)} height={_inches(size.height)}"
    return f"{name} [shape=plain fixedsize=false {extent} label={label}]"


def _port_strip(side: str, height: int, placed: _Placed) -> str:
    ports = sorted(((round(y) + GROUP_HEADER, edge) for edge, (at, y) in placed.ports.items() if at == side))
    cells, filled = [], 0
    for y, edge in ports:
        gap = max(0, y - PORT // 2 - filled)
        if gap:
            cells.append(_strip_cell(gap, ""))
        cells.append(_strip_cell(PORT, f' PORT="{edge}"'))
        filled += gap + PORT
    if height > filled:
        cells.append(_strip_cell(height - filled, ""))
    return f"<TABLE {BARE}>{''.join(f'<TR>{cell}</TR>' for cell in cells)}</TABLE>"


def _strip_cell(height: int, port: str) -> str:
    return f'<TD{port} FIXEDSIZE="TRUE" WIDTH="2" HEIGHT="{height}"></TD>'


def _read_places(result: dict[str, Any], sizes: dict[str, Size], inner: dict[str, _Placed]) -> _Placed:
    _, _, width, height = map(float, result["bb"].split(","))
    boxes: dict[str, Box] = {}
    ports: dict[str, tuple[str, float]] = {}
    names: dict[int, str] = {}
    for each in result.get("objects", []):
        names[each["_gvid"]] = name = each["name"]
        if "pos" not in each:
            continue
        at = _read_point(each["pos"], height)
        border = BORDER_POINT.fullmatch(name)
        if name in sizes:
            size = sizes[name]
            boxes[name] = Box(at.x - size.width / 2, at.y - size.height / 2, *size)
        elif border:
            ports[border[2]] = (border[1], at.y)
    placed = _Placed(Size(width, height), boxes, ports, {}, inner)
    for each in result.get("edges", []):
        if "id" not in each or "pos" not in each:
            continue
        pieces = [
            _inner_curve(placed, names[each["tail"]], each["id"]),
            _read_curve(each["pos"], height),
            _inner_curve(placed, names[each["head"]], each["id"]),
        ]
        placed.curves[each["id"]] = _joined([piece for piece in pieces if piece])
    for group, level in inner.items():
        for edge in level.curves:
            if edge not in placed.curves:
                placed.curves[edge] = _inner_curve(placed, group, edge)
    return placed


def _inner_curve(placed: _Placed, group: str, edge: str) -> Curve:
    level = placed.inner.get(group)
    box = placed.boxes.get(group)
    if level is None or box is None or edge not in level.curves:
        return []
    origin = _inside(box)
    return [Point(p.x + origin.x, p.y + origin.y) for p in level.curves[edge]]


def _joined(curves: list[Curve]) -> Curve:
    """One curve after another, joined by a straight piece where they do not touch."""
    whole = list(curves[0])
    for curve in curves[1:]:
        if whole[-1] == curve[0]:
            whole += curve[1:]
        else:
            whole += [whole[-1], curve[0], *curve]
    return whole


def _read_point(text: str, height: float) -> Point:
    x, y = map(float, text.split(",")[:2])
    return Point(x, height - y)


def _read_curve(pos: str, height: float) -> Curve:
    """`pos` of an edge: optional arrow ends (`s,x,y` and `e,x,y`), then the Bezier points."""
    parts = re.split(r"[\s;]+", pos)
    return [_read_point(part, height) for part in parts if part and part[0] not in "se"]
