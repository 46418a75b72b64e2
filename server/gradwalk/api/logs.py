"""What the server says of itself: one line of JSON per event, or the same as text where a person looks.

No program and no value of one is ever written here: of an error from outside only its kind and place are told.
"""

import contextlib
import json
import logging
import sys
import time
import traceback
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, Literal

from pydantic import ValidationError

LogFormat = Literal["auto", "json", "text"]
LogLevel = Literal["debug", "info", "warning", "error"]

_context: ContextVar[dict[str, Any] | None] = ContextVar("log context", default=None)
_FIELDS = "fields"
_to_json = json.JSONEncoder(separators=(",", ":"), default=str).encode


def configure_logs(style: LogFormat, level: LogLevel) -> None:
    """Everything that any part of the process logs goes to standard error; `auto` is text in a terminal."""
    as_text = style == "text" or (style == "auto" and sys.stderr.isatty())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(TextLines() if as_text else JsonLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


def fields(**named: Any) -> dict[str, Any]:
    """The `extra` of a log call: values that stand beside the sentence, under their own names."""
    return {_FIELDS: named}


@contextlib.contextmanager
def log_context(context: dict[str, Any]) -> Iterator[None]:
    """What every line says that is written inside: which request, and what became known of it."""
    token = _context.set(context)
    try:
        yield
    finally:
        _context.reset(token)


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
        head = _head(record)
        known = " ".join(f"{name}={value}" for name, value in _known(record).items())
        line = f"{head['time'][11:19]} {record.levelname.lower():<7} {head['event']}{'  ' if known else ''}{known}"
        return "\n    ".join([line, *_fault(record).get("error", [])])


def _head(record: logging.LogRecord) -> dict[str, Any]:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    told = f"{whole}.{int(record.msecs):03d}Z"
    return {"time": told, "level": record.levelname.lower(), "event": record.getMessage()}


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
