"""What a notebook shows: one object that says in every form a host may understand how a backward pass went."""

import base64
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from typing import Any

import torch

from gradwalk.exports.catalogue import find_exporter
from gradwalk.exports.exporter import LAST_FORWARD_PHASE, LAST_PHASE, ExportUnavailable, NothingToExport, Selection
from gradwalk.exports.moment import Moment, Walk
from gradwalk.exports.places import find_layouts
from gradwalk.exports.raster import draw_still
from gradwalk.exports.sentences import find_words
from gradwalk.notebook.document import Trace
from gradwalk.notebook.grads import grads_kept
from gradwalk.notebook.recording import LimitsLike, trace_tensors
from gradwalk.words.catalogue import say
from gradwalk.words.problems import tell_problem

DEFAULT_HEIGHT_PX = 560
PICTURE_PX = 1600
LINES_MAX = 200
Forms = tuple[dict[str, Any], dict[str, Any]]
"""Data and metadata by MIME type."""


def show(
    shown: torch.Tensor | Sequence[torch.Tensor] | Trace,
    grad_outputs: torch.Tensor | Sequence[torch.Tensor | None] | None = None,
    *,
    params: Mapping[str, torch.Tensor] | Iterable[tuple[str, torch.Tensor]] | None = None,
    step: str = "1.3",
    height: int = DEFAULT_HEIGHT_PX,
    limits: LimitsLike = None,
) -> "View":
    """Shows a trace, or the backward pass of live tensors, in whatever runs this cell. No server, no network.

    Live tensors are walked through by one real backward whose graph is retained; every `.grad` is afterwards what it
    was before, so `loss.backward()` can follow. `params` takes what `model.named_parameters()` gives, as torchviz's
    `make_dot` does; without it leaves are called by the caller's variables. `step` is where the player opens: `7.3` is
    step 7, phase 3.

    Raises:
        ValueError: `step` is not of that form.
    """
    if isinstance(shown, Trace):
        return View(shown, step, height)
    caller = sys._getframe(1)  # noqa: SLF001 (the only way to the caller's names)
    names = {**caller.f_globals, **caller.f_locals} if params is None else dict(params)
    outputs = [shown] if isinstance(shown, torch.Tensor) else list(shown)
    with grads_kept(outputs):
        trace = trace_tensors(outputs, grad_outputs, retain_graph=True, limits=limits, params=names)
    return View(trace, step, height)


class View:
    """A trace on show. Its last word in a cell is enough; a host picks the richest form it knows."""

    def __init__(self, trace: Trace, step: str = "1.3", height: int = DEFAULT_HEIGHT_PX) -> None:
        self.trace = trace
        self.selection = _read_step(step)
        self.height = height

    def widget(self) -> Any:
        """The same as a live widget, whose `step` follows the walk and can be set from Python.

        Raises:
            ImportError: anywidget is not installed here.
        """
        try:
            widgets = import_module("gradwalk.notebook.widget")
        except ImportError as error:
            raise ImportError(say("notebook-needs-anywidget")) from error
        return widgets.WalkWidget.of(self.trace, self.selection.place, self.height)

    def __repr__(self) -> str:
        steps = self.trace.steps
        lines = [say("notebook-steps", count=len(steps))]
        lines += [f"{number:>4}  {sentence}" for number, sentence in enumerate(self._sentences()[:LINES_MAX], start=1)]
        if len(steps) > LINES_MAX:
            lines.append(f"      {say('notebook-more', count=len(steps) - LINES_MAX)}")
        lines += [f"{told.title}: {told.message}" for told in map(tell_problem, self.trace.problems)]
        return "\n".join(lines)

    def _sentences(self) -> list[str]:
        try:
            return [step.whole for step in find_words(self.trace.document).steps]
        except ExportUnavailable:
            passes = [event for event in self.trace.events if event["type"] == "pass_started"]
            names = {node["id"]: node["name"] for one in passes for node in one["graph"]["nodes"]}
            return [names[step["node"]] for step in self.trace.steps]

    def _repr_html_(self) -> str:
        return self._html(self._picture("svg"))

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> Forms:
        """Text, pictures and a self-contained page: no host is left without something it can show.

        The PDF is for nbconvert's way to LaTeX, which stops at an SVG without one where there is no Inkscape.
        """
        svg = self._picture("svg")
        forms: dict[str, Any] = {"text/plain": repr(self), "text/html": self._html(svg)}
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
            return Walk(self.trace.document).moment(self.selection)
        except NothingToExport:
            return None

    def _picture(self, file_format: str) -> bytes | None:
        moment = self._moment()
        if moment is None:
            return None
        try:
            layout = find_layouts(self.trace.document)[moment.started["pass"]]
            return draw_still(moment, layout, file_format, longest_px=PICTURE_PX)
        except ExportUnavailable:
            return None

    def _html(self, svg: bytes | None) -> str:
        """The player over its own picture: where a host takes the frame away, the picture is what remains."""
        words = f"<pre>{escape(repr(self))}</pre>"
        moment = self._moment()
        picture = words
        if svg is not None and moment is not None:
            source = base64.b64encode(svg).decode()
            style = "max-width: 100%; max-height: 100%; background: white"
            picture = f'<img alt="{escape(moment.sentence)}" src="data:image/svg+xml;base64,{source}" style="{style}">'
        page = self._page() if moment is not None else None
        if page is None:
            return f"<div>{picture}{words if svg else ''}</div>"
        # Only scripts: what is shown may come from anywhere, the notebook is the reader's own.
        frame = (
            f'<iframe title="{escape(say("export-title"))}" sandbox="allow-scripts" srcdoc="{escape(page)}" '
            'style="position: absolute; inset: 0; width: 100%; height: 100%; border: 0"></iframe>'
        )
        return f'<div style="position: relative; height: {self.height}px; overflow: hidden">{picture}{frame}</div>'

    def _page(self) -> str | None:
        exporter = find_exporter("html")
        if exporter is None:
            return None
        try:
            return exporter.write(self.trace.document, self.selection).decode()
        except (ExportUnavailable, NothingToExport):
            return None


def _read_step(text: str) -> Selection:
    is_forward = str(text).startswith("f")
    step, _, phase = str(text).removeprefix("f").partition(".")
    last = LAST_FORWARD_PHASE if is_forward else LAST_PHASE
    if not step.isdecimal() or not (phase or "3").isdecimal() or not 1 <= int(phase or 3) <= last:
        raise ValueError(say("notebook-place", text=str(text)))
    return Selection(int(step), int(phase or 3), direction="forward" if is_forward else "backward")
