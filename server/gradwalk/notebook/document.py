"""A finished trace in Python: to work with and to show, saved and loaded as the document that every reader knows."""

import json
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Final

import graphviz

from gradwalk.exports.catalogue import EXPORTERS
from gradwalk.exports.dot import draw_pass
from gradwalk.exports.exporter import LAST_FORWARD_PHASE, LAST_PHASE, Exporter, Selection, Shape, Theme
from gradwalk.exports.walk import write_svg
from gradwalk.notebook.forms import DEFAULT_HEIGHT_PX, Bundle, Forms
from gradwalk.notebook.parts import Pass, Step, passes_of
from gradwalk.notebook.tensors import NamedTensors
from gradwalk.protocol.document import TraceDocument, assemble_document
from gradwalk.protocol.events import Event, Problem
from gradwalk.protocol.merging import merge
from gradwalk.protocol.upgrades import load_document
from gradwalk.protocol.wire import write_document
from gradwalk.words.catalogue import say
from gradwalk.words.extras import import_with_extra

EQUATION_PHASE: Final = 3


class Trace:
    """One trace. Its parts share values and are not meant to be changed.

    >>> trace = gradwalk.trace("x * x", inputs={"x": 3.0})
    >>> trace.passes[0].steps[0].grad_inputs
    (tensor(3.), tensor(3.))
    >>> trace.save("walk.json")
    >>> gradwalk.Trace.load("walk.json").leaf_grads["x"]
    tensor(6.)
    """

    def __init__(self, document: TraceDocument | Callable[[], TraceDocument]) -> None:
        """A document, or what makes it when it is asked for."""
        self._document = document

    @property
    def document(self) -> TraceDocument:
        """The JSON document as Python objects."""
        if callable(self._document):
            self._document = self._document()
        return self._document

    @classmethod
    def from_events(cls, events: Sequence[Event]) -> "Trace":
        """The trace of a finished stream."""
        return cls(assemble_document(events))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Trace":
        """A saved trace of this or an older format.

        Raises:
            OSError: there is no such file.
            ValueError: the file is no trace, or from a newer format.
        """
        try:
            saved = json.loads(Path(path).read_bytes())
        except ValueError as error:
            raise ValueError(say("notebook-no-trace", file=Path(path).name)) from error
        return cls(load_document(saved))

    def to_dict(self) -> dict[str, Any]:
        """The document as it is saved: each value once, referred to by number (`protocol/FORMAT.md`)."""
        return json.loads(write_document(self.document))  # type: ignore[no-any-return]

    def save(
        self,
        path: str | PathLike[str],
        step: int | None = None,
        phase: int = LAST_PHASE,
        *,
        theme: Theme = "light",
        shape: Shape = "16:9",
        transparent: bool = False,
    ) -> None:
        """Writes the document (`walk.json`), or the file that the ending asks for: `walk.html`, `walk.svg`, ...

        The same trace always gives the same bytes. `step` and `phase` choose what a still shows, as in `to_svg`; a PDF
        without a step has a page for each. `theme`, `shape`, `transparent`: how pictures, pages and films look.

        Raises:
            ValueError: no file has that ending.
            NothingToExport, ExportUnavailable: as `to_svg`.
        """
        exporter = _exporter_for(Path(path), is_whole=step is None)
        selection = Selection(step, phase, theme=theme, shape=shape, transparent=transparent)
        Path(path).write_bytes(exporter.make(self.document, selection))

    @property
    def id(self) -> str:
        """The content address."""
        return self.document["id"]

    @property
    def events(self) -> list[Event]:
        """Everything, in order."""
        return self.document["events"]

    @cached_property
    def passes(self) -> tuple[Pass, ...]:
        """The recorded backward passes, in order; `passes[0].steps[3].grad_inputs` are tensors."""
        return passes_of(merge(self.events))

    @property
    def steps(self) -> tuple[Step, ...]:
        """The executed autograd nodes, in order, over all passes."""
        return tuple(sorted((step for one in self.passes for step in one.steps), key=lambda step: step.index))

    @property
    def leaf_grads(self) -> NamedTensors:
        """`.grad` of every named leaf after the last pass that told it."""
        return NamedTensors({name: one for each in self.passes for name, one in each.leaf_grads.written.items()})

    @property
    def problems(self) -> list[Problem]:
        """What went wrong, in order."""
        return [event for event in self.events if event["type"] == "problem"]

    def to_svg(self, step: int | None = None, phase: int = LAST_PHASE, *, theme: Theme = "light") -> str:
        """One still as SVG: 1-based step (0 = before the pass, None = the last), phase 1 to 5.

        Raises:
            NothingToExport: there is no backward pass.
            ExportUnavailable: there is no V8 here.
        """
        return write_svg(self.document, Selection(step, phase, theme=theme)).decode()

    def to_graphviz(self, index: int = 0) -> graphviz.Digraph:
        """The graph of one pass, 0-based: leaves blue, outputs green, modules as clusters, gradients along edges.

        To style and to render; `render` needs the programs of Graphviz, its text does not.

        Raises:
            IndexError: there is no such pass.
        """
        one = self.passes[index]
        return draw_pass(one.written, [step.written for step in one.steps])

    def show(self, step: str = "1.3", height: int = DEFAULT_HEIGHT_PX) -> "View":
        """The player, in whatever runs this cell. `step` is where it opens: `7.3` is step 7, phase 3.

        Raises:
            ValueError: `step` is not of that form, or there is no such step.
        """
        return View(self, step, height)

    def _repr_html_(self) -> str:
        return Forms(self.document, Selection(1, EQUATION_PHASE)).html()

    def __repr__(self) -> str:
        problems = f", {len(self.problems)} problems" if self.problems else ""
        return f"Trace({len(self.steps)} steps{problems}, id={self.id[:12]})"


class View:
    """A trace on show. Its last word in a cell is enough; a host picks the richest form it knows."""

    def __init__(self, trace: Trace, step: str = "1.3", height: int = DEFAULT_HEIGHT_PX) -> None:
        """`step` is where the player opens: `7.3` is step 7, phase 3.

        Raises:
            ValueError: `step` is not of that form, or the trace has no such step.
        """
        self.trace = trace
        self.selection = _read_step(step, sum(event["type"] == "step" for event in trace.events))
        self.height = height

    def widget(self) -> Any:
        """The same as a live widget, whose `step` follows the walk and can be set from Python.

        Raises:
            ImportError: the extra `notebook` is not installed; the sentence says so.
        """
        widgets = import_with_extra("gradwalk.notebook.widget", "notebook")
        return widgets.WalkWidget.of(self.trace.document, self.selection.place, self.height)

    @property
    def _forms(self) -> Forms:
        return Forms(self.trace.document, self.selection, self.height)

    def __repr__(self) -> str:
        return self._forms.text()

    def _repr_html_(self) -> str:
        return self._forms.html()

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> Bundle:
        return self._forms.bundle(include, exclude)


def _read_step(text: str, count: int) -> Selection:
    is_forward = str(text).startswith("f")
    step, _, phase = str(text).removeprefix("f").partition(".")
    last = LAST_FORWARD_PHASE if is_forward else LAST_PHASE
    if not step.isdecimal() or not (phase or "3").isdecimal() or not 1 <= int(phase or 3) <= last:
        raise ValueError(say("notebook-place", text=str(text)))
    if count < int(step) and count and not is_forward:
        raise ValueError(say("export-no-such-step", step=step, count=count))
    return Selection(int(step), int(phase or 3), direction="forward" if is_forward else "backward")


def _exporter_for(path: Path, *, is_whole: bool) -> Exporter:
    """The one for the ending of a path; of two, the whole trace or the still."""
    found = [one for one in EXPORTERS if one.suffix == path.suffix[1:].lower()]
    if not found:
        endings = [*dict.fromkeys(f".{one.suffix}" for one in EXPORTERS)]
        raise ValueError(say("notebook-ending", file=path.name, endings=", ".join(endings)))
    return next((one for one in found if one.is_still is not is_whole), found[0])
