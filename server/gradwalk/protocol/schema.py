"""JSON Schema of a trace document and of what the server answers besides; TypeScript types are generated from both."""

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from gradwalk.protocol.answers import GradcheckReport
from gradwalk.protocol.document import DOCUMENT


class _Schema(GenerateJsonSchema):
    def sort(self, value: Any, parent_key: str | None = None) -> Any:  # noqa: ARG002 (the base class names it)
        return value


def trace_schema() -> dict[str, Any]:
    """The schema of the newest format, keys in order of declaration."""
    schema = DOCUMENT.json_schema(mode="serialization", schema_generator=_Schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def page_schema() -> dict[str, Any]:
    """The schema of a trace document, with what else the page reads among its definitions."""
    schema = trace_schema()
    answers = TypeAdapter(GradcheckReport).json_schema(mode="serialization", schema_generator=_Schema)
    definitions = answers.pop("$defs")
    return {**schema, "$defs": {**definitions, **schema["$defs"], answers["title"]: answers}}
