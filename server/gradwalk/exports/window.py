"""What of a graph is seen in a picture: all of one that can be read there, else a window round the node at work.

The window is a layout of its own, with its own corner as origin: cards and frames that its border cuts are shorter and
open on that side, curves end at the border. It stands on a coarse grid, so that most steps share it with the one before
and turning pages moves nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from gradwalk.exports.moment import Moment
from gradwalk.exports.places import Box, Curve, Cut, GroupBox, Layout, Point, Window


class Room(NamedTuple):
    """What a kind of picture has room for, in points of the layout."""

    most_width: float
    most_height: float
    """Up to here a graph is shown whole: the text of its cards can be read."""
    width: float
    height: float
    """Of the window onto a larger one."""


SLIDE = Room(2500, 1100, 1240, 380)
"""A picture across a slide or a page."""
PREVIEW = Room(1800, 800, 1080, 330)
"""A picture across a message in a chat."""

MARGIN = 24
"""Between the cards that take part and the border."""
STRIDES = (2, 4, 8)
"""The grid on which the window stands: parts of its own length; finer where no coarse place shows all that it must."""
LOCATOR_GAP, LOCATOR_BREADTH = 24.0, 36.0
"""Of the strip that shows the whole graph (`locator`)."""
ALL_SIDES = "LTRB"
LABELS_BETWEEN = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
STUB = 1.0
"""A curve's piece this short is not halved again."""


def find_view(layout: Layout, moment: Moment, room: Room = SLIDE) -> Layout:
    """The layout that a picture of this moment shows.

    Where the node at work is in a closed group, all groups are open: a step shows its own card.
    """
    if layout.opened is not None and moment.active is not None:
        layout = layout.opened
    if layout.width <= room.most_width and layout.height <= room.most_height:
        return layout
    size = min(layout.width, room.width), min(layout.height, room.height)
    needed = _fitting(*_taking_part(layout, moment), size)
    left = _place(layout.width, size[0], needed.x, needed.x + needed.width)
    top = _place(layout.height, size[1], needed.y, needed.y + needed.height)
    return _look_through(layout, Box(left, top, *size))


def _taking_part(layout: Layout, moment: Moment) -> tuple[Box, list[Box]]:
    """The box of the node at work and those of its neighbours; without one where the walk begins."""
    if moment.active is None:
        ends = [layout.box_of(output["node"]) for output in moment.started["outputs"]]
        found = [box for box in ends if box is not None] if moment.computed is None else []
        first = min(layout.boxes(), key=lambda box: (box.x, box.y))
        return (found[0], found[1:]) if found else (first, [])
    own = layout.box_of(moment.active)
    assert own is not None, "every node of a pass has a box, or its group has"
    near = []
    for edge in moment.graph["edges"]:
        ends_of = edge["from"]["node"], edge["to"]["node"]
        if moment.active in ends_of:
            near.append(layout.box_of(ends_of[0] if ends_of[1] == moment.active else ends_of[1]))
    return own, [box for box in near if box is not None]


def _fitting(own: Box, near: Iterable[Box], size: tuple[float, float]) -> Box:
    """Round the first and as many of the others, the nearest first, as have room together."""
    middle = own.middle

    def distance(box: Box) -> float:
        return abs(box.middle.x - middle.x) + abs(box.middle.y - middle.y)

    round_all = own
    for box in sorted(near, key=distance):
        left, top = min(round_all.x, box.x), min(round_all.y, box.y)
        right = max(round_all.x + round_all.width, box.x + box.width)
        bottom = max(round_all.y + round_all.height, box.y + box.height)
        if right - left <= size[0] - 2 * MARGIN and bottom - top <= size[1] - 2 * MARGIN:
            round_all = Box(left, top, right - left, bottom - top)
    return round_all


def _place(whole: float, length: float, low: float, high: float) -> float:
    """Where a window of this length begins on an axis, so that `low` to `high` is in it."""
    last = whole - length
    if last <= 0:
        return 0.0
    centred = (low + high - length) / 2
    low, high = max(0.0, low - MARGIN), min(whole, high + MARGIN)
    for parts in STRIDES:
        stride = length / parts
        start = min(max(round(centred / stride) * stride, 0.0), last)
        if start <= low and high <= start + length:
            return start
    return min(max(centred, 0.0), last)


def _look_through(layout: Layout, window: Box) -> Layout:
    nodes, groups, sides = {}, {}, {}
    for name, box in layout.nodes.items():
        seen = _seen(box, window)
        if seen is not None:
            nodes[name], sides[name] = seen
    for name, group in layout.groups.items():
        seen = _seen(group.box, window)
        if seen is not None:
            groups[name], sides[name] = group._replace(box=seen[0]), seen[1]
    groups = _with_labels_joined(groups, sides)
    edges, passing, cut = {}, [], {}
    for edge, curve in layout.edges.items():
        for run in visible_runs(curve, window):
            moved = [Point(x - window.x, y - window.y) for x, y in run]
            begins, ends = run[0] == curve[0], run[-1] == curve[-1]
            if edge in edges or not (begins or ends):
                passing.append(moved)
            else:
                edges[edge], cut[edge] = moved, Cut(not begins, not ends)
    open_sides = {name: kept for name, kept in sides.items() if kept != ALL_SIDES}
    locator, size = _locator_beside(layout, window)
    return replace(
        layout,
        width=size[0],
        height=size[1],
        nodes=nodes,
        groups=groups,
        edges=edges,
        window=Window(layout, window, open_sides, cut, passing, locator),
    )


def _locator_beside(whole: Layout, window: Box) -> tuple[Box, tuple[float, float]]:
    """The strip, and the size of the picture with it: on the right where only the height is cut, else below."""
    if window.width == whole.width:
        place = Box(window.width + LOCATOR_GAP, 0, LOCATOR_BREADTH, window.height)
        return place, (window.width + LOCATOR_GAP + LOCATOR_BREADTH, window.height)
    place = Box(0, window.height + LOCATOR_GAP, window.width, LOCATOR_BREADTH)
    return place, (window.width, window.height + 2 * LOCATOR_GAP + LOCATOR_BREADTH)


def _with_labels_joined(groups: dict[str, GroupBox], sides: Mapping[str, str]) -> dict[str, GroupBox]:
    """Groups whose upper sides are cut off would write their labels over each other: the outermost writes them all."""
    joined: dict[float, list[str]] = {}
    for name, group in groups.items():
        if "T" not in sides[name]:
            joined.setdefault(group.box.x, []).append(name)
    labels = {name: "" for names in joined.values() for name in names}
    labels |= {names[0]: LABELS_BETWEEN.join(groups[name].label for name in names) for names in joined.values()}
    return {name: group._replace(label=labels.get(name, group.label)) for name, group in groups.items()}


def _seen(box: Box, window: Box) -> tuple[Box, str] | None:
    """The part of a box that is seen, from the window's corner, and which of its sides are."""
    left, top = max(box.x, window.x), max(box.y, window.y)
    right, bottom = min(box.x + box.width, window.x + window.width), min(box.y + box.height, window.y + window.height)
    if right <= left or bottom <= top:
        return None
    within = {
        "L": left == box.x,
        "T": top == box.y,
        "R": right == box.x + box.width,
        "B": bottom == box.y + box.height,
    }
    part = Box(left - window.x, top - window.y, right - left, bottom - top)
    return part, "".join(side for side, is_seen in within.items() if is_seen)


def visible_runs(curve: Curve, window: Box) -> list[Curve]:
    """The parts of a curve inside a box, in order; each is a curve again."""
    runs: list[Curve] = []
    for first in range(0, len(curve) - 3, 3):
        for part in _parts_inside(curve[first : first + 4], window):
            if runs and runs[-1][-1] == part[0]:
                runs[-1].extend(part[1:])
            else:
                runs.append([*part])
    return runs


def _parts_inside(piece: Sequence[Point], window: Box) -> Iterator[Sequence[Point]]:
    low_x, high_x = min(p.x for p in piece), max(p.x for p in piece)
    low_y, high_y = min(p.y for p in piece), max(p.y for p in piece)
    right, bottom = window.x + window.width, window.y + window.height
    if high_x < window.x or low_x > right or high_y < window.y or low_y > bottom:
        return
    if low_x >= window.x and high_x <= right and low_y >= window.y and high_y <= bottom:
        yield piece
    elif high_x - low_x > STUB or high_y - low_y > STUB:
        for half in _halves(piece):
            yield from _parts_inside(half, window)


def _halves(piece: Sequence[Point]) -> tuple[list[Point], list[Point]]:
    """De Casteljau's construction at the middle."""
    a, b, c, d = piece
    ab, bc, cd = _between(a, b), _between(b, c), _between(c, d)
    abc, bcd = _between(ab, bc), _between(bc, cd)
    middle = _between(abc, bcd)
    return [a, ab, abc, middle], [middle, bcd, cd, d]


def _between(one: Point, other: Point) -> Point:
    return Point((one.x + other.x) / 2, (one.y + other.y) / 2)
