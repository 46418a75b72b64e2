"""People's programs: what torch can run here is compared with plain torch, the others end as their file says.

`README.md` has the words that may follow a name.
"""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from gradwalk.protocol.requests import ResolvedLimits
from gradwalk.words.problems import tell_problem
from tests.sandbox.programs import Listed, read_collection, stratify
from tests.twin import Traced, Twin, check_pass, run_plain, run_traced, run_watched
from tests.world.sandbox import trace_in
from tests.world.stream import assert_whole

CORPUS = read_collection(Path(__file__).parent / "programs")
PLAIN = [one for one in CORPUS if not one.outcomes & {"sandbox", "card"}]
ORDINARY = [one for one in CORPUS if one not in PLAIN]
LIMITS = ResolvedLimits(elements=100_000, jacobian_cells=256)
"""Every number is written out, since every number is compared."""
ADDRESS = re.compile("0x[0-9a-f]+")


def samples(programs: list[Listed]) -> list[Any]:
    """One program of each file for ring 1 and 2; the others are marked for ring 3."""
    chosen = {one.name for one in stratify(programs, by_outcome=False, each=1)}
    return [pytest.param(one, id=one.name, marks=() if one.name in chosen else pytest.mark.sweep) for one in programs]


@pytest.mark.parametrize("listed", samples(PLAIN))
def test_a_program_gives_what_plain_torch_gives(listed: Listed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["program.py"])
    plain, twin, traced = run_plain(listed.source), run_watched(listed.source), run_traced(listed.source, LIMITS)
    problems = traced.of("problem")
    assert (plain.error is not None) == ("error" in listed.outcomes), repr(plain.error)
    error = traced.run.error
    assert (type(error), str(error)) == (type(plain.error), str(plain.error))
    assert "".join(event["text"] for event in traced.of("stdout")) == ADDRESS.sub("0x…", plain.printed)
    assert traced.random_states == plain.random_states
    assert not [one for one in problems if one["kind"] == "internal"]
    if "told" in listed.outcomes:
        assert [one["kind"] for one in problems] == ["not_differentiable"]
        assert tell_problem(problems[0]).hint
    elif "error" in listed.outcomes:
        assert_explained(listed, problems)
    else:
        assert not problems
        assert traced.of("step")
        check_passes(traced, twin)


@pytest.mark.parametrize("listed", samples(ORDINARY))
def test_a_program_made_for_another_machine_ends_as_it_should(sandboxes, listed):
    source = listed.source.replace("\n", "\r\n") if "crlf" in listed.outcomes else listed.source
    events: list[Any] = trace_in(sandboxes(), source)
    assert_whole(events)
    problems = [event for event in events if event["type"] == "problem"]
    if "card" in listed.outcomes:
        assert_explained(listed, problems)
    else:
        assert not problems
        assert [event for event in events if event["type"] == "step"]


def assert_explained(listed: Listed, problems: list[Any]) -> None:
    """The program ended with one card: a line, what happened there, what to write instead."""
    assert len(problems) == 1
    told = tell_problem(problems[0])
    assert problems[0]["span"] is not None, told
    assert 1 <= problems[0]["span"]["line"] <= listed.source.count("\n"), told
    assert told.hint, told


def check_passes(traced: Traced, twin: Twin) -> None:
    """Every recorded pass is the twin's; a long loop's other passes are only counted."""
    implicit = [event for event in traced.of("pass_started") if event["call"] == "implicit"]
    if implicit:
        assert not twin.passes
        return
    unrecorded = sum(len(event["of"]) for event in traced.of("unrecorded"))
    assert len(traced.of("pass_started")) + unrecorded == len(twin.passes)
    for started in traced.of("pass_started"):
        check_pass(traced.events, twin.passes[started.get("number", started["pass"])], started["pass"])
