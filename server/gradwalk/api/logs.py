"""What the server says of itself: one line of JSON per event, or the same as text where a person looks.

No program and no value of one is ever written here: of an error from outside only its kind and place are told.
"""

import json
import logging
import sys
import time
import traceback
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Literal

from pydantic import ValidationError

LogFormat = Literal["auto", "json", "text"]
LogLevel = Literal["debug", "info", "warning", "error"]

_context: ContextVar[dict[str, Any] | None] = ContextVar("log context", default=None)
_FIELDS = "fields"
_REQUEST = {"method", "path", "status", "ms"}
"""What is known of a request that has its answer."""
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


def note(**known: Any) -> None:
    """One more thing that is known of the request that is being answered."""
    context = _context.get()
    if context is not None:
        context.update(known)


class JsonLines(logging.Formatter):
    """One JSON object per line: time (UTC), level, logger, event, and whatever is known."""

    def format(self, record: logging.LogRecord) -> str:
        return _to_json({**_head(record), "logger": record.name, **_known(record), **_fault(record)})


class TextLines(logging.Formatter):
    """The same for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        head, known = _head(record), _known(record)
        if known.keys() >= _REQUEST:
            told = "{method} {path} {status}  {ms} ms".format(**known)
        else:
            told = "  ".join(
                filter(None, [head["event"], " ".join(f"{name}={value}" for name, value in known.items())])
            )
        line = f"{head['time'][11:19]} {head['level']:<7} {told}"
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


def _head(record: logging.LogRecord) -> dict[str, Any]:
    return {"time": _utc(record.created), "level": record.levelname.lower(), "event": record.getMessage()}


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
