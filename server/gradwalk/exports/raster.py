"""DOT drawn by Graphviz: the `dot` on the PATH, else the library inside pygraphviz's wheel."""

import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from shutil import which

import graphviz

from gradwalk.exports.exporter import Exporter, ExportUnavailable, Selection
from gradwalk.exports.picture import write_dot
from gradwalk.protocol.document import TraceDocument

HAS_LIBRARY = find_spec("pygraphviz") is not None
LIBRARY = [sys.executable, "-P", "-m", "gradwalk.exports.library"]
LONGEST_SECONDS = 60

CLOCK = re.compile(rb"/CreationDate ?\([^)]*\)|/ModDate ?\([^)]*\)")


def draw(dot: str, file_format: str) -> bytes:
    """The drawing in `svg`, `png` or `pdf`; the same bytes for the same DOT and the same Graphviz.

    Raises:
        ExportUnavailable: there is no Graphviz here, or it cannot draw this.
    """
    if which("dot"):
        drawn = graphviz.Source(dot).pipe(format=file_format)
    elif HAS_LIBRARY:
        done = subprocess.run([*LIBRARY, file_format], input=dot.encode(), capture_output=True, timeout=LONGEST_SECONDS)
        if done.returncode:
            raise ExportUnavailable(f"Graphviz gave up on this picture (status {done.returncode})")
        drawn = done.stdout
    else:
        raise ExportUnavailable("pictures need Graphviz: `pip install pygraphviz`, or a `dot` on the PATH")
    return CLOCK.sub(_blank, drawn)


def _blank(match: re.Match[bytes]) -> bytes:
    # same length, so that the offsets in the PDF's cross-reference table stay right
    return re.sub(rb"\d", b"0", match.group())


def write_still(file_format: str, document: TraceDocument, selection: Selection) -> bytes:
    """One step and phase as a drawing."""
    return draw(write_dot(document, selection).decode(), file_format)


def _still(file_format: str, media_type: str, summary: str) -> Exporter:
    write: Callable[[TraceDocument, Selection], bytes] = partial(write_still, file_format)
    return Exporter(file_format, media_type, file_format, summary, is_still=True, write=write)


STILLS = [
    _still("svg", "image/svg+xml", "One step as a vector picture"),
    _still("png", "image/png", "One step as a picture"),
    _still("pdf", "application/pdf", "One step as a page"),
]
