"""The lecture kit's own files, and a trace with everything worked out that its viewer would work out on sight."""

import json
from pathlib import Path
from typing import Any

from gradwalk.exports.exporter import ExportUnavailable, Selection
from gradwalk.exports.scene import KIT, SCENE
from gradwalk.protocol.document import TraceDocument, encode
from gradwalk.protocol.facts import fact
from gradwalk.protocol.wire import write_document

MODULE = KIT / "gradwalk.js"
PLUGIN = KIT / "reveal.js"
"""Of reveal.js, as a classic script."""


def write_json(document: TraceDocument, _selection: Selection) -> bytes:
    """The trace as it is stored and served: compact JSON, UTF-8."""
    return write_document(document)


def write_kit(document: TraceDocument, _selection: Selection) -> bytes:
    """The document and, under `baked`, its layouts and formulas: what `<grad-walk src>` reads fastest."""
    return encode(with_baked(document))


def with_baked(document: TraceDocument) -> dict[str, Any]:
    """The document as it is kept, with `baked` beside its other fields; without it where nothing here can work it out.

    A viewer does the same work by itself then, with what it fetches from the server.
    """
    written = write_document(document)
    shown: dict[str, Any] = json.loads(written)
    try:
        return {**shown, "baked": json.loads(SCENE.bake(written))}
    except ExportUnavailable:
        return shown


def read_module() -> str:
    """The player as one ES module; raises as `read_part`."""
    return read_part(MODULE)


def read_part(part: Path) -> str:
    """A script of the kit.

    Raises:
        ExportUnavailable: the front end has not been built.
    """
    if not part.is_file():
        raise ExportUnavailable(fact("export-needs-page"))
    return part.read_text("utf-8")
