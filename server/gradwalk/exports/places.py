"""Where everything stands in a picture: the places that the page's own code worked out (`kit.bake`), read back."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from gradwalk.exports.exporter import ExportUnavailable
from gradwalk.exports.kit import bake, what_is_missing
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.wire import write_document

POINTS_PER_INCH = 72


class Point(NamedTuple):
    """Points, which are the page's pixels, from the top left corner; y grows downwards."""

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


class GroupBox(NamedTuple):
    """A module, function or composite: open, a frame round its nodes; closed, one box that stands for them."""

    box: Box
    is_open: bool
    label: str
    node_count: int


Curve = list[Point]
"""Cubic Bezier pieces, end to end: a start point, then two control points and an end point per piece."""


class Cut(NamedTuple):
    """Which ends of a curve are beyond a window's border."""

    start: bool
    end: bool


@dataclass(frozen=True)
class Window:
    """What a layout is a part of, and what its border cuts."""

    whole: "Layout"
    part: Box
    """Of the whole."""
    sides: Mapping[str, str]
    """By node or group that is cut: those of its sides that are seen, some of `LTRB`."""
    cut: Mapping[str, Cut]
    """By edge."""
    passing: Sequence[Curve]
    """Parts of edges both ends of which are elsewhere."""
    locator: Box
    """Where the picture has room for the whole, very small."""


@dataclass(frozen=True)
class Layout:
    """The first picture of one pass."""

    width: float
    height: float
    nodes: Mapping[str, Box]
    groups: Mapping[str, GroupBox]
    """Outer before inner."""
    edges: Mapping[str, Curve]
    """From the producer of the forward value to its consumer; edges inside closed groups have none."""
    home: Mapping[str, str]
    """For a node inside a closed group: the outermost such group, whose box stands for it."""
    opened: "Layout | None" = None
    """Where groups are closed: the same with all of them open."""
    window: Window | None = None
    """Where this is only a part of the graph; coordinates are the part's own."""

    def box_of(self, node: str) -> Box | None:
        """Its own, or that of the closed group that stands for it."""
        own = self.nodes.get(node)
        if own is not None:
            return own
        group = self.groups.get(self.home.get(node, ""))
        return None if group is None else group.box

    def boxes(self) -> Iterator[Box]:
        """What stands for nodes: cards and closed groups."""
        yield from self.nodes.values()
        yield from (group.box for group in self.groups.values() if not group.is_open)


class ForwardStep(NamedTuple):
    """One step of the forward walk: a differentiable operation, in the order in which the program ran them."""

    pass_index: int
    node: str
    said: list[str]
    """A sentence per phase: arrive, compute, save; where a step does not stop, what its stop before says."""
    stops: list[int]
    """At which of them the step stops, from 1."""
    operands: list[str]
    """What the page calls them, in the order of the node's inputs."""
    saved: list[str]
    """The same of what the node saved."""


def find_layouts(document: TraceDocument) -> dict[int, Layout]:
    """By pass.

    Raises:
        ExportUnavailable: there is no engine here for the page's code, or that code is not built.
    """
    baked = _bake(document)
    first: dict[int, dict[str, Any]] = {}
    for layout in baked["layouts"]:
        first.setdefault(layout["pass"], layout)
    found = {}
    for boxes in baked["stills"]["boxes"]:
        opened = boxes["opened"]
        found[boxes["pass"]] = replace(
            _read_layout(first[boxes["pass"]], boxes, boxes["homes"]),
            opened=None if opened is None else _read_layout(opened, boxes, {}),
        )
    return found


def find_forward(document: TraceDocument) -> list[ForwardStep]:
    """The forward walk as the page walks it.

    Raises:
        ExportUnavailable: as `find_layouts`.
    """
    return [
        ForwardStep(each["pass"], each["node"], each["said"], each["stops"], each["operands"], each["saved"])
        for each in _bake(document)["stills"]["forward"]
    ]


def _bake(document: TraceDocument) -> dict[str, Any]:
    baked = bake(write_document(document))
    if baked is None:
        raise ExportUnavailable(what_is_missing())
    return baked


def _read_layout(layout: dict[str, Any], boxes: dict[str, Any], home: Mapping[str, str]) -> Layout:
    groups = {}
    for group, (x, y, width, height, is_open) in layout["groups"].items():
        label, node_count = boxes["groups"][group]
        groups[group] = GroupBox(Box(x, y, width, height), bool(is_open), label, node_count)
    width, height = layout["size"]
    return Layout(
        width,
        height,
        nodes={node: Box(*box) for node, box in layout["nodes"].items()},
        groups=groups,
        edges={edge: _read_curve(numbers) for edge, numbers in layout["edges"].items()},
        home=home,
    )


def _read_curve(numbers: list[float]) -> Curve:
    return [Point(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]


SAMPLES = 12
"""Straight pieces in the place of each cubic one, for lengths."""


def point_at(curve: Curve, fraction: float) -> Point:
    """The point at a fraction (0 to 1) of a curve's length."""
    points = _sampled(curve)
    target = min(max(fraction, 0), 1) * curve_length(curve)
    for before, after in pairwise(points):
        length = math.dist(before, after)
        if length >= target > 0:
            share = target / length
            return Point(before.x + (after.x - before.x) * share, before.y + (after.y - before.y) * share)
        target -= length
    return points[-1] if fraction > 0 else points[0]


def curve_length(curve: Curve) -> float:
    """Points."""
    return sum(math.dist(*ends) for ends in pairwise(_sampled(curve)))


def _sampled(curve: Curve) -> list[Point]:
    points = [curve[0]]
    for first in range(0, len(curve) - 3, 3):
        four = curve[first : first + 4]
        for sample in range(1, SAMPLES + 1):
            t = sample / SAMPLES
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            x = sum(w * p.x for w, p in zip(weights, four, strict=True))
            y = sum(w * p.y for w, p in zip(weights, four, strict=True))
            points.append(Point(x, y))
    return points
