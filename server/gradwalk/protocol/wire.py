"""Events as they travel and are kept: each value once, nothing that goes without saying.

In memory an event holds its values, and every field. On the wire

* the event that is the first to need a value brings it along, in `values`; they are numbered from 0 over the whole
  trace, and wherever the models say `TensorValue` stands the number;
* a field that has its default is left out;
* so is the `argnum` of an operand where it is its position, and the `label` of a node where it is the name of its
  leaf, or else its `op` without underscores before it;
* an edge is a row: its id, producer, output_nr, consumer, argnum.

Both forms come from one declaration: the models are read here with another schema for these two types.
"""

from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Any, Final

import orjson
from pydantic import TypeAdapter
from pydantic_core import CoreSchema, SchemaValidator, core_schema, from_json

from gradwalk.protocol.document import DOCUMENT, TraceDocument, encode, join_events
from gradwalk.protocol.events import EVENT, Event
from gradwalk.protocol.graph import Edge, Node
from gradwalk.protocol.packed import count_entries, pack, unpack
from gradwalk.protocol.values import Missing, TensorValue

VALUES: Final[TypeAdapter[list[TensorValue]]] = TypeAdapter(list[TensorValue])
_KNOWN_MAX: Final = 50_000
_DIGEST_BYTES: Final = 20


class Writer:
    """Writes the events of one trace, in their order. A value that was written must not be changed."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[TensorValue, int]] = {}
        """By identity, which the value kept beside the number makes sure of."""
        self._numbers: dict[bytes, int] = {}
        """By a digest of the content."""

    def write(self, event: Event) -> bytes:
        """One event, encoded."""
        fresh: list[bytes] = []
        written = self._written(event, _EVENT_KINDS[event["type"]], fresh)
        text = encode(written)
        return text[:-1] + b',"values":[' + b",".join(fresh) + b"]}" if fresh else text

    def _written(self, part: Any, fields: "_Kind", fresh: list[bytes]) -> dict[str, Any]:
        written: dict[str, Any] = part.copy()
        for name, default, kind in fields.fields:
            value = written.get(name, _ABSENT)
            if value is _ABSENT:
                continue
            if value == default:
                del written[name]
            elif kind is not None:
                written[name] = self._placed(value, kind, fresh)
        if fields is _NODES:
            _leave_out(written)
        return written

    def _placed(self, part: Any, kind: "_Kind", fresh: list[bytes]) -> Any:
        if type(part) is list:
            if kind is _EDGES:
                return [*map(_row, part)]
            return [self._placed(one, kind, fresh) for one in part]
        if type(part) is not dict:
            return part
        if kind is not _VALUES:
            return self._written(part, kind, fresh)
        known = self._known.get(id(part))
        if known is not None:
            return known[1]
        # Where a value may stand, another object says why there is none.
        return self._number(part, fresh) if "shape" in part else self._written(part, _MISSING, fresh)

    def _number(self, value: Any, fresh: list[bytes]) -> int:
        content = encode(packed_value(value))
        digest = blake2b(content, digest_size=_DIGEST_BYTES).digest()
        number = self._numbers.get(digest)
        if number is None:
            number = self._numbers[digest] = len(self._numbers)
            fresh.append(content)
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
        for value in values:
            if "packed" in value:
                count_entries(value["packed"], value["dtype"])
        self._count += len(values)
        _EVENT.validate_python(rest, context=self._existing)
        return event  # type: ignore[no-any-return]

    def _existing(self, number: int) -> int:
        if number >= self._count:
            raise IndexError
        return number


def write_document(document: TraceDocument) -> bytes:
    """The document, encoded."""
    writer = Writer()
    return join_events(dict(document), [writer.write(event) for event in document["events"]])


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


Exchange = CoreSchema | Callable[[Any], CoreSchema]
"""A schema, or what makes one of the schema that was there."""


def exchange(schema: Any, types: Mapping[type, Exchange]) -> Any:
    """A schema of models with others in the places of some of their types."""
    if isinstance(schema, list):
        return [exchange(part, types) for part in schema]
    if not isinstance(schema, dict):
        return schema
    other = types.get(schema.get("cls"))  # type: ignore[arg-type]
    if other is None or callable(other):
        inside = {name: part if name == "metadata" else exchange(part, types) for name, part in schema.items()}
        if other is None:
            return inside
        inside.pop("ref", None)
        other = other(inside)
    return {**other, "ref": schema["ref"]} if "ref" in schema else other


def without(*names: str) -> Callable[[Any], CoreSchema]:
    """Makes fields of a type such that they may be left out."""

    def loosened(schema: Any) -> CoreSchema:
        loose = {name: {**schema["fields"][name], "required": False} for name in names}
        return {**schema, "fields": {**schema["fields"], **loose}}

    return loosened


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


def _label(node: Any) -> str:
    """What stands on a node's card, unless it says otherwise."""
    return str(node.get("leaf") or node["op"].lstrip("_") or node["op"])


def _leave_out(node: dict[str, Any]) -> None:
    """Leaves out what follows from the rest of a node that is being written."""
    if node["label"] == _label(node):
        del node["label"]
    node["inputs"] = [
        {name: part for name, part in operand.items() if name != "argnum"} if operand["argnum"] == position else operand
        for position, operand in enumerate(node["inputs"])
    ]


def _fill_in(node: Any) -> Any:
    """A node as it was written, with what was left out; whatever else it may be, it is judged afterwards."""
    try:
        inputs = [{"argnum": position, **operand} for position, operand in enumerate(node["inputs"])]
        return {"label": _label(node), **node, "inputs": inputs}
    except (AttributeError, KeyError, TypeError):
        return node


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
            Node: lambda schema: core_schema.no_info_before_validator_function(_fill_in, schema),
        },
    )
)


_ABSENT: Final = object()


class _Kind:
    """The fields of a type that are written otherwise than they stand in memory."""

    __slots__ = ("fields",)

    def __init__(self) -> None:
        self.fields: list[tuple[str, Any, _Kind | None]] = []
        """Name, default, and the type in it, or in the lists in it: a value, an edge, or one that holds some."""


def _read_kinds(definitions: dict[str, Any]) -> dict[str, _Kind]:
    kinds = {name: _Kind() for name in definitions}
    for name, kind in kinds.items():
        for field, schema in definitions[name].get("properties", {}).items():
            mentioned = _mentioned(schema)
            holds = next((one for one in (TensorValue.__name__, *mentioned) if one in mentioned), None)
            kind.fields.append((field, schema.get("default", _ABSENT), None if holds is None else kinds[holds]))
    return _needed(kinds, {TensorValue.__name__, Edge.__name__})


def _needed(kinds: dict[str, _Kind], written: set[str]) -> dict[str, _Kind]:
    """The same with only those fields that need a look, whatever they hold."""
    looked_into = {id(kinds[name]) for name in written}
    while True:
        found = {
            id(kind)
            for kind in kinds.values()
            if any(default is not _ABSENT or id(holds) in looked_into for _, default, holds in kind.fields)
        }
        if found <= looked_into:
            break
        looked_into |= found
    for kind in kinds.values():
        kind.fields = [
            (name, default, holds if id(holds) in looked_into else None)
            for name, default, holds in kind.fields
            if default is not _ABSENT or id(holds) in looked_into
        ]
    return kinds


def _mentioned(schema: Any) -> list[str]:
    """The types that a schema refers to."""
    if isinstance(schema, dict):
        own = [schema["$ref"].rpartition("/")[2]] if "$ref" in schema else []
        return own + [name for key, part in schema.items() if key != "default" for name in _mentioned(part)]
    return [name for part in schema for name in _mentioned(part)] if isinstance(schema, list) else []


_SCHEMA: Final = EVENT.json_schema(mode="serialization")
_KINDS: Final = _read_kinds(_SCHEMA["$defs"])
_VALUES, _EDGES, _NODES, _MISSING = (_KINDS[one.__name__] for one in (TensorValue, Edge, Node, Missing))
_EVENT_KINDS: Final = {
    kind: _KINDS[reference.rpartition("/")[2]] for kind, reference in _SCHEMA["discriminator"]["mapping"].items()
}
