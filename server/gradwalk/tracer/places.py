"""Instructions of the program to spans of its text, and the names its values are given to."""

from types import CodeType

from gradwalk.protocol.graph import Span
from gradwalk.tracer.frames import Place
from gradwalk.tracer.source import Program
from gradwalk.tracer.spans import InstructionPosition


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

    def targets(self, place: Place | None) -> tuple[str | None, ...]:
        """The names that the value made at an instruction is given to, by output index."""
        span = self.span(place)
        if span is None or self._program is None:
            return ()
        return self._program.target_of(span)

    def text(self, place: Place | None, characters_max: int = 40) -> str | None:
        """The program's text at an instruction, on one line, where it is short."""
        span = self.span(place)
        if span is None or self._program is None or span["line"] != span["end_line"]:
            return None
        line = self._program.text.split("\n")[span["line"] - 1]
        text = line.encode("utf-16-le")[2 * span["column"] : 2 * span["end_column"]].decode("utf-16-le", "replace")
        return text if 0 < len(text) <= characters_max else None
