import json
from typing import Any

import pytest

from gradwalk.protocol.facts import fact
from gradwalk.protocol.problems import problem
from gradwalk.protocol.requests import TraceRequest, resolve_limits
from gradwalk.protocol.wire import read_events
from gradwalk.sandbox.answers import AnswerError, EventAnswer, ReplayAnswer, expected_header
from gradwalk.sandbox.jobs import JacobianJob

VERSIONS = {"gradwalk": "1", "torch": "2"}


def header() -> Any:
    return expected_header(TraceRequest(source="x = 1\r\n"), VERSIONS)


def stdout(seq: int) -> bytes:
    return json.dumps({"seq": seq, "type": "stdout", "text": "hello"}).encode()


def finished(seq: int) -> bytes:
    event = {"seq": seq, "type": "finished", "passes": 0, "steps": 0, "problems": 0, "truncated": None}
    return json.dumps(event).encode()


def test_the_header_is_ours_whatever_the_child_says() -> None:
    forged = {**header(), "id": "f" * 40, "source": "import os", "versions": {"gradwalk": "9", "torch": "9"}}
    (started,) = EventAnswer(header()).accept(json.dumps(forged).encode())
    assert started == header()
    assert started["source"] == "x = 1\n"


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\xff\xfe", id="not UTF-8"),
        pytest.param(b'{"seq":1,"type":"stdout","text":"\\ud800"}', id="lone surrogate"),
        pytest.param(b"[" * 100_000, id="deeply nested"),
        pytest.param(b"1" * 100_000, id="huge number"),
        pytest.param(b'{"seq":1,"type":"stdout","text":NaN}', id="NaN"),
        pytest.param(b'{"seq":1,"type":"evil"}', id="unknown type"),
        pytest.param(b'{"seq":1,"type":"stdout","text":"a","extra":1}', id="unknown key"),
        pytest.param(b'{"seq":"1","type":"stdout","text":"a"}', id="wrong type"),
        pytest.param(stdout(2), id="a gap"),
        pytest.param(stdout(0), id="a repetition"),
        pytest.param(json.dumps({**header(), "seq": 1}).encode(), id="a second start"),
    ],
)
def test_a_payload_that_is_not_the_next_event_is_refused_and_the_stream_still_ends_well(payload: bytes) -> None:
    answer = EventAnswer(header())
    events = answer.accept(json.dumps(header()).encode())
    with pytest.raises(AnswerError):
        answer.accept(payload)
    events += answer.end_with(problem("protocol", fact("problem-unreadable", reason="no JSON")), None)
    read_events(events)
    assert [(event["seq"], event["type"]) for event in events] == [(0, "started"), (1, "problem"), (2, "finished")]


def test_a_stream_must_begin_with_started() -> None:
    with pytest.raises(AnswerError):
        EventAnswer(header()).accept(stdout(0))


def test_a_silent_child_gets_a_whole_stream_made_for_it() -> None:
    events = EventAnswer(header()).end_with(problem("timeout", fact("told", text="Stopped.")), "time")
    read_events(events)
    assert [event["type"] for event in events] == ["started", "problem", "finished"]
    assert events[-1]["problems"] == 1
    assert events[-1]["truncated"] == "time"


def test_what_the_child_said_last_is_not_said_again() -> None:
    answer = EventAnswer(header())
    told = {**problem("memory", fact("problem-memory")), "seq": 1}
    events = answer.accept(json.dumps(header()).encode()) + answer.accept(json.dumps(told).encode())
    events += answer.end_with(problem("memory", fact("problem-memory-used-up")), "memory")
    read_events(events)
    assert [(event["seq"], event["type"]) for event in events] == [(0, "started"), (1, "problem"), (2, "finished")]
    assert (events[-1]["problems"], events[-1]["truncated"]) == (1, "memory")


def test_passes_that_were_not_recorded_are_counted_when_the_child_does_not_come_to_it() -> None:
    answer = EventAnswer(header())
    call = {"call": "backward", "span": None, "output": "loss", "leaves": []}
    told = {"seq": 1, "type": "unrecorded", "first": 0, "calls": [call], "of": [0, 0, 0], "outputs": [1.0, 2.0, 3.0]}
    told |= {"norms": [[], [], []], "between": {"step": [], "zero_grad": []}}
    events = answer.accept(json.dumps(header()).encode()) + answer.accept(json.dumps(told).encode())
    events += answer.end_with(problem("timeout", fact("told", text="Stopped.")), "time")
    read_events(events)
    assert events[-1]["unrecorded"] == 3


def test_after_a_restart_only_what_is_new_comes_out() -> None:
    answer = EventAnswer(header())
    first = answer.accept(json.dumps(header()).encode()) + answer.accept(stdout(1))
    answer.restart()
    again = [event for payload in (json.dumps(header()).encode(), stdout(1)) for event in answer.accept(payload)]
    rest = answer.accept(stdout(2)) + answer.accept(finished(3))
    assert again == []
    assert [event["seq"] for event in first + rest] == [0, 1, 2, 3]
    assert answer.is_complete


def jacobians() -> ReplayAnswer:
    request = TraceRequest(source="x = 1\n")
    return ReplayAnswer(JacobianJob(request=request, limits=resolve_limits(request.options.limits), index=0, argnum=0))


def test_a_replay_answers_with_local_jacobians_or_is_refused() -> None:
    assert jacobians().accept(b"[]") == []
    with pytest.raises(AnswerError):
        jacobians().accept(b'{"argnum":0}')
