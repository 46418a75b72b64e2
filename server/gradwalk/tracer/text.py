"""The program's text: normalised once, and its columns translated.

Python counts columns in bytes of UTF-8, browsers in UTF-16 units; a `Span` holds the latter.
"""

import ast

from gradwalk.protocol.graph import Operand, Span

BYTE_ORDER_MARK = "\ufeff"


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

    def end_of(self, line: int) -> int:
        """UTF-16 column just after the last character of a 1-based line."""
        return _units(self._lines[line - 1]) if 1 <= line <= len(self._lines) else 0

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


def operator_sides(source: str) -> tuple[str, ...]:
    """The texts of the two sides of `a * b`, as they stand there; empty for what is no operator."""
    try:
        parsed = ast.parse(source.strip(), mode="eval").body
    except SyntaxError:
        return ()
    if not isinstance(parsed, ast.BinOp):
        return ()
    sides = (ast.get_source_segment(source.strip(), side) for side in (parsed.left, parsed.right))
    return tuple(side for side in sides if side is not None)


def called(operand: Operand) -> str:
    """What the program calls an operand; torch's name for it where the program has none."""
    return operand.get("source", operand["name"])
