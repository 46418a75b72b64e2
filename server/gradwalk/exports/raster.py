"""One step and phase, drawn by Graphviz."""

from gradwalk.exports.caption import USUAL_HEIGHT, USUAL_WIDTH, text_scale
from gradwalk.exports.exporter import Selection
from gradwalk.exports.graphviz_engine import run_graphviz
from gradwalk.exports.moment import Moment, find_moment
from gradwalk.exports.picture import draw_picture
from gradwalk.exports.places import POINTS_PER_INCH, Layout, find_layouts
from gradwalk.exports.window import find_view
from gradwalk.protocol.document import TraceDocument

LEAST_DPI, SHARP_DPI = 4, 192
LARGEST_PX = 6000


def draw_still(
    moment: Moment, layout: Layout, file_format: str, travelled: float = 0.5, longest_px: int = LARGEST_PX
) -> bytes:
    """A moment as `svg`, `png` or `pdf`; a PNG's longer side is about `longest_px` at most."""
    layout = find_view(layout, moment)
    dot = draw_picture(moment, layout, travelled)
    if file_format == "png":
        below = USUAL_HEIGHT * text_scale(moment, layout)
        longest = max(layout.width, USUAL_WIDTH, layout.height + below) / POINTS_PER_INCH
        dots_per_inch = max(LEAST_DPI, min(SHARP_DPI, int(longest_px / longest)))
        dot = dot.replace("{", f"{{ graph [dpi={dots_per_inch}]", 1)
    return run_graphviz(dot, file_format)


def write_still(file_format: str, document: TraceDocument, selection: Selection) -> bytes:
    """One step and phase as a drawing."""
    moment = find_moment(document, selection)
    return draw_still(moment, find_layouts(document)[moment.started["pass"]], file_format)
