"""Events as they travel and are kept: each value once, nothing that goes without saying.

In memory an event holds its values, and every field. On the wire

* the event that is the first to need a value brings it along, in `values`; they are numbered from 0 over the whole
  trace, and wherever the models say `TensorValue` stands the number;
* a field that has its default is left out;
* an edge is a row: its id, producer, output_nr, consumer, argnum.

Both forms come from one declaration: the models are read here with another schema for these two types.
"""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import orjson
from pydantic import TypeAdapter
from pydantic_core import CoreSchema, SchemaValidator, core_schema, from_json

from gradwalk.protocol.document import DOCUMENT, TraceDocument
from gradwalk.protocol.events import EVENT, Event
from gradwalk.protocol.graph import Edge
from gradwalk.protocol.packed import pack, unpack
from gradwalk.protocol.values import Missing, TensorValue

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
        written = self._written(event, _EVENT_TYPES[event["type"]], fresh)
        if fresh:
            written["values"] = fresh
        return written

    def _written(self, part: Any, kind: str, fresh: list[TensorValue]) -> dict[str, Any]:
        fields = _FIELDS[kind]
        written: dict[str, Any] = {}
        for name, value in part.items():
            field = fields.get(name)
            if field is None:
                written[name] = value
            elif field.default is _NONE or value != field.default:
                written[name] = value if field.holds is None else self._placed(value, field.holds, fresh)
        return written

    def _placed(self, part: Any, kind: str, fresh: list[TensorValue]) -> Any:
        if isinstance(part, list):
            return [self._placed(one, kind, fresh) for one in part]
        if not isinstance(part, dict):
            return part
        if kind == _EDGE:
            return _row(part)
        if kind != _VALUE:
            return self._written(part, kind, fresh)
        if "shape" in part:
            return self._number(part, fresh)  # type: ignore[arg-type]
        # Where a value may stand, another object says why there is none.
        return self._written(part, Missing.__name__, fresh)

    def _number(self, value: TensorValue, fresh: list[TensorValue]) -> int:
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        written = packed_value(value)
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
        self._values += map(unpacked_value, values)
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
        self._count += len([unpacked_value(value) for value in values])
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


def nth_value(events: Iterable[bytes], number: int) -> TensorValue | None:
    """A value by its number, as it stands in the encoded events of a trace; None where they have not so many."""
    count = 0
    for event in events:
        if b'"values":' in event:
            values = orjson.loads(event).get("values", ())
            if number < count + len(values):
                found: TensorValue = values[number - count]
                return found
            count += len(values)
    return None


def exchange(schema: Any, types: dict[type, CoreSchema]) -> Any:
    """A schema of models with others in the places of some of their types."""
    if isinstance(schema, dict):
        other = types.get(schema.get("cls"))  # type: ignore[arg-type]
        if other is not None:
            return {**other, "ref": schema["ref"]} if "ref" in schema else other
        return {name: part if name == "metadata" else exchange(part, types) for name, part in schema.items()}
    if isinstance(schema, list):
        return [exchange(part, types) for part in schema]
    return schema


def row_schema() -> CoreSchema:
    """An edge on the wire."""
    text, count = core_schema.str_schema(), core_schema.int_schema(ge=0)
    return core_schema.tuple_schema([text, text, count, text, count], strict=False)


def _row(edge: Any) -> list[Any]:
    producer, consumer = edge["from"], edge["to"]
    return [edge["id"], producer["node"], producer["output_nr"], consumer["node"], consumer["argnum"]]


def _edge(row: Any) -> dict[str, Any]:
    identity, producer, output_nr, consumer, argnum = row
    return {
        "id": identity,
        "from": {"node": producer, "output_nr": output_nr},
        "to": {"node": consumer, "argnum": argnum},
    }


def _apart(written: Any) -> tuple[dict[str, Any], list[TensorValue]]:
    """An event without its values, and these."""
    if not isinstance(written, dict):
        raise ValueError("an event is a JSON object")
    if "values" not in written:
        return written, []
    rest = {name: part for name, part in written.items() if name != "values"}
    return rest, VALUES.validate_python(written["values"])


def packed_value(value: TensorValue) -> TensorValue:
    """A value as it is written: many entries as packed bytes."""
    packed = pack(value["data"], value["dtype"]) if "data" in value else None
    if packed is None:
        return value
    written = value.copy()
    del written["data"]
    written["packed"] = packed
    return written


def unpacked_value(value: TensorValue) -> TensorValue:
    """A value as it was before it was written; changed in place."""
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
    exchange(
        EVENT.core_schema,
        {
            TensorValue: core_schema.with_info_plain_validator_function(_look_up),
            Edge: core_schema.no_info_after_validator_function(_edge, row_schema()),
        },
    )
)


class _Field(NamedTuple):
    """A field that is written otherwise than it stands in memory."""

    holds: str | None
    """The type in it, or in the lists in it: a value, an edge, or one that holds some."""
    default: Any


_NONE: Final = object()
_VALUE, _EDGE = TensorValue.__name__, Edge.__name__


def _read_fields(definitions: dict[str, Any]) -> dict[str, dict[str, _Field]]:
    """Per type the fields that need a look."""
    holders = {_VALUE, _EDGE}
    while True:
        found = {
            kind: {
                name: field for name, one in definition.get("properties", {}).items() if (field := _field(one, holders))
            }
            for kind, definition in definitions.items()
        }
        larger = {_VALUE, _EDGE, *(kind for kind, fields in found.items() if any(one.holds for one in fields.values()))}
        if larger == holders:
            return found
        holders = larger


def _field(schema: dict[str, Any], holders: set[str]) -> _Field | None:
    holds = [name for name in _mentioned(schema) if name in holders]
    default = schema.get("default", _NONE)
    if not holds and default is _NONE:
        return None
    return _Field(_VALUE if _VALUE in holds else holds[0] if holds else None, default)


def _mentioned(schema: Any) -> list[str]:
    """The types that a schema refers to."""
    if isinstance(schema, dict):
        own = [schema["$ref"].rpartition("/")[2]] if "$ref" in schema else []
        return own + [name for key, part in schema.items() if key != "default" for name in _mentioned(part)]
    return [name for part in schema for name in _mentioned(part)] if isinstance(schema, list) else []


_SCHEMA: Final = EVENT.json_schema(mode="serialization")
_FIELDS: Final = _read_fields(_SCHEMA["$defs"])
_EVENT_TYPES: Final = {
    kind: reference.rpartition("/")[2] for kind, reference in _SCHEMA["discriminator"]["mapping"].items()
}
