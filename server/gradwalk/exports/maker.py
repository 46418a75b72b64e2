"""`python -m gradwalk.exports.maker`: makes one file of a trace document, telling how many pages are done.

A process of its own: drawing hundreds of pages keeps a processor busy, and whoever asked may go away before the last.
Reads `{"name", "selection", "bytes"}` and a line break, then that many bytes of the document. Writes lines of JSON:
`{"done", "of"}` after each page; at the end `{"refusal", "fact"}`, or `{"bytes"}` and then the file.
"""

import json
import os
import signal
import sys
import threading
from typing import Any

from gradwalk.exports.catalogue import find_exporter
from gradwalk.exports.exporter import ExportUnavailable, NothingToExport, Selection
from gradwalk.exports.scene import SCENE
from gradwalk.protocol.upgrades import load_document

_NICENESS = 10
"""Programs that people watch go first."""


def main() -> None:
    """One file; ends at once, with everything it has started, when whoever asked is gone."""
    os.nice(_NICENESS)
    asked: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    document = sys.stdin.buffer.read(asked["bytes"])
    threading.Thread(target=_end_when_nobody_waits, daemon=True).start()
    exporter = find_exporter(asked["name"])
    assert exporter is not None
    try:
        body = exporter.make(load_document(json.loads(document)), Selection(**asked["selection"]), _say_pages)
    except (NothingToExport, ExportUnavailable) as refusal:
        _say({"refusal": type(refusal).__name__, "fact": refusal.fact})
        return
    finally:
        # What ended before this process counts as its time; what is killed with it does not.
        SCENE.end()
    _say({"bytes": len(body)})
    _write(body)


def _say_pages(done: int, of: int) -> None:
    _say({"done": done, "of": of})


def _say(news: dict[str, Any]) -> None:
    _write(json.dumps(news).encode() + b"\n")


def _write(data: bytes) -> None:
    # `sys.stdout.buffer` of an unbuffered Python may write only a part.
    with open(sys.stdout.fileno(), "wb", closefd=False) as pipe:
        pipe.write(data)


def _end_when_nobody_waits() -> None:
    # Nothing more is ever written here: the pipe ends when the other process lets go of it, or dies.
    os.read(sys.stdin.fileno(), 1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
