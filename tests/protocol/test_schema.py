"""What was a trace is one today, judged by somebody else's validator; readers find every field that they knew."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from gradwalk.protocol.document import FORMAT
from gradwalk.protocol.schema import trace_schema
from gradwalk.protocol.upgrades import load_document
from gradwalk.protocol.wire import write_document

HERE = Path(__file__).parent
FIELDS = HERE / "fields.txt"
KEPT = sorted([*HERE.glob("format_*/*.json"), *(HERE.parent / "golden").glob("*.json")])
SCHEMA = trace_schema()


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_kept_document_opens_and_has_todays_schema(path: Path) -> None:
    kept = json.loads(path.read_text())
    validator = Draft202012Validator(SCHEMA)
    written = json.loads(write_document(load_document(kept)))
    # A trace of today's format is written as it was read.
    assert kept["format"] < FORMAT or written == kept
    assert [error.message for error in validator.iter_errors(written)] == []


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def fields() -> dict[str, dict[str, bool]]:
    """By object and name, whether the field is required."""
    found = {"Document": SCHEMA, **SCHEMA["$defs"]}
    return {
        name: {field: field in one.get("required", ()) for field in one["properties"]}
        for name, one in sorted(found.items())
        if "properties" in one
    }


def test_no_field_has_vanished_and_none_has_become_required(rewrite_goldens: bool) -> None:
    """Where it has: raise FORMAT and write an upgrader first. A new optional field needs nothing here."""
    if rewrite_goldens:
        lines = [f"{name}: {' '.join(one + '!' * need for one, need in of.items())}" for name, of in fields().items()]
        FIELDS.write_text("\n".join(lines) + "\n")
    today = fields()
    for line in FIELDS.read_text().splitlines():
        name, _, known = line.partition(": ")
        was = {one.removesuffix("!"): one.endswith("!") for one in known.split()}
        assert was.keys() <= today[name].keys(), name
        # A reader counts on what was always there; a document of before has nothing that is required since.
        assert {one for one, needed in was.items() if needed} == {one for one, needed in today[name].items() if needed}
