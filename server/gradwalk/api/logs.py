"""What the server says of itself: one line of JSON per event, or the same as text where a person looks.

No program and no value of one is ever written here: of an error from outside only its kind and place are told.
"""

import logging
import sys
import traceback
from typing import Any, Literal

from pydantic import ValidationError
from structlog.contextvars import merge_contextvars
from structlog.dev import ConsoleRenderer
from structlog.processors import JSONRenderer, TimeStamper
from structlog.stdlib import ProcessorFormatter, add_log_level, add_logger_name
from structlog.typing import EventDict, Processor

LogFormat = Literal["auto", "json", "text"]
LogLevel = Literal["debug", "info", "warning", "error"]

_FIELDS = "fields"


def configure_logs(wished: LogFormat, level: LogLevel) -> None:
    """Everything that any part of the process logs goes to standard error; `auto` is text in a terminal."""
    is_text = wished == "text" or (wished == "auto" and sys.stderr.isatty())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(ProcessorFormatter(processors=[*_GATHERING, *(_AS_TEXT if is_text else _AS_JSON)]))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


def fields(**named: Any) -> dict[str, Any]:
    """The `extra` of a log call: values that stand beside the sentence, under their own names."""
    return {_FIELDS: named}


def _add_fields_and_error(_logger: object, _level: str, event: EventDict) -> EventDict:
    """What `extra` names on purpose: libraries put more than that into it."""
    error = event.pop("exc_info", None)
    told = {} if error is None else {"error": describe_error(error[1])}
    return {**event, **getattr(event["_record"], _FIELDS, {}), **told}


def _escape(_logger: object, _level: str, event: EventDict) -> EventDict:
    """Fields are written as Python writes them; the sentence, and an error below it, as they are."""
    error = "\n".join(f"    {_printable(line)}" for line in event.pop("error", ()))
    return {**event, "event": _printable(event["event"]), **({"exception": error} if error else {})}


def _printable(text: str) -> str:
    """Without what would command the terminal or begin another line: such characters as Python writes them."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


_GATHERING: tuple[Processor, ...] = (
    TimeStamper(fmt="iso", key="time"),
    add_log_level,
    add_logger_name,
    merge_contextvars,
    _add_fields_and_error,
    ProcessorFormatter.remove_processors_meta,
)
_AS_JSON = (JSONRenderer(separators=(",", ":")),)
_AS_TEXT = (
    _escape,
    ConsoleRenderer(colors=False, pad_event_to=0, sort_keys=False, timestamp_key="time", repr_native_str=True),
)


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
