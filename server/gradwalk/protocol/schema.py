"""JSON Schema of a trace document; TypeScript types are generated from it."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from gradwalk.protocol.document import DOCUMENT


class _Schema(GenerateJsonSchema):
    def sort(self, value: Any, parent_key: str | None = None) -> Any:  # noqa: ARG002 (the base class names it)
        return value


def trace_schema() -> dict[str, Any]:
    """The schema of format 1, keys in order of declaration."""
    schema = DOCUMENT.json_schema(mode="serialization", schema_generator=_Schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
