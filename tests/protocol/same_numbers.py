"""Whether two folders of traces hold the same numbers, whatever their formats.

`python -m tests.protocol.same_numbers OLD NEW`

A change of format may take away what is said and add what is known; no number of a pass may change with it.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.merging import merge
from gradwalk.protocol.upgrades import load_document

NUMBERS = ("shape", "dtype", "data", "summary")
"""What a value is made of."""


def numbers_of(document: TraceDocument) -> Iterator[tuple[str, Any]]:
    """Place and value of everything that was computed, in the order of the events."""
    for event in merge(document["events"]):
        if event["type"] == "pass_started":
            yield from _of_pass(event)
        elif event["type"] == "step":
            yield from _of_step(event)
        elif event["type"] == "pass_finished":
            for leaf in event["leaf_grads"]:
                yield f"pass {event['pass']}, {leaf['leaf']}.grad", _value(leaf["grad"])


def _of_pass(event: Any) -> Iterator[tuple[str, Any]]:
    where = f"pass {event['pass']}"
    for output in event["outputs"]:
        yield f"{where}, seed", _value(output["seed"])
    for node in event["graph"]["nodes"]:
        here = f"{where}, {node['id']} {node['name']}"
        yield f"{here}, edges", [operand.get("edge") for operand in node["inputs"]]
        for side in ("inputs", "outputs", "saved"):
            for number, one in enumerate(node[side]):
                yield f"{here}, {side}[{number}]", _value(one.get("option", one["value"]))


def _of_step(event: Any) -> Iterator[tuple[str, Any]]:
    where = f"step {event['index']} {event['node']}"
    for side in ("grad_outputs", "grad_inputs"):
        for number, value in enumerate(event[side]):
            yield f"{where}, {side}[{number}]", _value(value)
    for one in event["contributions"]:
        yield f"{where}, contribution from {one['edge']}", _value(one["value"])
    for jacobian in event["local_jacobians"]:
        yield f"{where}, J[{jacobian['argnum']}]", _value(jacobian["value"])
    if event["accumulate"] is not None:
        for when in ("before", "after"):
            yield f"{where}, {when}", _value(event["accumulate"][when])


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        if "summary" in value:
            # A thumbnail is a picture, of few tints.
            summary = {name: number for name, number in value["summary"].items() if name != "thumbnail"}
            value = {**value, "summary": summary}
        # That there is no gradient is kept; the reason for it may be told better later.
        return {name: value[name] for name in NUMBERS if name in value} | {"is_missing": "missing" in value}
    return value


def first_difference(old: TraceDocument, new: TraceDocument) -> str | None:
    """Where two documents first disagree; None where they hold the same numbers."""
    ours, theirs = list(numbers_of(old)), list(numbers_of(new))
    for (where, one), (there, other) in zip(ours, theirs, strict=False):
        if (where, one) != (there, other):
            return f"{where}: {one}; {there}: {other}"
    return None if len(ours) == len(theirs) else f"{len(ours)} values, {len(theirs)} values"


def main(old: Path, new: Path) -> int:
    """Says what differs; the exit status."""
    paths = sorted(old.glob("*.json"))
    found = {}
    for path in paths:
        both = [load_document(json.loads((side / path.name).read_text())) for side in (old, new)]
        found[path.name] = first_difference(*both)
    for name, difference in found.items():
        print(f"{name}: {difference or 'the same numbers'}")  # noqa: T201
    return int(any(found.values()) or not found)


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
