"""One function per step of the format version, so that every old trace still opens."""

from collections.abc import Callable
from typing import Any

from gradwalk.protocol.document import DOCUMENT, FORMAT, TraceDocument

Upgrade = Callable[[dict[str, Any]], dict[str, Any]]

UPGRADES: dict[int, Upgrade] = {}
"""From version n to n + 1; grows with the first change of format. See README.md beside this file."""


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
