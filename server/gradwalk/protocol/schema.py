"""JSON Schema of a trace document and of what the server answers besides; TypeScript types are generated from both."""

import ast
import inspect
import json
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from gradwalk.protocol.answers import GradcheckReport
from gradwalk.protocol.document import DOCUMENT
from gradwalk.protocol.graph import Edge, Node, Operand
from gradwalk.protocol.values import TensorValue
from gradwalk.protocol.wire import VALUES, Exchange, exchange, row_schema, without

_NUMBER = "ValueNumber"


class DescribedSchema(GenerateJsonSchema):
    """A schema with the attribute docstrings of the objects of the protocol, its keys in order of declaration.

    pydantic's `use_attribute_docstrings` would read the source again whenever an adapter is built: a second in
    every process that starts.
    """

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        described = super().typed_dict_schema(schema)
        for name, text in _attribute_docstrings(schema["cls"]):
            described["properties"][name].setdefault("description", text)
        return described

    def sort(self, value: Any, parent_key: str | None = None) -> Any:  # noqa: ARG002 (the base class names it)
        return value


def trace_schema() -> dict[str, Any]:
    """The schema of a document as it is kept and sent, keys in order of declaration."""
    written: dict[type, Exchange] = {
        TensorValue: core_schema.int_schema(ge=0),
        Edge: row_schema(),
        Node: without("label"),
        Operand: without("argnum"),
    }
    schema = _renamed(_json_schema(exchange(DOCUMENT.core_schema, written)), TensorValue.__name__, _NUMBER)
    values = _json_schema(VALUES.core_schema)
    definitions = {**values.pop("$defs"), **schema["$defs"]}
    for reference in schema["properties"]["events"]["items"]["discriminator"]["mapping"].values():
        event = definitions[reference.rpartition("/")[2]]
        event["properties"]["values"] = {**values, "description": "Those that this event is the first to refer to."}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "$defs": definitions}


def page_schema() -> dict[str, Any]:
    """The schema of a document in memory, with what else the page reads among its definitions."""
    schema = _json_schema(DOCUMENT.core_schema)
    for definition in schema["$defs"].values():
        # In memory nothing is left out.
        defaults = [name for name, field in definition.get("properties", {}).items() if "default" in field]
        definition["required"] = [*definition.get("required", ()), *defaults]
    answers = _json_schema(TypeAdapter(GradcheckReport).core_schema)
    definitions = answers.pop("$defs")
    return {**schema, "$defs": {**definitions, **schema["$defs"], answers["title"]: answers}}


def _renamed(schema: dict[str, Any], name: str, to: str) -> dict[str, Any]:
    """The schema with another name for one of its definitions."""
    renamed: dict[str, Any] = json.loads(json.dumps(schema).replace(f'"#/$defs/{name}"', f'"#/$defs/{to}"'))
    renamed["$defs"][to] = renamed["$defs"].pop(name)
    return renamed


def _json_schema(schema: CoreSchema) -> dict[str, Any]:
    return DescribedSchema().generate(schema, mode="serialization")


def _attribute_docstrings(declared: type) -> list[tuple[str, str]]:
    (body,) = (each.body for each in ast.parse(inspect.getsource(declared)).body if isinstance(each, ast.ClassDef))
    return [
        (field.target.id, inspect.cleandoc(text.value.value))
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    ]
