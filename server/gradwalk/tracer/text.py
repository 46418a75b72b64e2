"""The program's text: normalised once, and its columns translated.

Python counts columns in bytes of UTF-8, browsers in UTF-16 units; a `Span` holds the latter.
"""

import ast
from typing import Final

from gradwalk.protocol.graph import Operand, Span

BYTE_ORDER_MARK = "\ufeff"
LONGEST_TEXT: Final = 40
"""Characters of the program's text that a value is called by."""


def normalise_source(source: str) -> str:
    """The source with LF line ends and no byte order mark that Python would stumble over.

    A leading byte order mark becomes a form feed, which Python skips at the start of a line and which
    is one UTF-16 unit wide too, so columns stay those of the given text.
    """
    text = source.replace("\r\n", "\n").replace("\r", "\n")
    return "\f" + text[1:] if text.startswith(BYTE_ORDER_MARK) else text


class Columns:
    """Translates columns of one normalised text."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._encoded = [None if line.isascii() else line.encode("utf-8", "replace") for line in self._lines]

    def from_byte(self, line: int, byte: int) -> int:
        """UTF-16 column of a 0-based UTF-8 byte column in a 1-based line, clamped to the line."""
        if not 1 <= line <= len(self._lines):
            return 0
        encoded = self._encoded[line - 1]
        if encoded is None:
            return max(0, min(byte, len(self._lines[line - 1])))
        return _units(encoded[: max(byte, 0)].decode("utf-8", "ignore"))

    def from_character(self, line: int, character: int) -> int:
        """UTF-16 column of a 0-based column in code points, clamped to the line."""
        if not 1 <= line <= len(self._lines):
            return 0
        return _units(self._lines[line - 1][: max(character, 0)])

    def span_of_bytes(self, line: int, end_line: int, byte: int, end_byte: int) -> Span:
        """The span between two byte positions (the order of `code.co_positions()`)."""
        return {
            "line": line,
            "column": self.from_byte(line, byte),
            "end_line": end_line,
            "end_column": self.from_byte(end_line, end_byte),
        }


def _units(text: str) -> int:
    return len(text) + sum(1 for character in text if character > "\uffff")


def parse_expression(text: str) -> ast.expr | None:
    """The expression that a piece of the program is; None for a statement."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):
        return None


def bracketed(text: str) -> str:
    """The text as an expression that may go over several lines and end in a comment."""
    return f"({text}\n)"


def short_text(expression: ast.expr, text: str) -> str | None:
    """The expression on one line, as `text` has it, without brackets round the whole; None where it is long."""
    found = ast.get_source_segment(text, expression)
    if found is None:
        return None
    # Python's own printer drops comments with the line breaks.
    line = ast.unparse(expression) if "\n" in found else found
    return line if len(line) <= LONGEST_TEXT else None


def transposed(text: str) -> str | None:
    """`weight.T`, `(a + b).T`."""
    parsed = parse_expression(text)
    is_atom = parsed is None or isinstance(parsed, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    found = f"{text}.T" if is_atom else f"({text}).T"
    return found if len(found) <= LONGEST_TEXT else None


def called(operand: Operand) -> str:
    """What the program calls an operand; torch's name for it where the program has none."""
    return operand.get("source", operand["name"])
