"""Instructions of the program to spans of its text, and the names its values are given to."""

from types import CodeType

from gradwalk.protocol.facts import Fact, code, fact
from gradwalk.protocol.graph import Span
from gradwalk.tracer.frames import Lines, Place
from gradwalk.tracer.source import Program
from gradwalk.tracer.spans import InstructionPosition
from gradwalk.tracer.text import LONGEST_TEXT


class Places:
    """Looks every instruction up once. Without a program (live tensors) nothing has a place."""

    def __init__(self, program: Program | None) -> None:
        self._program = program
        self._positions: dict[int, tuple[CodeType, list[InstructionPosition]]] = {}
        """By the `id` of a code object, which is kept beside its positions: to hash one takes as long as it is."""
        self._spans: dict[tuple[int, int], Span | None] = {}

    def span(self, place: Place | None) -> Span | None:
        """The sub-expression at an instruction."""
        if place is None or self._program is None:
            return None
        code, offset = place
        key = id(code), offset
        try:
            return self._spans[key]
        except KeyError:
            known = self._positions.get(id(code))
            if known is None:
                known = self._positions[id(code)] = code, list(code.co_positions())
            span = self._spans[key] = self._program.span(known[1][offset // 2]) if offset >= 0 else None
            return span

    def line(self, place: Place | None) -> str | None:
        """The number of the line of an instruction, as facts hold it."""
        span = self.span(place)
        return None if span is None else str(span["line"])

    def may_reach(self, start: Lines, end: Lines) -> bool:
        """Whether a number that is computed at one place can be in what another reads; True where it is not known."""
        return self._program is None or self._program.flow.reaches(start, end)

    def called(self, call: str, place: Place | None) -> Fact:
        """A call of the program, and its line where that is known."""
        line = self.line(place)
        return code(call) if line is None else fact("call-in-line", call=call, line=line)

    def targets(self, place: Place | None) -> tuple[str | None, ...]:
        """The names that the value made at an instruction is given to, by output index."""
        span = self.span(place)
        if span is None or self._program is None:
            return ()
        return self._program.target_of(span)

    def text(self, place: Place | None, characters_max: int = LONGEST_TEXT) -> str | None:
        """The program's text at an instruction, where it is on one line and short."""
        text = self.whole_text(place)
        return text if text is not None and 0 < len(text) <= characters_max and "\n" not in text else None

    def whole_text(self, place: Place | None) -> str | None:
        """The program's text at an instruction, however long."""
        span = self.span(place)
        if span is None or self._program is None:
            return None
        lines = self._program.text.split("\n")[span["line"] - 1 : span["end_line"]]
        if not lines:
            # A file that was changed after Python had read it.
            return None
        lines[-1] = _cut(lines[-1], 0, span["end_column"])
        lines[0] = _cut(lines[0], span["column"], None)
        return "\n".join(lines)


def _cut(line: str, column: int, end_column: int | None) -> str:
    """A piece of a line by columns in UTF-16 units."""
    end = None if end_column is None else 2 * end_column
    return line.encode("utf-16-le")[2 * column : end].decode("utf-16-le", "replace")
