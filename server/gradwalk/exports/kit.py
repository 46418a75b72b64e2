"""The lecture kit's own files, and a trace with everything worked out that its viewer would work out on sight."""

import json
import logging
import subprocess
import sys
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from gradwalk.exports.exporter import ExportUnavailable, Selection
from gradwalk.protocol.document import TraceDocument, encode
from gradwalk.protocol.facts import Fact, fact
from gradwalk.protocol.wire import write_document
from gradwalk.words.catalogue import LANGUAGE, language_spoken

log = logging.getLogger(__name__)

KIT = Path(__file__).parents[1] / "static" / "kit"
MODULE = KIT / "gradwalk.js"
BAKE_SCRIPT = KIT / "bake.js"
HAS_ENGINE = find_spec("py_mini_racer") is not None
BAKER = [sys.executable, "-P", "-m", "gradwalk.exports.baker"]
LONGEST_SECONDS = 60


def write_kit(document: TraceDocument, _selection: Selection) -> bytes:
    """The document and, under `baked`, its layouts and formulas: what `<grad-walk src>` reads fastest."""
    return encode(with_baked(document))


def with_baked(document: TraceDocument) -> dict[str, Any]:
    """The document as it is kept, with `baked` beside its other fields; without it where nothing here can work it out.

    A viewer does the same work by itself then, with what it fetches from the server.
    """
    written = write_document(document)
    baked = bake(written)
    shown: dict[str, Any] = json.loads(written)
    if baked is None:
        return shown
    return {**shown, "baked": {name: part for name, part in baked.items() if name != "stills"}}


def bake(document: bytes) -> dict[str, Any] | None:
    """Layouts and formulas of an encoded document, as `Baked` in frontend/src/embed/baked.ts; None: not here."""
    return _remembered(document, "bake")


def tell(document: bytes) -> dict[str, Any] | None:
    """What is said of an encoded document, as `Told` in frontend/src/embed/baked.ts; None: not here."""
    return _remembered(document, "tell", language_spoken())


_WORKING = [Lock() for _ in range(16)]
"""The same document is never worked out twice at once."""


def _remembered(document: bytes, function: str, language: str = LANGUAGE) -> dict[str, Any] | None:
    """A page with a picture per step asks for the same document as often as it has steps."""
    if not HAS_ENGINE or not BAKE_SCRIPT.is_file():
        return None
    with _WORKING[hash(document) % len(_WORKING)]:
        return work_out(document, function, language)


@lru_cache(maxsize=32)
def work_out(document: bytes, function: str, language: str) -> dict[str, Any] | None:
    """What a function of the front-end's `bake.js` returns, in a process of its own; None after a failure, logged."""
    command = [*BAKER, str(BAKE_SCRIPT), function, language]
    try:
        done = subprocess.run(command, input=document, capture_output=True, timeout=LONGEST_SECONDS)
    except subprocess.TimeoutExpired:
        log.warning("%s: a trace took over %d s to work out", function, LONGEST_SECONDS)
        return None
    if done.returncode:
        log.warning("%s: a trace could not be worked out: %s", function, done.stderr.decode(errors="replace")[-500:])
        return None
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def what_is_missing() -> Fact:
    """Why `bake` or `tell` gave nothing."""
    return fact("export-needs-page") if HAS_ENGINE else fact("extra-missing", name="mini-racer", extra="files")


def read_module() -> str:
    """The player as one ES module.

    Raises:
        ExportUnavailable: the front end has not been built.
    """
    return _read(MODULE)


def read_baker() -> str:
    """The script that works a trace out, for a browser that has to do it.

    Raises:
        ExportUnavailable: the front end has not been built.
    """
    return _read(BAKE_SCRIPT)


def _read(part: Path) -> str:
    if not part.is_file():
        raise ExportUnavailable(fact("export-needs-page"))
    return part.read_text("utf-8")
