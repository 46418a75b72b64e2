"""Events as they travel and are kept: a value is written once, and stands elsewhere as its number.

In memory an event holds its values. On the wire the event that is the first to need a value brings it along, in
`values`; they are numbered from 0 over the whole trace, and wherever the models say `TensorValue` stands the number.
Both forms come from one declaration: the models are read here with another schema for that one type.
"""

from collections.abc import Iterable
from typing import Any, Final

import orjson
from pydantic import TypeAdapter
from pydantic_core import CoreSchema, SchemaValidator, core_schema, from_json

from gradwalk.protocol.document import DOCUMENT, TraceDocument
from gradwalk.protocol.events import EVENT, Event
from gradwalk.protocol.packed import pack, unpack
from gradwalk.protocol.values import TensorValue

VALUES: Final[TypeAdapter[list[TensorValue]]] = TypeAdapter(list[TensorValue])
_KNOWN_MAX: Final = 50_000


class Writer:
    """Writes the events of one trace, in their order. A value that was written must not be changed."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[TensorValue, int]] = {}
        """By identity, which the value kept beside the number makes sure of."""
        self._numbers: dict[bytes, int] = {}
        """By content."""

    def write(self, event: Event) -> dict[str, Any]:
        """One event, to be encoded."""
        fresh: list[TensorValue] = []
        written: dict[str, Any] = self._numbered(event, fresh)
        if fresh:
            written["values"] = fresh
        return written

    def _numbered(self, part: Any, fresh: list[TensorValue]) -> Any:
        if type(part) is dict:
            if "dtype" in part and "shape" in part:
                return self._number(part, fresh)  # type: ignore[arg-type]
            return {name: self._numbered(one, fresh) for name, one in part.items()}
        if type(part) is list:
            return [self._numbered(one, fresh) for one in part]
        return part

    def _number(self, value: TensorValue, fresh: list[TensorValue]) -> int:
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        written = _packed(value)
        content = orjson.dumps(written)
        number = self._numbers.get(content)
        if number is None:
            number = self._numbers[content] = len(self._numbers)
            fresh.append(written)
        if len(self._known) >= _KNOWN_MAX:
            self._known.clear()
        self._known[id(value)] = value, number
        return number


class Reader:
    """Reads the events of one trace, in their order; equal values are one object."""

    def __init__(self) -> None:
        self._values: list[TensorValue] = []

    def read(self, written: Any) -> Event:
        """The event in memory, of the object that was written.

        Raises:
            ValueError: it breaks the format, or refers to a value that did not come.
        """
        rest, values = _apart(written)
        self._values += map(_unpacked, values)
        event: Event = _EVENT.validate_python(rest, context=self._values.__getitem__)
        return event


class Checker:
    """Checks the events of one trace, in their order, and leaves them in the form in which they were written."""

    def __init__(self) -> None:
        self._count = 0

    def check(self, written: bytes) -> dict[str, Any]:
        """The event that was written.

        Raises:
            ValueError: it breaks the format, or refers to a value that did not come.
        """
        event = from_json(written, allow_inf_nan=False)
        rest, values = _apart(event)
        self._count += len([_unpacked(value) for value in values])
        _EVENT.validate_python(rest, context=self._existing)
        return event  # type: ignore[no-any-return]

    def _existing(self, number: int) -> int:
        if number >= self._count:
            raise IndexError
        return number


def write_document(document: TraceDocument) -> dict[str, Any]:
    """The document, to be encoded."""
    writer = Writer()
    return {**document, "events": [writer.write(event) for event in document["events"]]}


def read_document(written: dict[str, Any]) -> TraceDocument:
    """The document in memory, of the object that was written.

    Raises:
        ValueError: it breaks the format.
    """
    events = written.get("events")
    if not isinstance(events, list):
        raise ValueError("a trace has a list of events")
    document = DOCUMENT.validate_python({**written, "events": []})
    document["events"] = read_events(events)
    return document


def read_events(written: Iterable[Any]) -> list[Event]:
    """The events of a trace in memory, of the objects that were written.

    Raises:
        ValueError: one breaks the format.
    """
    reader = Reader()
    return [reader.read(event) for event in written]


def numbers_for_values(schema: CoreSchema, number: CoreSchema) -> CoreSchema:
    """A schema of models in memory as that of the wire, where `number` stands for a value."""
    changed: Any = dict(schema)
    changed["definitions"] = [
        {**number, "ref": one["ref"]} if one.get("cls") is TensorValue else one for one in changed["definitions"]
    ]
    return changed  # type: ignore[no-any-return]


def _apart(written: Any) -> tuple[dict[str, Any], list[TensorValue]]:
    """An event without its values, and these."""
    if not isinstance(written, dict):
        raise ValueError("an event is a JSON object")
    if "values" not in written:
        return written, []
    rest = {name: part for name, part in written.items() if name != "values"}
    return rest, VALUES.validate_python(written["values"])


def _packed(value: TensorValue) -> TensorValue:
    packed = pack(value["data"], value["dtype"]) if "data" in value else None
    if packed is None:
        return value
    written = value.copy()
    del written["data"]
    written["packed"] = packed
    return written


def _unpacked(value: TensorValue) -> TensorValue:
    if "packed" in value:
        value["data"] = unpack(value.pop("packed"), value["dtype"])
    return value


def _look_up(number: Any, info: core_schema.ValidationInfo) -> Any:
    if type(number) is not int or number < 0:
        raise ValueError("not the number of a value")
    try:
        return info.context(number)  # type: ignore[misc]
    except IndexError as error:
        raise ValueError("the number of a value that did not come") from error


_EVENT: Final = SchemaValidator(
    numbers_for_values(EVENT.core_schema, core_schema.with_info_plain_validator_function(_look_up))
)
