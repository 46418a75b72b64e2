"""The picture of a link preview: one still, fitted into 1200 x 630 px on white."""

import re

from gradwalk.exports.exporter import ExportUnavailable, Selection
from gradwalk.exports.graphviz_engine import run_graphviz
from gradwalk.exports.moment import find_moment
from gradwalk.exports.picture import draw_picture
from gradwalk.exports.places import POINTS_PER_INCH, find_layouts
from gradwalk.exports.window import PREVIEW, find_view
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.facts import fact

DOTS_PER_INCH = 96
WIDTH_PX, HEIGHT_PX = 1200, 630
MARGIN = 0.96
ZOOM_MAX = 3.0
SIZE = re.compile(rb'<svg width="([\d.]+)pt" height="([\d.]+)pt"')


def write_preview(document: TraceDocument, selection: Selection) -> bytes:
    """A PNG of exactly that size.

    Raises:
        NothingToExport: the trace has no backward pass.
        ExportUnavailable: there is no Graphviz here.
    """
    moment = find_moment(document, selection)
    dot = draw_picture(moment, find_view(find_layouts(document)[moment.started["pass"]], moment, PREVIEW))
    size = SIZE.search(run_graphviz(dot, "svg"))
    if size is None:
        raise ExportUnavailable(fact("export-graphviz-no-size"))
    width, height = WIDTH_PX * POINTS_PER_INCH / DOTS_PER_INCH, HEIGHT_PX * POINTS_PER_INCH / DOTS_PER_INCH
    zoom = min(ZOOM_MAX, MARGIN * min(width / float(size[1]), height / float(size[2])))
    fitted = f'graph [dpi={DOTS_PER_INCH} viewport="{width:g},{height:g},{zoom:.4f}"]'
    return run_graphviz(dot.replace("{", f"{{\n\t{fitted}", 1), "png")
