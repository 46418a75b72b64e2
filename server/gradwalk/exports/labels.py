"""Text and colours for Graphviz's HTML-like labels."""

import re
from html import escape

INK, QUIET, PAPER = "#1b2733", "#5b6b7b", "#ffffff"
FORWARD, IN_FLIGHT, ACCUMULATED = "#0072b2", "#b84a00", "#00704f"
FONT = "DejaVu Sans"
INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def text(raw: str) -> str:
    """Escaped for a label; control characters, bidi marks and lone surrogates become visible."""
    return escape(INVISIBLE.sub(lambda match: f"\\u{ord(match.group()):04x}", raw), quote=True)


def row(escaped: str, color: str = INK, size: int | None = None) -> str:
    """One left-aligned line of a label's table."""
    points = f' POINT-SIZE="{size}"' if size else ""
    escaped = escaped or " "  # Graphviz refuses an empty FONT element
    return f'<TR><TD ALIGN="LEFT"><FONT COLOR="{color}"{points}>{escaped}</FONT></TD></TR>'
