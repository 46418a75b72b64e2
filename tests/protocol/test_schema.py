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


def view(document: TraceDocument, *, with_facts: bool = True) -> list[Any]:
    """Passes and steps in order, nodes by their place in the graph; without facts only what was computed."""
    seen = _View(with_facts)
    return [found for event in merge(document["events"]) if (found := seen.of(event)) is not None]


class _View:
    def __init__(self, with_facts: bool) -> None:
        self._with_facts = with_facts
        self._places: dict[str, int] = {}
        """Of the nodes of every graph so far, by id."""
        self._origins: dict[str, Any] = {"seed": "seed"}

    def of(self, event: Any) -> Any:
        """What is compared of an event; None of one that holds nothing of it."""
        match event["type"]:
            case "pass_started":
                return self._pass(event)
            case "step":
                return self._step(event)
            case "pass_finished":
                leaves = [(one["leaf"], self._value(one["grad"])) for one in event["leaf_grads"]]
                found = [(one["kind"], one.get("step")) for one in event.get("findings", [])]
                return ["finished", leaves, found if self._with_facts else []]
            case "problem" if self._with_facts:
                return ["problem", event["kind"], event.get("fact"), (event["span"] or {}).get("line")]
            case "stdout":
                return ["printed", event["text"]]
        return None

    def _pass(self, event: Any) -> Any:
        nodes = event["graph"]["nodes"]
        self._places |= {node["id"]: place for place, node in enumerate(nodes)}
        self._origins |= {
            edge["id"]: (self._places[edge["from"]["node"]], edge["from"]["output_nr"])
            for edge in event["graph"]["edges"]
        }
        outputs = [(self._places[one["node"]], self._value(one["seed"])) for one in event["outputs"]]
        return ["pass", event["pass"], event.get("batch"), outputs, [self._node(node) for node in nodes]]

    def _node(self, node: Any) -> Any:
        missing = [self._with_facts and self._value(one.get("missing")) for one in node["inputs"]]
        operands = [(self._origins.get(one.get("edge")), self._value(one["value"])) for one in node["inputs"]]
        outputs = [(one["name"], self._value(one["value"])) for one in node["outputs"]]
        saved = [(one["name"], one.get("option", self._value(one["value"]))) for one in node["saved"]]
        return [node["name"], node.get("leaf"), operands, missing, outputs, saved]

    def _step(self, event: Any) -> Any:
        sides = [[self._value(one) for one in event[side]] for side in ("grad_outputs", "grad_inputs")]
        arrived = [(self._origins[one["edge"]], self._value(one["value"])) for one in event["contributions"]]
        jacobians = [(one["argnum"], one["output_nr"], self._value(one["value"])) for one in event["local_jacobians"]]
        grad = event["accumulate"] and [self._value(event["accumulate"][when]) for when in ("before", "after")]
        return ["step", self._places[event["node"]], *sides, arrived, jacobians, grad]

    def _value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if "missing" in value:
            # That there is no gradient is kept; the reason for it may be told better later.
            return ["missing", value["missing"], value.get("because")] if self._with_facts else ["missing"]
        # A thumbnail is a picture, of few tints.
        summary = {name: one for name, one in value.get("summary", {}).items() if name != "thumbnail"}
        return [value["shape"], value["dtype"], value.get("data"), summary]


def is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def first_difference(ours: Any, theirs: Any, where: str = "", largest: float = 0.0) -> str | None:
    """Where two views differ, numbers compared with a tolerance.

    `largest` is the greatest magnitude among the numbers beside this one.
    """
    if is_number(ours) and is_number(theirs):
        within = max(ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE * largest)
        close = math.isclose(ours, theirs, rel_tol=RELATIVE_TOLERANCE, abs_tol=within)
        return None if close else f"{where}: {ours} is not {theirs}"
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        pairs = [(ours[key], theirs[key], f"{where}.{key}") for key in ours]
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
    assert first_difference(view(trace_example(path.stem)), view(load_document(read(path)))) is None


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
