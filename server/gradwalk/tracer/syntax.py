"""What Python's parser says about a program that does not parse, in a student's words."""

import re
from collections.abc import Callable

from gradwalk.protocol.events import Problem
from gradwalk.protocol.facts import Fact, fact
from gradwalk.protocol.graph import Span
from gradwalk.protocol.problems import problem
from gradwalk.tracer.text import Columns

_Instead = Fact | Callable[[str], Fact]
"""What to write; some take the sign that Python's message names."""

_ADVICE: tuple[tuple[str, _Instead], ...] = (
    (r"expected ':'", fact("problem-syntax-colon")),
    (r"'(.)' was never closed", lambda bracket: fact("problem-syntax-unclosed", bracket=bracket)),
    (r"unmatched '(.)'", lambda bracket: fact("problem-syntax-unmatched", bracket=bracket)),
    (r"parenthesis '(.)' does not match", lambda bracket: fact("problem-syntax-brackets", bracket=bracket)),
    (r"'==' (?:or ':=' )?instead of '='", fact("problem-syntax-compare")),
    (r"cannot assign to", fact("problem-syntax-assign")),
    (r"unterminated triple-quoted", fact("problem-syntax-triple-quotes")),
    (r"unterminated (?:f-)?string", fact("problem-syntax-quotes")),
    (r"inconsistent use of tabs", fact("problem-syntax-tabs")),
    (r"unexpected indent", fact("problem-syntax-indented")),
    (r"expected an indented block", fact("problem-syntax-block")),
    (r"unindent does not match", fact("problem-syntax-unindent")),
    (r"forgot a comma", fact("problem-syntax-comma")),
    (r"invalid (?:decimal|imaginary) literal", fact("problem-syntax-times")),
    (r"Missing parentheses in call to 'print'", fact("problem-syntax-print")),
    (r"outside function", fact("problem-syntax-outside")),
    (r"invalid character '[\u00d7\u22c5\u00b7]'", fact("problem-syntax-star")),
    (r"invalid character '\u00f7'", fact("problem-syntax-slash")),
    (r"invalid character '[\u2212\u2013\u2014]'", fact("problem-syntax-minus")),
    (r"invalid character '[\u00b2\u00b3]'", fact("problem-syntax-power")),
    (r"invalid non-printable character", fact("problem-syntax-invisible")),
)
"""By what Python says."""


def explain_syntax_error(error: SyntaxError, columns: Columns, *, offset_in_bytes: bool) -> Problem:
    """The problem of a program that does not parse.

    Args:
        offset_in_bytes: True for what the compiler found later than the parser; it counts UTF-8 bytes.
    """
    span = _span(error, columns, offset_in_bytes=offset_in_bytes)
    said = error.msg.split(" (detected at line")[0]
    return problem("syntax", _told(error, said, _instead(said)), span=span)


def _told(error: SyntaxError, said: str, instead: Fact | None) -> Fact:
    if isinstance(error, IndentationError):
        if instead is None:
            return fact("problem-indentation", text=said)
        return fact("problem-indentation-hint", text=said, instead=instead)
    if instead is None:
        return fact("problem-syntax", text=said)
    return fact("problem-syntax-hint", text=said, instead=instead)


def _instead(said: str) -> Fact | None:
    for pattern, instead in _ADVICE:
        match = re.search(pattern, said)
        if match is not None:
            return instead(match[1]) if callable(instead) else instead
    return None


def _span(error: SyntaxError, columns: Columns, *, offset_in_bytes: bool) -> Span | None:
    """Where the error is; a place without extent is widened to one character, or to the rest of its line."""
    if error.lineno is None:
        return None
    column_of = columns.from_byte if offset_in_bytes else columns.from_character
    line, start = max(error.lineno, 1), max((error.offset or 1) - 1, 0)
    end_line, end = error.end_lineno or line, (error.end_offset or 0) - 1
    if (end_line, end) <= (line, start):
        end_line, end = line, start + 1
    span: Span = {
        "line": line,
        "column": column_of(line, start),
        "end_line": end_line,
        "end_column": column_of(end_line, end),
    }
    if span["line"] == span["end_line"] and span["column"] == span["end_column"]:
        span["column"] = max(0, span["end_column"] - 1)
    return span
