"""The trace format as tables, one for each event and each part of one, from the schema of the wire."""

from collections.abc import Iterator
from typing import Any, Final

from gradwalk.protocol.schema import trace_schema

_HEAD: Final = ("| field | is | |", "| --- | --- | --- |")
_OF_EVERY_EVENT: Final = ("seq", "type", "values")


def format_tables() -> str:
    """Markdown: the events in the order of their declaration, then what they are made of."""
    schema = trace_schema()
    definitions: dict[str, Any] = schema["$defs"]
    mapping = schema["properties"]["events"]["items"]["discriminator"]["mapping"]
    events = {_referred(reference): name for name, reference in mapping.items()}
    parts = [name for name, one in definitions.items() if name not in events and "properties" in one]
    sections = ["## Events", *(_section(f"`{events[name]}`", definitions[name]) for name in events)]
    sections += ["## Parts", *(_section(name, definitions[name]) for name in parts)]
    return "\n\n".join(sections)


def _section(title: str, definition: dict[str, Any]) -> str:
    rows = [*_rows(definition)]
    table = ["", *_HEAD, *rows] if rows else []
    return "\n".join([f"### {title}", "", _line(definition.get("description", "")), *table]).rstrip()


def _rows(definition: dict[str, Any]) -> Iterator[str]:
    required = definition.get("required", ())
    for name, field in definition["properties"].items():
        if name in _OF_EVERY_EVENT and "const" in definition["properties"].get("type", {}):
            continue
        is_left_out = name not in required
        says = _line(field.get("description", ""))
        if "default" in field:
            says = f"{says} Left out where it is `{_json(field['default'])}`.".strip()
        yield f"| `{name}`{'?' if is_left_out else ''} | {_type(field)} | {says} |".replace(" |  |", " | |")


def _type(field: dict[str, Any]) -> str:
    if "$ref" in field:
        return _NAMES.get(_referred(field["$ref"]), _referred(field["$ref"]))
    if "const" in field:
        return f"`{_json(field['const'])}`"
    if "enum" in field:
        return ", ".join(f"`{one}`" for one in field["enum"])
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_type(one) for one in field["anyOf"]))
    match field.get("type"):
        case "array":
            return f"list of {_type(field['items'])}" if "items" in field else "list"
        case "object":
            inner = field.get("additionalProperties")
            return f"object of {_type(inner)}" if isinstance(inner, dict) else "object"
        case str(name):
            return name
    return "anything"


_NAMES: Final = {"ValueNumber": "value", "Edge": "edge", "Filling": "operand"}


def _referred(reference: str) -> str:
    return reference.rpartition("/")[2]


def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _json(value: Any) -> str:
    return {None: "null", True: "true", False: "false"}.get(value, str(value)) if not isinstance(value, list) else "[]"
