"""The trace document: header and events, and the content addresses that name it."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict

from gradwalk.protocol.events import Event, Versions
from gradwalk.protocol.numbers import STRICT
from gradwalk.protocol.requests import TraceRequest

FORMAT = 2
ADDRESS_HEX_DIGITS = 40


@with_config(STRICT)
class TraceDocument(TypedDict):
    """A saved trace; replays with no server."""

    format: int
    id: str
    source: str
    options: dict[str, Any]
    versions: Versions
    events: list[Event]


DOCUMENT: TypeAdapter[TraceDocument] = TypeAdapter(TraceDocument)
_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any, config=ConfigDict(ser_json_inf_nan="constants"))


def canonical_request(request: TraceRequest) -> dict[str, Any]:
    """Source with LF endings and every option spelled out, so that equal requests are equal text."""
    source = request.source.replace("\r\n", "\n").replace("\r", "\n")
    options = request.options.model_dump(mode="json", exclude_none=True)
    # orjson writes null for what has to be spelled, and goes through numbers ten times as fast.
    return {"source": source, "options": _spell_non_finite(options) if b"null" in orjson.dumps(options) else options}


def snippet_id(request: TraceRequest) -> str:
    """The address of source and options alone; links built on it outlive upgrades."""
    return _address([canonical_request(request)])


def trace_id(request: TraceRequest, versions: Versions) -> str:
    """The address of one deployment's trace: source, options and versions."""
    return _address([FORMAT, canonical_request(request), dict(versions)])


def assemble_document(events: Sequence[Event]) -> TraceDocument:
    """The document of a finished stream.

    Raises:
        ValueError: the stream does not begin with `started`.
    """
    started = events[0] if events else None
    if started is None or started["type"] != "started":
        raise ValueError("a trace begins with a 'started' event")
    return {
        "format": started["format"],
        "id": started["id"],
        "source": started["source"],
        "options": started["options"],
        "versions": started["versions"],
        "events": list(events),
    }


def join_document(events: Sequence[bytes]) -> bytes:
    """The document of encoded events, the first of which is its header."""
    # json would keep the interpreter for two milliseconds where the program was given numbers.
    return join_events(orjson.loads(events[0]), events)


def join_events(header: Mapping[str, Any], events: Sequence[bytes]) -> bytes:
    """The document of encoded events, with what it says before them taken from `header`."""
    told = {name: header[name] for name in ("format", "id", "source", "options", "versions")}
    return encode(told)[:-1] + b',"events":[' + b",".join(events) + b"]}"


def split_document(document: bytes) -> list[bytes]:
    """The encoded events of a document, byte for byte those that `join_document` was given.

    Each is cut out where it stands: to spell thousands of them anew takes three times as long.
    """
    text = document.decode()
    decode = json.JSONDecoder().raw_decode
    events: list[bytes] = []
    at = 1
    while True:
        name, colon = decode(text, at)
        at = colon + 1
        if name == "events":
            break
        _, comma = decode(text, at)
        at = comma + 1
    while text[at] != "]":
        begin = at + 1
        _, at = decode(text, begin)
        events.append(text[begin:at].encode())
    return events


def encode(value: Any) -> bytes:
    """Compact JSON in UTF-8: the one spelling in which traces are stored, sent and compared.

    A lone surrogate, which a program may print but UTF-8 cannot hold, becomes a question mark.

    Raises:
        ValueError: a number has no JSON form.
    """
    try:
        text = orjson.dumps(value)
    except TypeError:
        # Half a character, a whole number of more than 64 bits, or what only pydantic knows.
        return _encode_anything(value)
    if b"null" in text:
        # orjson writes null for NaN.
        _refuse_non_finite(value, _ANYTHING.dump_json(value))
    return text


def _encode_anything(value: Any) -> bytes:
    try:
        text = _ANYTHING.dump_json(value)
    except ValueError:
        text = _ANYTHING.dump_json(_replace_surrogates(value))
    _refuse_non_finite(value, text)
    return text


def _refuse_non_finite(value: Any, text: bytes) -> None:
    if b"NaN" in text or b"Infinity" in text:
        # Most often a text. The standard library tells, but it takes four times as long for every event.
        json.dumps(value, allow_nan=False)


def _replace_surrogates(value: Any) -> Any:
    if isinstance(value, dict):
        return {_replace_surrogates(name): _replace_surrogates(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_surrogates(each) for each in value]
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _spell_non_finite(value: Any) -> Any:
    """What Python can give and JSON cannot hold, spelled as everywhere in a trace."""
    if isinstance(value, dict):
        return {name: _spell_non_finite(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_spell_non_finite(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _address(parts: list[Any]) -> str:
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()[:ADDRESS_HEX_DIGITS]
