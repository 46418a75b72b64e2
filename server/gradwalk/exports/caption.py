"""What is said below the graph: the operation, its equation, the sentence; large enough for the last row."""

import textwrap

from gradwalk.exports.equation import equation_size, equation_table
from gradwalk.exports.labels import QUIET, row, text
from gradwalk.exports.moment import Moment
from gradwalk.exports.places import Layout
from gradwalk.words.catalogue import say

CAPTION_POINTS = 13
SENTENCE_POINTS, WHERE_POINTS, PADDING = 15, 10, 4
SENTENCE_CHARACTERS = 80
USUAL_WIDTH, USUAL_HEIGHT = 660, 270
"""Points; what title, equation, sentence and place take for most steps, unscaled."""
WORDS_HEIGHT = 110
"""Of these, everything but the equation."""
SLIDE = 9 / 16
"""Height to width of what pictures are mostly shown on."""


def text_scale(moment: Moment, layout: Layout) -> float:
    """How many times its usual size the text has: a wide graph is shown small, and its caption must not be.

    As large as still fits the graph's width and a slide's shape; the same for all phases of a step, and for all steps
    but those whose equation is larger than usual.
    """
    width, height = equation_size(moment)
    across = layout.width / max(USUAL_WIDTH, width)
    down = (layout.width * SLIDE - layout.height) / max(USUAL_HEIGHT, height + WORDS_HEIGHT)
    return max(1.0, round(min(across, down), 2))


def caption(moment: Moment, scale: float) -> str:
    """The label of the picture."""
    said = textwrap.wrap(moment.sentence, SENTENCE_CHARACTERS) or [""]
    title = ""
    node = moment.active_node
    if node is not None:
        line = say("export-line", line=str(node["span"]["line"])) if node["span"] else ""
        title = row(f'<B>{text(node["name"])}</B> <FONT COLOR="{QUIET}">{text(line)}</FONT>')
    rows = [
        title,
        equation_table(moment, scale),
        *(row(text(part), size=SENTENCE_POINTS * scale) for part in said),
        row(text(moment.where), QUIET, size=WHERE_POINTS * scale),
    ]
    padding = round(PADDING * scale)
    return f'<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="{padding}">{"".join(rows)}</TABLE>>'
