"""The strip below a window: the whole graph, very small, with how far the walk has come and what the window shows."""

import math
from collections.abc import Container
from itertools import groupby
from typing import NamedTuple

import graphviz

from gradwalk.exports.canvas import draw_rectangle, position
from gradwalk.exports.labels import FORWARD, IN_FLIGHT, INK, QUIET, text
from gradwalk.exports.moment import Moment
from gradwalk.exports.places import Box, Layout, Point, Window

CELL = 3.0
"""Points; cards nearer to each other than this become one bar."""
STRETCHED, THINNEST = 6.0, 9.0
"""A long graph is drawn this many times as broad as it is, and at least so many points."""
WORDS_ROOM, WORDS_POINTS = 96.0, 12
WAITING, WALKED_BACK, WALKED_FORWARD = "#c3ccd5", "#e0a67c", "#7fb8d8"
NONE = "none"


class Scale(NamedTuple):
    """From the whole graph's places to the strip's."""

    x: float
    y: float
    across: float
    down: float

    def __call__(self, box: Box) -> Box:
        return Box(
            self.x + box.x * self.across, self.y + box.y * self.down, box.width * self.across, box.height * self.down
        )


def draw_locator(picture: graphviz.Digraph, moment: Moment, layout: Layout, window: Window) -> None:
    """Draws into the window's strip, which is a part of `layout`."""
    is_upright = window.locator.height > window.locator.width
    scale = _scale(window, is_upright=is_upright)
    is_forward = moment.computed is not None
    walked = moment.received if moment.computed is None else moment.computed
    colors = {False: WAITING, True: WALKED_FORWARD if is_forward else WALKED_BACK}
    for number, (bar, is_walked) in enumerate(_bars(window.whole, moment, walked, scale)):
        draw_rectangle(picture, f"locator_{number}", layout, bar, line=NONE, fill=colors[is_walked])
    own = None if moment.active is None else window.whole.box_of(moment.active)
    if own is not None:
        at = scale(own)
        mark = Box(
            at.middle.x - max(CELL, at.width) / 2,
            at.middle.y - max(CELL, at.height) / 2,
            max(CELL, at.width),
            max(CELL, at.height),
        )
        draw_rectangle(picture, "locator_active", layout, mark, line=NONE, fill=FORWARD if is_forward else IN_FLIGHT)
    draw_rectangle(picture, "locator_window", layout, scale(window.part), line=INK, fill=NONE)
    count = text(f"all {len(moment.graph['nodes'])} nodes")
    words = f'<<FONT COLOR="{QUIET}" POINT-SIZE="{WORDS_POINTS}">{count}</FONT>>'
    strip = window.locator
    place = (
        Point(strip.middle.x, strip.y + strip.height - WORDS_POINTS)
        if is_upright
        else Point(strip.x + strip.width - WORDS_ROOM / 2, strip.middle.y)
    )
    picture.node("locator_words", pos=position(place, layout), label=words)


def _scale(window: Window, *, is_upright: bool) -> Scale:
    """As large as there is room beside the words, in the middle of the strip."""
    strip, whole = window.locator, window.whole
    if is_upright:
        down = (strip.height - 2 * WORDS_POINTS) / whole.height
        across = min(strip.width / whole.width, max(STRETCHED * down, THINNEST / whole.width))
    else:
        across = (strip.width - WORDS_ROOM) / whole.width
        down = min(strip.height / whole.height, max(STRETCHED * across, THINNEST / whole.height))
    x = strip.x + ((strip.width - across * whole.width) / 2 if is_upright else 0)
    y = strip.y + (0 if is_upright else (strip.height - down * whole.height) / 2)
    return Scale(x, y, across, down)


def _bars(whole: Layout, moment: Moment, walked: Container[str], scale: Scale) -> list[tuple[Box, bool]]:
    """All cards as a raster, runs of its cells joined; True where the walk has been."""
    cells: dict[tuple[int, int], bool] = {}
    for node in moment.graph["nodes"]:
        box = whole.box_of(node["id"])
        if box is None:
            continue
        small = scale(box)
        for row in _cells(small.y - scale.y, small.height):
            for column in _cells(small.x - scale.x, small.width):
                cells[row, column] = cells.get((row, column), False) or node["id"] in walked
    bars = []
    # Of one run, the difference of column and rank is the same.
    ranked = enumerate(sorted(cells.items()))
    for (row, _, is_walked), run in groupby(ranked, lambda each: (each[1][0][0], each[1][0][1] - each[0], each[1][1])):
        columns = [column for _, ((_, column), _) in run]
        bar = Box(scale.x + columns[0] * CELL, scale.y + row * CELL, len(columns) * CELL, CELL)
        bars.append((bar, is_walked))
    return bars


def _cells(start: float, length: float) -> range:
    first = int(start / CELL)
    return range(first, max(first + 1, math.ceil((start + length) / CELL)))
