"""The trace format does not change by accident."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator

from gradwalk.protocol.document import FORMAT
from gradwalk.protocol.schema import trace_schema

GOLDEN = Path(__file__).parents[1] / "golden" / "schema" / f"trace-v{FORMAT}.schema.json"


def test_the_schema_is_the_one_that_was_reviewed(rewrite_goldens: bool) -> None:
    text = json.dumps(trace_schema(), indent=1, ensure_ascii=False) + "\n"
    if rewrite_goldens:
        GOLDEN.parent.mkdir(parents=True, exist_ok=True)
        GOLDEN.write_text(text)
    assert GOLDEN.read_text() == text, (
        "The trace format differs from the golden. A new optional field: run with --rewrite-goldens, and say so in "
        "protocol/README.md. Anything renamed or re-purposed: raise FORMAT and write an upgrader first."
    )


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(trace_schema())
