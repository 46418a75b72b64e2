"""What the server says of itself: one line of JSON per event, or the same as text where a person looks.

No program and no value of one is ever written here: of an error from outside only its kind and place are told.
"""

import asyncio
import json
import logging
import sys
import time
import traceback
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Literal

import orjson
from pydantic import ValidationError

LogFormat = Literal["auto", "json", "text"]
LogLevel = Literal["debug", "info", "warning", "error"]

_context: ContextVar[dict[str, Any] | None] = ContextVar("log context", default=None)
_FIELDS = "fields"
_SOON_SECONDS = 0.2
_to_json = json.JSONEncoder(separators=(",", ":"), default=str).encode


def configure_logs(wished: LogFormat, level: LogLevel) -> None:
    """Everything that any part of the process logs goes to standard error; `auto` is text in a terminal."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(line_style(wished))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


def fields(**named: Any) -> dict[str, Any]:
    """The `extra` of a log call: values that stand beside the sentence, under their own names."""
    return {_FIELDS: named}


def begin_context(request_id: str) -> dict[str, Any]:
    """What every line of this request's task says from now on: its number, and what becomes known of it."""
    context: dict[str, Any] = {"request_id": request_id}
    _context.set(context)
    return context


class RequestLines:
    """The line of each request; written together several times a second, since a crowd asks thousands of times.

    Lives on the event loop. `flush` at the end.
    """

    def __init__(self, wished: LogFormat) -> None:
        self._style = line_style(wished)
        self._lines: list[str] = []
        self._log = logging.getLogger("gradwalk.requests")
        self._soon: asyncio.TimerHandle | None = None

    def add(self, level: int, known: dict[str, Any]) -> None:
        """One request that was answered."""
        if not self._log.isEnabledFor(level):
            return
        self._lines.append(self._style.request_line(level, known))
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(_SOON_SECONDS, self.flush)

    def flush(self) -> None:
        """Writes what waits."""
        if self._soon is not None:
            self._soon.cancel()
        lines, self._lines, self._soon = self._lines, [], None
        if lines:
            sys.stderr.write("\n".join([*lines, ""]))
            sys.stderr.flush()


def note(**known: Any) -> None:
    """One more thing that is known of the request that is being answered."""
    context = _context.get()
    if context is not None:
        context.update(known)


class JsonLines(logging.Formatter):
    """One JSON object per line: time (UTC), level, logger, event, and whatever is known."""

    def request_line(self, level: int, known: dict[str, Any]) -> str:
        """Of one request, now."""
        now = time.time()
        head = {"time": _utc(now), "level": _told(level), "event": "request", "logger": "gradwalk.requests"}
        return orjson.dumps(head | known).decode()

    def format(self, record: logging.LogRecord) -> str:
        return _to_json({**_head(record), "logger": record.name, **_known(record), **_fault(record)})


class TextLines(logging.Formatter):
    """The same for a terminal."""

    def request_line(self, level: int, known: dict[str, Any]) -> str:
        """Of one request, now."""
        rest = " ".join(str(known[name]) for name in ("method", "path", "status"))
        return f"{_utc(time.time())[11:19]} {_told(level):<7} {_printable(rest)}  {known['ms']} ms"

    def format(self, record: logging.LogRecord) -> str:
        head = _head(record)
        known = " ".join(f"{name}={value}" for name, value in _known(record).items())
        line = f"{head['time'][11:19]} {record.levelname.lower():<7} {head['event']}{'  ' if known else ''}{known}"
        return "\n    ".join(map(_printable, [line, *_fault(record).get("error", [])]))


def _printable(text: str) -> str:
    """Without what would command the terminal or begin another line: such characters as Python writes them."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def line_style(wished: LogFormat) -> JsonLines | TextLines:
    """How lines are written."""
    as_text = wished == "text" or (wished == "auto" and sys.stderr.isatty())
    return TextLines() if as_text else JsonLines()


def _told(level: int) -> str:
    return logging.getLevelName(level).lower()


def _head(record: logging.LogRecord) -> dict[str, Any]:
    return {"time": _utc(record.created), "level": _told(record.levelno), "event": record.getMessage()}


def _utc(seconds: float) -> str:
    return f"{_whole_second(int(seconds))}.{int(seconds % 1 * 1e3):03d}Z"


@lru_cache(maxsize=1)
def _whole_second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def _known(record: logging.LogRecord) -> dict[str, Any]:
    return {**(_context.get() or {}), **getattr(record, _FIELDS, {})}


def _fault(record: logging.LogRecord) -> dict[str, Any]:
    error = record.exc_info[1] if record.exc_info else None
    return {} if error is None else {"error": describe_error(error)}


def describe_error(error: BaseException) -> list[str]:
    """Kind, message and place, innermost cause last; what was validated is not quoted."""
    told = []
    seen: BaseException | None = error
    while seen is not None:
        quotes = isinstance(seen, (ValidationError, UnicodeError))
        told.append(type(seen).__name__ if quotes else f"{type(seen).__name__}: {seen}")
        told += [f"at {at.filename}:{at.lineno} in {at.name}" for at in traceback.extract_tb(seen.__traceback__)]
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return told
