"""What a notebook shows of a trace, in every form that a host may understand."""

import base64
from collections.abc import Collection
from html import escape
from typing import Any, Final

from gradwalk.exports.exporter import ExportUnavailable, NothingToExport, Selection
from gradwalk.exports.html import write_html
from gradwalk.exports.moment import Moment, Walk
from gradwalk.exports.places import find_layouts
from gradwalk.exports.raster import draw_still
from gradwalk.exports.sentences import find_words
from gradwalk.notebook.parts import passes_of
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.merging import merge
from gradwalk.words.catalogue import say
from gradwalk.words.problems import tell_problem

DEFAULT_HEIGHT_PX: Final = 560
PICTURE_PX: Final = 1600
LINES_MAX: Final = 200
Bundle = tuple[dict[str, Any], dict[str, Any]]
"""Data and metadata by MIME type."""


class Forms:
    """Of one trace, opened at one place."""

    def __init__(self, document: TraceDocument, selection: Selection, height: int = DEFAULT_HEIGHT_PX) -> None:
        self._document = document
        self._selection = selection
        self._height = height

    def text(self) -> str:
        """A line per step."""
        steps = [event for event in self._document["events"] if event["type"] == "step"]
        lines = [say("notebook-steps", count=len(steps))]
        lines += [f"{number:>4}  {sentence}" for number, sentence in enumerate(self._sentences()[:LINES_MAX], start=1)]
        if len(steps) > LINES_MAX:
            lines.append(f"      {say('notebook-more', count=len(steps) - LINES_MAX)}")
        problems = [event for event in self._document["events"] if event["type"] == "problem"]
        lines += [f"{told.title}: {told.message}" for told in map(tell_problem, problems)]
        return "\n".join(lines)

    def _sentences(self) -> list[str]:
        try:
            return [step.whole for step in find_words(self._document).steps]
        except ExportUnavailable:
            return [step.node.name for one in passes_of(merge(self._document["events"])) for step in one.steps]

    def html(self) -> str:
        """The player, over its own picture."""
        return self._html(self._picture("svg"))

    def bundle(self, include: Collection[str] | None, exclude: Collection[str] | None) -> Bundle:
        """Text, pictures and a self-contained page: no host is left without something it can show.

        The PDF is for nbconvert's way to LaTeX, which stops at an SVG without one where there is no Inkscape.
        """
        svg = self._picture("svg")
        forms: dict[str, Any] = {"text/plain": self.text(), "text/html": self._html(svg)}
        if svg is not None:
            forms["image/svg+xml"] = svg.decode()
        for name, file_format in (("image/png", "png"), ("application/pdf", "pdf")):
            picture = self._picture(file_format)
            if picture is not None:
                forms[name] = base64.b64encode(picture).decode()
        wanted = {
            name: form
            for name, form in forms.items()
            if (not include or name in include) and (not exclude or name not in exclude)
        }
        return wanted, {}

    def _moment(self) -> Moment | None:
        try:
            return Walk(self._document).moment(self._selection)
        except (ExportUnavailable, NothingToExport):
            return None

    def _picture(self, file_format: str) -> bytes | None:
        moment = self._moment()
        if moment is None:
            return None
        try:
            layout = find_layouts(self._document)[moment.started["pass"]]
            return draw_still(moment, layout, file_format, longest_px=PICTURE_PX)
        except ExportUnavailable:
            return None

    def _html(self, svg: bytes | None) -> str:
        """The player over its own picture: where a host takes the frame away, the picture is what remains."""
        words = f"<pre>{escape(self.text())}</pre>"
        moment = self._moment()
        picture = words
        if svg is not None and moment is not None:
            source = base64.b64encode(svg).decode()
            style = "max-width: 100%; max-height: 100%; background: white"
            picture = f'<img alt="{escape(moment.sentence)}" src="data:image/svg+xml;base64,{source}" style="{style}">'
        page = self._page()
        if page is None:
            return f"<div>{picture}{words if svg else ''}</div>"
        # Only scripts: what is shown may come from anywhere, the notebook is the reader's own.
        frame = (
            f'<iframe title="{escape(say("export-title"))}" sandbox="allow-scripts" srcdoc="{escape(page)}" '
            'style="position: absolute; inset: 0; width: 100%; height: 100%; border: 0"></iframe>'
        )
        return f'<div style="position: relative; height: {self._height}px; overflow: hidden">{picture}{frame}</div>'

    def _page(self) -> str | None:
        if not any(event["type"] == "pass_started" for event in self._document["events"]):
            return None
        try:
            return write_html(self._document, self._selection).decode()
        except ExportUnavailable:
            return None
