"""Text and colours for Graphviz's HTML-like labels."""

import re
from html import escape

INK, QUIET, PAPER = "#1b2733", "#5b6b7b", "#ffffff"
FORWARD, IN_FLIGHT, ACCUMULATED = "#0072b2", "#b84a00", "#00704f"
FONT, MONO = "DejaVu Sans", "DejaVu Sans Mono"
INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def text(raw: str) -> str:
    """Escaped for a label; control characters, bidi marks and lone surrogates become visible, nothing a space."""
    visible = INVISIBLE.sub(lambda match: f"\\u{ord(match.group()):04x}", raw)
    return escape(visible, quote=True) or " "  # Graphviz refuses an empty FONT element


def row(escaped: str, color: str = INK, size: float | None = None, face: str | None = None) -> str:
    """One left-aligned line of a label's table."""
    points = f' POINT-SIZE="{size:g}"' if size else ""
    letters = f' FACE="{face}"' if face else ""
    return f'<TR><TD ALIGN="LEFT"><FONT COLOR="{color}"{points}{letters}>{escaped}</FONT></TD></TR>'
