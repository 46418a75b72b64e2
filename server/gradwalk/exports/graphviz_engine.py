"""Graphviz: the `dot` on the PATH, else the library inside pygraphviz's wheel, always in a process of its own."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import which

from gradwalk.exports.exporter import ExportUnavailable
from gradwalk.protocol.facts import Fact, fact

HAS_LIBRARY = find_spec("pygraphviz") is not None
LIBRARY = [sys.executable, "-P", "-m", "gradwalk.exports.library"]
LONGEST_SECONDS = 60
HERE = Path(__file__).parent
FONTS = {"FONTCONFIG_FILE": str(HERE / "fonts.conf"), "XDG_DATA_HOME": str(HERE.parent / "static")}
"""Where letters are found: those of a server without fonts are in `static/fonts`."""
UNLOADABLE = "ImportError: "

CLOCK = re.compile(rb"/CreationDate ?\([^)]*\)|/ModDate ?\([^)]*\)")


def run_graphviz(dot: str, file_format: str) -> bytes:
    """The DOT laid out as `json0`, or drawn as `svg`, `png` or `pdf`; the same bytes for the same DOT and Graphviz.

    Raises:
        ExportUnavailable: there is no Graphviz here, or it cannot draw this.
    """
    program = which("dot")
    if program is None and not HAS_LIBRARY:
        raise ExportUnavailable(fact("export-needs-graphviz"))
    command = [program, f"-T{file_format}"] if program else [*LIBRARY, file_format]
    # The epoch of reproducible builds: where cairo heeds it, the page carries no date of today.
    surroundings = {**os.environ, **FONTS, "SOURCE_DATE_EPOCH": "0"}
    try:
        done = subprocess.run(
            command, input=dot.encode(), capture_output=True, timeout=LONGEST_SECONDS, env=surroundings, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ExportUnavailable(fact("export-graphviz-late", count=LONGEST_SECONDS)) from error
    if done.returncode or not done.stdout:
        raise ExportUnavailable(_reason(done))
    return CLOCK.sub(_blank, done.stdout)


def _reason(done: subprocess.CompletedProcess[bytes]) -> Fact:
    last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    if last.startswith(UNLOADABLE):
        # The wheel leaves GLib and X11 to the system, which a slim container has not.
        return fact("export-graphviz-unloadable", reason=last.removeprefix(UNLOADABLE))
    return fact("export-graphviz-failed", status=str(done.returncode))


def _blank(match: re.Match[bytes]) -> bytes:
    # same length, so that the offsets in the PDF's cross-reference table stay right
    return re.sub(rb"\d", b"0", match.group())
