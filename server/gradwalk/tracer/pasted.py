r"""Text as people paste it, made into text that Python can parse. No torch.

What was not Python is left out: a notebook's commands, prompts and what they printed, curly quotes, invisible
characters, tabs among spaces. Every line stays where it is, and so does every column: what comes before a line's code
becomes spaces and a form feed, after which Python counts the indentation anew, so that `>>> x = 1` is read as
`   \fx = 1`.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Final

_PROMPT: Final = re.compile(r"[ \t\f]*(?:>>>|(?:In ?)?\[[\d* ]*\]:) ?")
_CONTINUED: Final = re.compile(r"[ \t\f]*(?:\.\.\.:?) ?")
_CONTINUED_ALONE: Final = re.compile(r"[ \t\f]*\.\.\. +(?=\S)")
"""Where no `>>>` was copied along."""
_PRINTED: Final = re.compile(r"[ \t\f]*Out ?\[[\d* ]*\]:")
_CELL: Final = re.compile(r"# ?(?:%%|In ?\[)")
_COMMAND: Final = re.compile(
    r"!(?!=)|%%?[a-zA-Z]|\$ |pip3? (?:un)?install\b|conda install\b|\?+[\w.]+\s*$|[\w.]+\?{1,2}\s*$|```\w*\s*$"
)
_TIMED: Final = re.compile(r"%(?:time|timeit|prun)(?: -\w+ ?\d*)* +(?=[^-\s])")
"""A magic whose rest is a statement."""
_FOREIGN: Final = re.compile(
    r"%%(?:bash|cmd|file|html|javascript|js|latex|markdown|perl|ruby|script|sh|sql|svg|system|writefile|!)"
)
"""A cell that is not Python."""
_SINGLE: Final = "\u2018\u2019\u201a\u201b"
_DOUBLE: Final = "\u201c\u201d\u201e\u201f"
_SPACES: Final = "\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000"
_NOTHING: Final = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_STRAIGHT: Final = str.maketrans(
    dict.fromkeys(_SINGLE, "'") | dict.fromkeys(_DOUBLE, '"') | dict.fromkeys(_SPACES + _NOTHING, " ")
)


def _quoted(pattern: str) -> str:
    """Matches strings between quotes: of one sort first, then those that were made curly at one end only."""
    return "|".join(
        pattern.format(start=start, end=end)
        for straight, curly in (("'", _SINGLE), ('"', _DOUBLE))
        for start, end in ((straight, straight), (curly, curly), (straight, curly), (curly, straight))
    )


_LONG: Final = _quoted(r"(?:[{start}]){{3}}(?:\\(?s:.)|[^\\])*?(?:[{end}]){{3}}")
_SHORT: Final = _quoted(r"[{start}](?:\\(?s:.)|[^\\\n{end}])*[{end}]")
_TOKEN: Final = re.compile(rf"(?P<long>{_LONG})|(?P<short>{_SHORT})|(?P<comment>#[^\n]*)|\\(?s:.)|[^\w \t]")
_TAB_SIZES: Final = (4, 8)
_LONGEST_ENTRY: Final = 100
"""Lines that are asked whether they go on in the next one."""


def straighten(text: str) -> str:
    """The program that a text which does not parse was probably copied from, lines and columns kept.

    It need not parse either.
    """
    text, starts = _without_typography("\n".join(_code_lines(text)))
    return text if _parses(text) else _indented_anew(text, starts) or text


def _parses(text: str) -> bool:
    return _complaint(text) is None


def _complaint(text: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return error.msg
    except (RecursionError, MemoryError, ValueError) as error:
        return str(error) or "too much"
    return None


def _code_lines(text: str) -> Iterator[str]:
    """Each line without prompts and commands; empty where none of it is code."""
    is_code = True
    is_prompted = is_foreign = ends_in_backslash = False
    entered: list[str] = []
    """The lines since the last prompt."""
    strings = _Strings()
    for line in text.split("\n"):
        if strings.are_open:
            strings.read(line)
            entered.append(line)
            yield line
            continue
        prompt = _PROMPT.match(line)
        if prompt:
            is_prompted, is_foreign, entered = True, False, []
            # A notebook's prompt on a line of its own stands above its cell, any other before its line.
            is_code = prompt.end() == len(line.rstrip()) and ">" not in prompt[0]
        elif _PRINTED.match(line):
            is_prompted, is_code, entered = True, False, []
        elif _CELL.match(line):
            is_code, is_foreign = True, False
        elif is_prompted and not is_code:
            prompt = _CONTINUED.match(line)
        else:
            prompt = _CONTINUED_ALONE.match(line)
        is_output = is_prompted and not is_code and prompt is None and not _is_unfinished(entered)
        if ends_in_backslash or is_foreign or is_output:
            ends_in_backslash = ends_in_backslash and line.endswith("\\")
            yield ""
            continue
        is_foreign = _FOREIGN.match(line[prompt.end() :] if prompt else line) is not None
        code = _without_command(line, prompt.end() if prompt else 0)
        ends_in_backslash = code != line and line.endswith("\\") and not code.endswith("\\")
        entered.append(code)
        strings.read(code)
        yield code


def _without_command(line: str, start: int) -> str:
    """A line whose code begins at `start`."""
    code = line[start:]
    statement = code.lstrip(" \t\f")
    indentation = code[: len(code) - len(statement)]
    timed = _TIMED.match(statement)
    if timed:
        return _blank(start + timed.end()) + indentation + statement[timed.end() :]
    if _COMMAND.match(statement):
        # A block must not become empty.
        return _blank(start) + indentation + "pass" if indentation.strip("\f") else ""
    return _blank(start) + code


def _blank(width: int) -> str:
    return " " * (width - 1) + "\f" if width else ""


def _is_unfinished(entered: list[str]) -> bool:
    """Whether what was entered at a prompt goes on in the next line, prompt or not."""
    if not 0 < len(entered) <= _LONGEST_ENTRY:
        return False
    complaint = _complaint("\n".join(entered)) or ""
    return "was never closed" in complaint or "unterminated triple-quoted" in complaint


class _Strings:
    """Whether a string of three quotes is open, line by line, as far as can be told without knowing what is code."""

    def __init__(self) -> None:
        self._quotes = ""

    @property
    def are_open(self) -> bool:
        return bool(self._quotes)

    def read(self, line: str) -> None:
        for found in re.finditer(r"\\.|\"\"\"|'''|#", line):
            if found[0] == "#" and not self._quotes:
                return
            if found[0] == self._quotes:
                self._quotes = ""
            elif not self._quotes and found[0][0] in "\"'":
                self._quotes = found[0]


def _without_typography(text: str) -> tuple[str, list[bool]]:
    """The text with straight quotes and plain spaces outside of strings, and which of its lines begin a statement."""
    starts = [True]
    brackets = 0

    def read(found: re.Match[str]) -> str:
        nonlocal brackets
        token = found[0]
        brackets += (token in "([{") - (token in ")]}")
        starts.extend([token == "\n" and brackets <= 0] * token.count("\n"))
        if found["long"] or found["short"]:
            width = 3 if found["long"] else 1
            quotes = token[0].translate(_STRAIGHT) * width
            return quotes + token[width:-width] + quotes
        return token if found["comment"] else token.translate(_STRAIGHT)

    straight = _TOKEN.sub(read, text)
    lines = zip(straight.split("\n"), text.split("\n"), starts, strict=True)
    return "\n".join(_without_nothing(line, before) if is_start else line for line, before, is_start in lines), starts


def _without_nothing(line: str, typed: str) -> str:
    """The line without the width that invisible characters give to its indentation."""
    width = len(typed) - len(typed.lstrip(" \t\f" + _SPACES + _NOTHING))
    count = sum(typed[:width].count(each) for each in _NOTHING)
    if not count:
        return line
    kept = "".join(one for one, was in zip(line[:width], typed[:width], strict=True) if was not in _NOTHING)
    return "\f" * count + kept + line[width:]


def _indented_anew(text: str, starts: list[bool]) -> str | None:
    """The text with one space a level; None where tabs can be read in no way, or in several."""
    lines = text.split("\n")
    readings: list[list[int | None]] = []
    for size in _TAB_SIZES:
        levels = _levels(lines, starts, size)
        if levels is not None and levels not in readings and _parses(_indented(lines, levels)):
            readings.append(levels)
    if len(readings) != 1:
        return None
    [levels] = readings
    widths = [len(line) - len(line.lstrip(" \t\f")) for line in lines]
    if any(level is not None and level > width for level, width in zip(levels, widths, strict=True)):
        return None
    indented = _indented(lines, levels).split("\n")
    return "\n".join("\f" * (len(line) - len(anew)) + anew for line, anew in zip(lines, indented, strict=True))


def _indented(lines: list[str], levels: list[int | None]) -> str:
    return "\n".join(
        line if level is None else " " * level + line.lstrip(" \t\f") for line, level in zip(lines, levels, strict=True)
    )


def _levels(lines: list[str], starts: list[bool], tab_size: int) -> list[int | None] | None:
    """How many blocks each statement is inside of, None for other lines; None where blocks end nowhere."""
    levels: list[int | None] = []
    columns: list[int] = []
    for line, is_start in zip(lines, starts, strict=True):
        code = line.lstrip(" \t\f")
        if not is_start or not code or code.startswith("#"):
            levels.append(None)
            continue
        indentation = line[: len(line) - len(code)].rpartition("\f")[2]
        column = len(indentation.expandtabs(tab_size))
        if not columns or column > columns[-1]:
            columns.append(column)
        while column < columns[-1]:
            columns.pop()
            if not columns or column > columns[-1]:
                return None
        levels.append(len(columns) - 1)
    return levels
