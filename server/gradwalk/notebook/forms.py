"""What a notebook shows of a trace, in every form that a host may understand."""

import base64
from collections.abc import Collection
from html import escape
from typing import Any, Final

from gradwalk.exports.catalogue import find_exporter
from gradwalk.exports.exporter import ExportUnavailable, NothingToExport, Selection
from gradwalk.exports.walk import Walk
from gradwalk.notebook.parts import passes_of
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.merging import merge
from gradwalk.words.catalogue import say
from gradwalk.words.problems import tell_problem

DEFAULT_HEIGHT_PX: Final = 560
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
            return Walk(self._document).sentences
        except ExportUnavailable:
            return [step.node.name for one in passes_of(merge(self._document["events"])) for step in one.steps]

    def html(self) -> str:
        """The player over its own picture: where a host takes the frame away, the picture is what remains."""
        words = f"<pre>{escape(self.text())}</pre>"
        has_pass = any(event["type"] == "pass_started" for event in self._document["events"])
        svg, page = self._file("svg"), self._file("html") if has_pass else None
        picture = words if svg is None else self._image(svg)
        if page is None:
            return f"<div>{picture}{words if svg else ''}</div>"
        # Only scripts: what is shown may come from anywhere, the notebook is the reader's own.
        frame = (
            f'<iframe title="{escape(say("export-title"))}" sandbox="allow-scripts" srcdoc="{escape(page.decode())}" '
            'style="position: absolute; inset: 0; width: 100%; height: 100%; border: 0"></iframe>'
        )
        return f'<div style="position: relative; height: {self._height}px; overflow: hidden">{picture}{frame}</div>'

    def _image(self, svg: bytes) -> str:
        said = Walk(self._document).stop(self._selection).said
        source = base64.b64encode(svg).decode()
        style = "max-width: 100%; max-height: 100%"
        return f'<img alt="{escape(said)}" src="data:image/svg+xml;base64,{source}" style="{style}">'

    def bundle(self, include: Collection[str] | None, exclude: Collection[str] | None) -> Bundle:
        """Text, a picture and a self-contained page: no host is left without something it can show.

        The PDF is for nbconvert's way to LaTeX, which stops at an SVG without one where there is no Inkscape.
        """
        svg, pdf = self._file("svg"), self._file("pdf")
        forms: dict[str, Any] = {"text/plain": self.text(), "text/html": self.html()}
        if svg is not None:
            forms["image/svg+xml"] = svg.decode()
        if pdf is not None:
            forms["application/pdf"] = base64.b64encode(pdf).decode()
        wanted = {
            name: form
            for name, form in forms.items()
            if (not include or name in include) and (not exclude or name not in exclude)
        }
        return wanted, {}

    def _file(self, name: str) -> bytes | None:
        exporter = find_exporter(name)
        assert exporter is not None
        try:
            return exporter.write(self._document, self._selection)
        except (ExportUnavailable, NothingToExport):
            return None
