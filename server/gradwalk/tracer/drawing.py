"""The graph as Graphviz DOT: one drawing per group, so that opening one moves nothing outside it.

Each DOT has a group's direct children only, under opaque ids. An edge that crosses the group's border
ends at a point node on it, `in_<edge>` in the first rank or `out_<edge>` in the last; where an edge's
end is a child group, `headport` or `tailport` is the edge's id: the point on that child's own border to which
a reader leads the edge where the child is open. Nothing here has a size: the reader appends sizes before the last
brace. No text of the program enters a DOT.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import graphviz

from gradwalk.protocol.graph import Edge, Group, Node

TOP = "top"
"""The name of the outermost drawing; inside the others it names nothing."""

_GRAPH_ATTRIBUTES = {"rankdir": "TB", "nodesep": "0.28", "ranksep": "0.42", "ordering": "out"}
_NODE_ATTRIBUTES = {"shape": "box", "fixedsize": "true", "label": "", "width": "2", "height": "0.8"}
_EDGE_ATTRIBUTES = {"arrowhead": "none"}
_DEFAULTS = list(
    graphviz.Digraph(graph_attr=_GRAPH_ATTRIBUTES, node_attr=_NODE_ATTRIBUTES, edge_attr=_EDGE_ATTRIBUTES)
)[1:-1]
_POINT = "shape=point width=0.02 height=0.02 style=invis"


class _Drawing(NamedTuple):
    """What is to be drawn at one level."""

    children: list[str]
    edges: list[str]
    arriving: list[str]
    leaving: list[str]


def draw(nodes: Sequence[Node], edges: Iterable[Edge], groups: Sequence[Group]) -> tuple[str, dict[str, str]]:
    """The DOT of the top level, and of each group by its id.

    Edges run from the producer of a forward value to its consumer, in the order given; parallel edges are kept. A
    group that is left and entered again (a module called twice) is drawn with edges both ways.
    """
    parents: dict[str, str] = {group["id"]: group["parent"] or TOP for group in groups}
    paths: dict[str, tuple[str, ...]] = {TOP: (TOP,)}
    for group in groups:
        _path(group["id"], parents, paths)
    drawings = {name: _Drawing([], [], [], []) for name in (TOP, *parents)}
    homes: dict[str, str] = {}
    for node in nodes:
        homes[node["id"]] = home = node["group"] if node["group"] in parents else TOP
        drawings[home].children.append(node["id"])
    for name, parent in parents.items():
        drawings[parent].children.append(name)
    for edge in edges:
        start, end = edge["from"]["node"], edge["to"]["node"]
        home = homes[start]
        if home == homes[end]:
            drawings[home].edges.append(f"{start} -> {end} [id={edge['id']}]\n")
        else:
            _draw_edge(edge["id"], (*paths[home], start), (*paths[homes[end]], end), drawings)
    dots = {name: _dot(name, drawing) for name, drawing in drawings.items()}
    return dots.pop(TOP), dots


def _path(group: str, parents: Mapping[str, str], paths: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The groups around `group` from the outermost to itself, whatever order the groups are listed in."""
    missing = [group]
    while missing[-1] not in paths:
        missing.append(parents[missing[-1]])
    path = paths[missing.pop()]
    for name in reversed(missing):
        path = paths[name] = (*path, name)
    return path


def _draw_edge(edge: str, start: Sequence[str], end: Sequence[str], drawings: Mapping[str, _Drawing]) -> None:
    """Adds one edge to every drawing it passes through. `start` and `end` are paths from the top down to a node."""
    shared = 0
    while shared < min(len(start), len(end)) - 1 and start[shared] == end[shared]:
        shared += 1
    tail, head = start[shared], end[shared]
    attributes = f"id={edge}"
    if shared < len(start) - 1:
        attributes += f" tailport={edge}"
    if shared < len(end) - 1:
        attributes += f" headport={edge}"
    drawings[start[shared - 1]].edges.append(f"{tail} -> {head} [{attributes}]\n")
    for level in range(shared, len(start) - 1):
        port = f" tailport={edge}" if level + 2 < len(start) else ""
        inside = drawings[start[level]]
        inside.edges.append(f"{start[level + 1]} -> out_{edge} [id={edge}{port}]\n")
        inside.leaving.append(f"out_{edge}")
    for level in range(shared, len(end) - 1):
        port = f" headport={edge}" if level + 2 < len(end) else ""
        inside = drawings[end[level]]
        inside.edges.append(f"in_{edge} -> {end[level + 1]} [id={edge}{port}]\n")
        inside.arriving.append(f"in_{edge}")


def _dot(name: str, drawing: _Drawing) -> str:
    # Statements are appended as text: all ids are ours and need no quoting, and 5,000 nodes are drawn ten times faster.
    body = [*_DEFAULTS, *(f"\t{child}\n" for child in drawing.children)]
    for rank, points in (("min", drawing.arriving), ("max", drawing.leaving)):
        if points:
            body.append(f"\t{{rank={rank} node [{_POINT}] {' '.join(points)}}}\n")
    # After the points: what an edge mentions first is born with the size of a card.
    body += [f"\t{edge}" for edge in drawing.edges]
    return str(graphviz.Digraph(name, body=body).source)
