"""Traces of older formats open, and hold the numbers they held and that the same program has today."""

import json
from pathlib import Path

import pytest

from gradwalk.protocol.document import FORMAT
from gradwalk.protocol.upgrades import UPGRADES, load_document
from gradwalk.words.problems import tell_problem
from tests.examples.traced import trace_example
from tests.protocol.merged import first_difference, view

OLD = sorted(Path(__file__).parent.glob("format_1/*.json"))


def read(path: Path) -> dict:
    return json.loads(path.read_text())


def test_every_older_format_has_an_upgrader_and_a_trace_that_shows_it() -> None:
    assert sorted(UPGRADES) == list(range(1, FORMAT))
    assert {read(path)["format"] for path in OLD} == set(UPGRADES)


@pytest.mark.parametrize("path", OLD, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_older_trace_opens_with_its_numbers_which_are_todays(path: Path) -> None:
    old, document = read(path), load_document(read(path))
    assert document["format"] == document["events"][0]["format"] == FORMAT
    assert len(document["events"]) == len(old["events"])
    numbers = view(old, with_facts=False)
    assert first_difference(view(document, with_facts=False), numbers) is None
    assert first_difference(view(trace_example(path.stem), with_facts=False), numbers) is None


@pytest.mark.parametrize("hint", [None, "Write 1.0."])
def test_an_older_problem_says_what_it_said(hint: str | None) -> None:
    told = {"title": "A title", "message": "A message.", "hint": hint}
    old = {"seq": 1, "type": "problem", "kind": "error", "span": None, **told}
    [event] = UPGRADES[1]({"format": 1, "events": [old]})["events"]
    assert tell_problem(event) == tuple(told.values())
