"""The trace of every example is the one that was read and found good.

Rewrite with `pytest tests/examples --rewrite-goldens` and read the diff: there is an event per line, to show what
changed. The front-end's tests read the same files.
"""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.examples.example import Example
from gradwalk.protocol.document import encode
from gradwalk.protocol.upgrades import load_document
from gradwalk.protocol.wire import write_document
from tests.examples.traced import trace_example

GOLDEN = Path(__file__).parents[1] / "golden"
BYTES_MAX = 300_000
# Processors round the last bit of exp, tanh and long sums differently. Where terms cancel, such a bit is large beside
# the entry that is left, but not beside its tensor (N. Higham, Accuracy and Stability, 3.1): entries are measured by
# the largest of their tensor.
RELATIVE_TOLERANCE = 2e-6
ABSOLUTE_TOLERANCE = 1e-9


def golden_path(example: Example) -> Path:
    return GOLDEN / f"{example.slug}.json"


def spell(document: dict[str, Any]) -> str:
    """The document with a line per event."""
    header = encode({key: value for key, value in document.items() if key != "events"}).decode()
    events = ",\n".join(encode(event).decode() for event in document["events"])
    return f'{header[:-1]},"events":[\n{events}\n]}}\n'


def is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def first_difference(ours: Any, golden: Any, where: str = "", largest: float = 0.0) -> str | None:
    """Where two documents differ, numbers compared with a tolerance; addresses and versions are left out.

    `largest` is the greatest magnitude among the numbers beside this one.
    """
    if where.endswith((".id", ".versions")) and where.count(".") <= 2:
        return None
    if is_number(ours) and is_number(golden):
        within = max(ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE * largest)
        close = math.isclose(ours, golden, rel_tol=RELATIVE_TOLERANCE, abs_tol=within)
        return None if close else f"{where}: {ours} is not {golden}"
    if isinstance(ours, dict) and isinstance(golden, dict) and ours.keys() == golden.keys():
        pairs = [(ours[key], golden[key], f"{where}.{key}") for key in ours]
    elif isinstance(ours, list) and isinstance(golden, list) and len(ours) == len(golden):
        pairs = [
            (mine, theirs, f"{where}[{index}]") for index, (mine, theirs) in enumerate(zip(ours, golden, strict=True))
        ]
        largest = max((abs(entry) for entry in golden if is_number(entry) and math.isfinite(entry)), default=0.0)
    else:
        return None if ours == golden else f"{where}: {str(ours)[:300]} is not {str(golden)[:300]}"
    return next((found for pair in pairs if (found := first_difference(*pair, largest))), None)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)
def test_the_trace_is_the_golden_one(example: Example, rewrite_goldens: bool) -> None:
    document = trace_example(example)
    path = golden_path(example)
    if rewrite_goldens:
        path.parent.mkdir(exist_ok=True)
        path.write_text(spell(json.loads(write_document(document))), encoding="utf-8")

    golden = json.loads(path.read_text(encoding="utf-8"))

    assert first_difference(document, load_document(golden)) is None
    assert path.stat().st_size <= BYTES_MAX
    assert json.loads(write_document(load_document(golden))) == golden, "the golden keeps to the format"


def test_every_golden_belongs_to_an_example() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == {example.slug for example in EXAMPLES}


def test_a_wrong_number_is_a_difference() -> None:
    assert first_difference({"events": [{"value": 1.0}]}, {"events": [{"value": 1.0 + 1e-9}]}) is None
    assert (
        first_difference({"events": [{"value": 1.0}]}, {"events": [{"value": 1.001}]})
        == ".events[0].value: 1.0 is not 1.001"
    )
    assert first_difference({"events": []}, {"events": [1]}) is not None
