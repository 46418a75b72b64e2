"""A finished trace in Python: what was recorded, saved and loaded as the document that every reader knows."""

import json
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

from gradwalk.exports.exporter import LAST_PHASE, Selection
from gradwalk.exports.raster import write_still
from gradwalk.protocol.document import TraceDocument, assemble_document, encode
from gradwalk.protocol.events import Event, Problem, Step
from gradwalk.protocol.merging import merge
from gradwalk.protocol.upgrades import load_document
from gradwalk.protocol.wire import write_document


class Trace:
    """One trace. Its parts share values and are not meant to be changed."""

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
        return cls(load_document(json.loads(Path(path).read_text(encoding="utf-8"))))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the document; the same trace always gives the same bytes."""
        Path(path).write_bytes(encode(write_document(self.document)))

    @property
    def id(self) -> str:
        """The content address."""
        return self.document["id"]

    @property
    def events(self) -> list[Event]:
        """Everything, in order."""
        return self.document["events"]

    @property
    def steps(self) -> list[Step]:
        """The executed autograd nodes, in order, over all passes."""
        return [event for event in merge(self.events) if event["type"] == "step"]

    @property
    def problems(self) -> list[Problem]:
        """What went wrong, in order."""
        return [event for event in self.events if event["type"] == "problem"]

    def to_svg(self, step: int | None = None, phase: int = LAST_PHASE) -> str:
        """One still as SVG: 1-based step (0 = before the pass, None = the last), phase 1 to 5.

        Raises:
            NothingToExport: there is no backward pass.
            ExportUnavailable: there is no Graphviz here.
        """
        return write_still("svg", self.document, Selection(step, phase)).decode()

    def __repr__(self) -> str:
        problems = f", {len(self.problems)} problems" if self.problems else ""
        return f"Trace({len(self.steps)} steps{problems}, id={self.id[:12]})"
