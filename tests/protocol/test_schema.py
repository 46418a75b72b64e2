"""What was a trace is one today, judged by somebody else's validator; readers find every field that they knew.

Traces of older formats and golden ones hold the structure, numbers and facts that the same program has today.

A redesign that sends the same facts in other events, gives other ids or adds an optional field changes nothing here.
Rewrite goldens with `pytest tests/protocol/test_schema.py --rewrite-goldens`; read the diff: an event is a line.
"""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gradwalk.protocol.document import FORMAT, TraceDocument
from gradwalk.protocol.merging import merge
from gradwalk.protocol.schema import trace_schema
from gradwalk.protocol.upgrades import UPGRADES, load_document
from gradwalk.protocol.wire import write_document
from gradwalk.words.problems import tell_problem
from tests.examples.traced import trace_example, write_trace

HERE = Path(__file__).parent
FIELDS = HERE / "fields.txt"
SCHEMA = trace_schema()
OLD = sorted(HERE.glob("format_1/*.json"))
GOLDEN = sorted((HERE.parent / "golden").glob("*.json"))
"""Few that differ in kind; `python -m tests.examples.traced` makes those of all examples."""

# Processors round the last bit of exp, tanh and long sums differently. Where terms cancel, such a bit is large beside
# the entry that is left, but not beside its tensor (N. Higham, Accuracy and Stability, 3.1): entries are measured by
# the largest of their tensor.
RELATIVE_TOLERANCE = 2e-6
ABSOLUTE_TOLERANCE = 1e-9

COMPARED = {"pass_started", "step", "pass_finished", "problem", "stdout"}
KEPT = frozenset(
    {"type", "pass", "batch", "graph", "nodes", "node", "name", "leaf", "inputs", "outputs", "edge", "value", "saved",
     "option", "seed", "missing", "grad_outputs", "grad_inputs", "contributions", "local_jacobians", "argnum",
     "output_nr", "accumulate", "before", "after", "leaf_grads", "grad", "shape", "dtype", "data", "text"}
)  # fmt: skip
"""What is compared of an event and of what is in it; a node stands for its place, an edge for where it starts."""
FACTS = frozenset({"because", "fact", "findings", "kind", "step"})


def view(document: TraceDocument, *, with_facts: bool = True) -> list[Any]:
    """Passes and steps in order, nodes by their place in the graph; without facts only what was computed."""
    kept = KEPT | FACTS if with_facts else KEPT
    places: dict[str, Any] = {"seed": "seed"}
    found = []
    for event in merge(document["events"]):
        if event["type"] == "pass_started":
            graph = event["graph"]
            places |= {node["id"]: place for place, node in enumerate(graph["nodes"])}
            starts = {edge["id"]: edge["from"] for edge in graph["edges"]}
            places |= {name: (places[start["node"]], start["output_nr"]) for name, start in starts.items()}
        if event["type"] in COMPARED and (with_facts or event["type"] != "problem"):
            found.append(_pruned(event, kept, places))
    return found


def _pruned(value: Any, kept: frozenset[str], places: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_pruned(one, kept, places) for one in value]
    if not isinstance(value, dict):
        return value
    found = {key: _pruned(one, kept, places) for key, one in value.items() if key in kept and one is not None}
    found |= {key: places[value[key]] for key in ("node", "edge") if value.get(key) is not None}
    if "option" in found:
        found["value"] = found.pop("option")  # as it was called in format 1
    if "missing" in found and not kept >= FACTS:
        found["missing"] = True  # The reason for it may be told better later.
    # A thumbnail is a picture, of few tints.
    return found | {name: one for name, one in value.get("summary", {}).items() if name != "thumbnail"}


def is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def first_difference(ours: Any, theirs: Any, where: str = "", largest: float = 0.0) -> str | None:
    """Where ours lacks something of theirs or has it otherwise, numbers compared with a tolerance.

    `largest` is the greatest magnitude among the numbers beside this one.
    """
    if is_number(ours) and is_number(theirs):
        within = max(ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE * largest)
        close = math.isclose(ours, theirs, rel_tol=RELATIVE_TOLERANCE, abs_tol=within)
        return None if close else f"{where}: {ours} is not {theirs}"
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() >= theirs.keys():
        pairs = [(ours[key], theirs[key], f"{where}.{key}") for key in theirs]
    elif isinstance(ours, list | tuple) and isinstance(theirs, list | tuple) and len(ours) == len(theirs):
        pairs = [(one, other, f"{where}[{at}]") for at, (one, other) in enumerate(zip(ours, theirs, strict=True))]
        largest = max((abs(one) for one in theirs if is_number(one) and math.isfinite(one)), default=0.0)
    else:
        return None if ours == theirs else f"{where}: {str(ours)[:300]} is not {str(theirs)[:300]}"
    return next((found for pair in pairs if (found := first_difference(*pair, largest))), None)


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def test_every_older_format_has_an_upgrader_and_a_trace_that_shows_it() -> None:
    assert sorted(UPGRADES) == list(range(1, FORMAT))
    assert {read(path)["format"] for path in OLD} == set(UPGRADES)


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.stem)
def test_an_older_trace_opens_with_its_numbers_which_are_todays(path: Path) -> None:
    old, document = read(path), load_document(read(path))
    assert document["format"] == document["events"][0]["format"] == FORMAT
    assert len(document["events"]) == len(old["events"])
    numbers = view(old, with_facts=False)
    assert first_difference(view(document, with_facts=False), numbers) is None
    assert first_difference(view(trace_example(path.stem), with_facts=False), numbers) is None


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_holds_what_the_trace_of_today_holds(path: Path, rewrite_goldens: bool) -> None:
    if rewrite_goldens:
        write_trace(path.stem, path.parent)
    today, kept = view(trace_example(path.stem)), view(load_document(read(path)))
    assert first_difference(today, kept) is None
    assert first_difference(kept, today) is None


@pytest.mark.parametrize("hint", [None, "Write 1.0."])
def test_an_older_problem_says_what_it_said(hint: str | None) -> None:
    told = {"title": "A title", "message": "A message.", "hint": hint}
    old = {"seq": 1, "type": "problem", "kind": "error", "span": None, **told}
    [event] = UPGRADES[1]({"format": 1, "events": [old]})["events"]
    assert tell_problem(event) == tuple(told.values())


@pytest.mark.parametrize("path", [*sorted(HERE.glob("format_*/*.json")), *GOLDEN], ids=lambda path: path.stem)
def test_a_kept_document_opens_and_has_todays_schema(path: Path) -> None:
    kept = read(path)
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
