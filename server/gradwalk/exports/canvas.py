"""Places of a layout as Graphviz writes them: from the bottom left corner, y upwards."""

import graphviz

from gradwalk.exports.places import POINTS_PER_INCH, Box, Curve, Layout, Point


def position(point: Point, layout: Layout) -> str:
    """As in `pos`."""
    return f"{point.x:.2f},{layout.height - point.y:.2f}"


def path(curve: Curve, layout: Layout) -> str:
    """As in the `pos` of an edge, without arrowheads."""
    return " ".join(position(point, layout) for point in curve)


def draw_rectangle(picture: graphviz.Digraph, name: str, layout: Layout, box: Box, *, line: str, fill: str) -> None:
    """A plain box; colours as Graphviz spells them, `none` for none."""
    picture.node(
        name,
        pos=position(box.middle, layout),
        shape="box",
        style="filled",
        label="",
        fixedsize="true",
        width=f"{box.width / POINTS_PER_INCH:.4f}",
        height=f"{box.height / POINTS_PER_INCH:.4f}",
        color=line,
        fillcolor=fill,
    )
