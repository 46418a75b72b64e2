"""Where everything stands in a picture: the places that the page's own code worked out (`kit.bake`), read back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gradwalk.exports.exporter import ExportUnavailable
from gradwalk.exports.kit import bake
from gradwalk.protocol.document import TraceDocument, encode

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


class ForwardStep(NamedTuple):
    """One step of the forward walk: a differentiable operation, in the order in which the program ran them."""

    pass_index: int
    node: str
    said: list[str]
    """A sentence per phase: arrive, compute, save."""


def find_layouts(document: TraceDocument) -> dict[int, Layout]:
    """By pass.

    Raises:
        ExportUnavailable: there is no engine here for the page's code, or that code is not built.
    """
    baked = _bake(document)
    first: dict[int, dict[str, Any]] = {}
    for layout in baked["layouts"]:
        first.setdefault(layout["pass"], layout)
    return {boxes["pass"]: _read_layout(first[boxes["pass"]], boxes) for boxes in baked["stills"]["boxes"]}


def find_forward(document: TraceDocument) -> list[ForwardStep]:
    """The forward walk as the page walks it.

    Raises:
        ExportUnavailable: as `find_layouts`.
    """
    return [ForwardStep(each["pass"], each["node"], each["said"]) for each in _bake(document)["stills"]["forward"]]


def _bake(document: TraceDocument) -> dict[str, Any]:
    baked = bake(encode(document))
    if baked is None:
        raise ExportUnavailable("pictures need the built front end: run `make install`, or install a released wheel")
    return baked


def _read_layout(layout: dict[str, Any], boxes: dict[str, Any]) -> Layout:
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
        home=boxes["homes"],
    )


def _read_curve(numbers: list[float]) -> Curve:
    return [Point(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]


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
