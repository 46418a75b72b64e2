"""The traces that both languages read are today's: the same structure, numbers and facts.

Rewrite with `pytest tests/examples/test_golden.py --rewrite-goldens` and read the diff: there is an event per line.
"""

import copy
import json
from pathlib import Path

import pytest

from gradwalk.protocol.upgrades import load_document
from tests.examples.traced import trace_example, write_trace
from tests.protocol.merged import first_difference, view

GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.json"))
"""Few that differ in kind; `write_traces.py` makes those of all examples."""


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_holds_what_the_trace_of_today_holds(name: str, rewrite_goldens: bool) -> None:
    if rewrite_goldens:
        write_trace(name, GOLDEN)
    golden = load_document(json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8")))
    assert first_difference(view(trace_example(name)), view(golden)) is None


def test_a_wrong_number_a_wrong_edge_and_a_wrong_reason_are_differences() -> None:
    name = "none-zeros-undefined"
    right = view(trace_example(name))
    for part, other in (("data", [7.0]), ("missing", "detached"), ("node", "n0")):
        changed = copy.deepcopy(trace_example(name))
        assert change(changed["events"], part, other)
        assert first_difference(view(changed), right) is not None, part


def change(found, part, other) -> bool:
    """Puts something else in the first place of that name within the steps or the graph."""
    inner = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for key, value in inner:
        if key == part and value != other:
            found[key] = other
            return True
        if change(value, part, other):
            return True
    return False
