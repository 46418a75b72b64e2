"""One numbered stream of events, with the program's output in its place.

Everything a run says goes through here: `seq` is given here, counts are kept here, and what the
program printed is put in front of the next event.
"""

import io
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import get_ident
from typing import Any, cast

from gradwalk.protocol.events import Event, Problem
from gradwalk.protocol.facts import Fact, Filling, fact
from gradwalk.protocol.graph import Span
from gradwalk.protocol.problems import problem
from gradwalk.tracer.order import TellingOrder

WARNINGS_MAX = 50
"""Distinct ones in a trace."""
_CHUNK_CHARACTERS = 4_096
_ADDRESS = re.compile(r"(?<= at )0x[0-9a-fA-F]+")
_MASKED = "0x…"


def _nothing() -> None:
    return None


class EventStream:
    """Numbers events and hands them on."""

    def __init__(self, emit: Callable[[Event], None], stdout_characters: int, first_seq: int = 0) -> None:
        self._emit = emit
        self._next_seq = first_seq
        self._printed: list[str] = []
        self._printed_characters = 0
        self._stdout_characters_left = stdout_characters
        self._stdout_characters = stdout_characters
        self._warned: dict[tuple[str, str, int | None], tuple[int, int]] = {}
        """By what is said and where: `seq` of its event, and how often."""
        self.order = TellingOrder()
        self.passes = 0
        self.steps = 0
        self.problems = 0
        self.truncated: str | None = None
        self.catch_up: Callable[[], None] = _nothing
        """Tells what happened before, but is not told yet."""

    def send(self, event: dict[str, Any]) -> None:
        """Gives `event` its number and hands it on, after whatever was printed before it."""
        if self._printed:
            self.flush()
        for part in self.order.apart(event):
            self._send(part)

    def send_problem(self, event: Problem) -> int:
        """As `send`, counting; gives the event's number."""
        event["fact"] = _masked(event["fact"])
        if "words" in event:
            event["words"] = mask_addresses(event["words"])
        self.send(cast("dict[str, Any]", event))
        self.problems += 1
        return event["seq"]

    def send_warning(self, category: str, text: str, span: Span | None) -> None:
        """Tells a warning the first time, and counts what is warned of again at the same line."""
        self.catch_up()
        text = mask_addresses(text)
        key = category, text, None if span is None else span["line"]
        if key in self._warned:
            seq, count = self._warned[key]
            self._warned[key] = seq, count + 1
        elif len(self._warned) < WARNINGS_MAX:
            self.flush()
            self._warned[key] = self._next_seq, 1
            self._send({"seq": 0, "type": "warning", "category": category, "text": text, "span": span})

    def end_at(self, limit: str, reached: Problem) -> None:
        """Tells the limit that was hit, if it is the first."""
        if self.truncated is None:
            self.truncated = limit
            self.send_problem(reached)

    def write(self, text: str) -> None:
        """Takes what the program prints, up to the limit."""
        self.catch_up()
        left = self._stdout_characters_left
        if left <= 0:
            return
        text = mask_addresses(text)
        kept = text[:left]
        self._stdout_characters_left -= len(kept)
        self._printed.append(kept)
        self._printed_characters += len(kept)
        if len(text) > left or self._stdout_characters_left == 0 and len(text) == left:
            self._say_print_flood()
        elif self._printed_characters >= _CHUNK_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Hands on what was printed since the last event."""
        text = "".join(self._printed)
        self._printed.clear()
        self._printed_characters = 0
        if text:
            self._send({"seq": 0, "type": "stdout", "text": text})

    def finish(self, notes: Sequence[Fact] = (), caught: Sequence[int] = (), passes: int = 0) -> None:
        """The last event: what was counted, what no pass told, and the problems that the program coped with.

        `passes` is how many ran, recorded or not.
        """
        told: dict[str, Any] = {"notes": [*notes]} if notes else {}
        if passes > self.passes:
            told["unrecorded"] = passes - self.passes
        if caught:
            told["caught"] = [*caught]
        repeated = [{"seq": seq, "count": count} for seq, count in self._warned.values() if count > 1]
        if repeated:
            told["repeated_warnings"] = repeated
        self.send(
            {
                **told,
                "seq": 0,
                "type": "finished",
                "passes": self.passes,
                "steps": self.steps,
                "problems": self.problems - len(caught),
                "truncated": self.truncated,
            }
        )

    def _say_print_flood(self) -> None:
        self.truncated = self.truncated or "stdout_characters"
        self.send_problem(problem("too_big", fact("problem-too-much-printed", count=self._stdout_characters)))

    def _send(self, event: dict[str, Any]) -> None:
        event["seq"] = self._next_seq
        self._emit(cast("Event", event))
        # Only now: where there is no room left to hand it on, the next one has its number.
        self._next_seq += 1


def mask_addresses(text: str) -> str:
    """`<MulBackward0 object at 0x7f…>`: where an object lies differs from run to run, and is nobody's business."""
    return _ADDRESS.sub(_MASKED, text) if " at 0x" in text else text


def _masked(found: Fact) -> Fact:
    """The fact with addresses masked in all that it is filled in with."""
    operands = found.get("operands", {})
    return {**found, "operands": {name: _mask(one) for name, one in operands.items()}} if operands else found


def _mask(operand: Filling) -> Filling:
    if isinstance(operand, str):
        return mask_addresses(operand)
    if isinstance(operand, list):
        return [_mask(one) for one in operand]
    return _masked(operand) if isinstance(operand, dict) and "kind" in operand else operand


class ProgramOutput(io.TextIOBase):
    """Stands in for `sys.stdout` while a program runs."""

    encoding = "utf-8"

    def __init__(self, stream: EventStream) -> None:
        super().__init__()
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._stream.write(text)
        return len(text)


@contextmanager
def overheard(stream: EventStream, on_failure: Callable[[Exception], None]) -> Iterator[None]:
    """Takes what this thread prints, which goes where it went: to the same file, which notes what it is given."""
    file: Any = sys.stdout
    thread, own, listens = get_ident(), getattr(file, "write", None), True

    def write(text: str) -> int:
        written: int = own(text)  # type: ignore[misc]
        if listens and get_ident() == thread:
            try:
                stream.write(text)
            except Exception as error:  # noqa: BLE001 (our own fault must not become the program's)
                on_failure(error)
        return written

    was_replaced = "write" in getattr(file, "__dict__", {})
    try:
        file.write = write
    except AttributeError:  # there is no file, or one that lets nobody listen
        yield
        return
    try:
        yield
    finally:
        listens = False
        if file.write is write and was_replaced:
            file.write = own
        elif file.write is write:
            del file.write
