"""What Python's parser says about a program that does not parse, in a student's words."""

import re
from typing import NamedTuple

from gradwalk.protocol.events import Problem
from gradwalk.protocol.graph import Span
from gradwalk.protocol.problems import problem
from gradwalk.tracer.text import Columns


class _Advice(NamedTuple):
    pattern: str
    hint: str


_ADVICE = (
    _Advice(r"expected ':'", "A line that opens a block (def, class, for, while, if, else, with) ends with a colon."),
    _Advice(r"'(.)' was never closed", "Add the bracket that closes this '{0}'."),
    _Advice(r"unmatched '(.)'", "This '{0}' closes nothing: remove it, or add the bracket that opens it."),
    _Advice(r"parenthesis '(.)' does not match", "Brackets close in the reverse order of opening; check this '{0}'."),
    _Advice(r"'==' (?:or ':=' )?instead of '='", "Use == to compare; a single = gives a value to a name on its left."),
    _Advice(r"cannot assign to", "On the left of = stands a name, as in y = f(x)."),
    _Advice(r"unterminated triple-quoted", "Close the text with the same three quotes that opened it."),
    _Advice(r"unterminated (?:f-)?string", "Close the text with the same quote that opened it, on the same line."),
    _Advice(r"inconsistent use of tabs", "Indent with spaces only: tabs and spaces are mixed here."),
    _Advice(r"unexpected indent", "This line is indented more than the one before, but no block was opened."),
    _Advice(r"expected an indented block", "Indent the lines that belong to the block, by four spaces."),
    _Advice(r"unindent does not match", "Indent this line exactly as much as another line of the same block."),
    _Advice(r"forgot a comma", "Two values stand side by side: a comma or an operator is missing between them."),
    _Advice(r"invalid (?:decimal|imaginary) literal", "Multiplication is written out: 2 * x, not 2x."),
    _Advice(r"Missing parentheses in call to 'print'", "print is a function: print(y)."),
    _Advice(r"outside function", "This word works only inside a function (def)."),
    _Advice(r"invalid character '[\u2018\u2019\u201c\u201d]'", "Use straight quotes: ' or \"."),
    _Advice(r"invalid character '[\u00d7\u22c5\u00b7]'", "Multiplication is written *."),
    _Advice(r"invalid character '\u00f7'", "Division is written /."),
    _Advice(r"invalid character '[\u2212\u2013\u2014]'", "The minus sign is the plain hyphen: -."),
    _Advice(r"invalid character '[\u00b2\u00b3]'", "Powers are written **: x ** 2."),
    _Advice(r"invalid non-printable character", "An invisible character was pasted in: delete it and type a space."),
)
_NOTEBOOK = (
    _Advice(r"[!]", "A line that begins with ! is a command of a notebook's shell: leave it out."),
    _Advice(r"%", "A line that begins with % is a notebook's own command: leave it out."),
    _Advice(r"(>>>|\.\.\.)", "Leave out the prompts ({0}) that were copied along, and the lines of output below them."),
    _Advice(r"In \[\d*\]:", "Leave out the notebook's marks such as In [1]:."),
)
"""By how the line begins that does not parse."""


def explain_syntax_error(error: SyntaxError, columns: Columns, *, offset_in_bytes: bool) -> Problem:
    """The problem of a program that does not parse.

    Args:
        offset_in_bytes: True for what the compiler found later than the parser; it counts UTF-8 bytes.
    """
    span = _span(error, columns, offset_in_bytes=offset_in_bytes)
    said = error.msg.split(" (detected at line")[0]
    where = "" if span is None else f"Line {span['line']}, column {span['column'] + 1}: "
    title = "Wrong indentation" if isinstance(error, IndentationError) else "This is not valid Python"
    return problem("syntax", title, f"{where}{said}.", span=span, hint=_hint(said, error.text or ""))


def _hint(said: str, line: str) -> str | None:
    found = [(advice, re.match(advice.pattern, line.lstrip())) for advice in _NOTEBOOK]
    found += [(advice, re.search(advice.pattern, said)) for advice in _ADVICE]
    return next((advice.hint.format(*match.groups()) for advice, match in found if match is not None), None)


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
