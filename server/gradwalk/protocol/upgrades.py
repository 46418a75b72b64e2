"""One function per step of the format version, so that every old trace still opens."""

from collections.abc import Callable
from typing import Any

from gradwalk.protocol.document import DOCUMENT, FORMAT, TraceDocument

Upgrade = Callable[[dict[str, Any]], dict[str, Any]]


def _without_sentences(raw: dict[str, Any]) -> dict[str, Any]:
    """Format 1 carried what is said of each step; since 2 whoever shows a trace says it, of the step's own facts."""
    events = []
    for event in raw.get("events", []):
        kept = {name: value for name, value in event.items() if name not in ("narration", "phases")}
        if "notes" in kept:
            kept["notes"] = [_told(text) for text in kept["notes"]]
        events.append({**kept, "format": 2} if event.get("type") == "started" else kept)
    return {**raw, "format": 2, "events": events}


def _told(text: str) -> dict[str, Any]:
    """What an older version wrote out in English, as a fact."""
    return {"kind": "told", "operands": {"text": text}}


UPGRADES: dict[int, Upgrade] = {1: _without_sentences}
"""From version n to n + 1. See README.md beside this file."""


def load_document(raw: dict[str, Any]) -> TraceDocument:
    """A document of any known version, brought to the newest one and validated.

    Raises:
        ValueError: not a trace, from a newer format, or an object that breaks the format.
    """
    version = raw.get("format")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError("not a gradwalk trace: it has no format version")
    if version > FORMAT:
        raise ValueError(f"this trace has format {version}; this gradwalk reads up to {FORMAT}: upgrade gradwalk")
    while version < FORMAT:
        raw = UPGRADES[version](raw)
        version += 1
    return DOCUMENT.validate_python(raw)
