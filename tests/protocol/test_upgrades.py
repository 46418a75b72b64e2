"""Traces of older formats open, and hold the numbers they held."""

import json
from pathlib import Path

import pytest

from gradwalk.protocol.document import FORMAT
from gradwalk.protocol.upgrades import UPGRADES, load_document
from gradwalk.words.problems import tell_problem
from tests.protocol.same_numbers import first_difference, numbers_of

GOLDEN = Path(__file__).parents[1] / "golden"
OLD = sorted(Path(__file__).parent.glob("format_*/*.json"))


def read(path: Path) -> dict:
    return json.loads(path.read_text())


def test_every_older_format_has_an_upgrader_and_a_trace_that_shows_it() -> None:
    assert sorted(UPGRADES) == list(range(1, FORMAT))
    assert {read(path)["format"] for path in OLD} == set(UPGRADES)


@pytest.mark.parametrize("path", OLD, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_older_trace_opens_with_the_same_numbers(path: Path) -> None:
    old = read(path)
    document = load_document(read(path))
    assert document["format"] == document["events"][0]["format"] == FORMAT
    assert len(document["events"]) == len(old["events"])
    assert first_difference(old, dict(document)) is None


@pytest.mark.parametrize("path", OLD, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_today_s_trace_of_the_same_program_has_the_same_numbers(path: Path) -> None:
    old = read(path)
    today = load_document(read(GOLDEN / path.name))
    assert len(list(numbers_of(old))) > 20
    assert today["format"] == FORMAT
    assert first_difference(old, today) is None


def test_a_changed_number_is_found() -> None:
    old, changed = read(OLD[0]), read(OLD[0])
    steps = [event for event in changed["events"] if event["type"] == "step"]
    value = next(one for step in steps for one in step["grad_inputs"] if "data" in one)
    value["data"][0] = 12345.0
    assert "12345" in (first_difference(old, changed) or "")


@pytest.mark.parametrize("hint", [None, "Write 1.0."])
def test_an_older_problem_says_what_it_said(hint: str | None) -> None:
    told = {"title": "A title", "message": "A message.", "hint": hint}
    old = {"seq": 1, "type": "problem", "kind": "error", "span": None, **told}
    [event] = UPGRADES[1]({"format": 1, "events": [old]})["events"]
    assert tell_problem(event) == tuple(told.values())
