"""The parent's door: whatever bytes come from a child are the next event, or an error that says so."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradwalk.protocol.document import trace_id
from gradwalk.protocol.facts import fact
from gradwalk.protocol.problems import problem
from gradwalk.protocol.requests import TraceRequest
from gradwalk.protocol.wire import read_events
from gradwalk.sandbox.answers import AnswerError, EventAnswer, ReplayAnswer, expected_header
from gradwalk.sandbox.frames import FrameError, FrameReader, encode_frame
from tests.world.sandbox import jacobian_job_of

VERSIONS = {"gradwalk": "1", "torch": "2"}


def header() -> Any:
    request = TraceRequest(source="x = 1\r\n")
    return expected_header(trace_id(request, VERSIONS), request, VERSIONS)


def stdout(seq: int) -> bytes:
    return json.dumps({"seq": seq, "type": "stdout", "text": "hello"}).encode()


def test_the_header_comes_first_and_is_ours_whatever_the_child_says() -> None:
    with pytest.raises(AnswerError):
        EventAnswer(header()).accept(stdout(0))
    forged = {**header(), "id": "f" * 40, "source": "import os", "versions": {"gradwalk": "9", "torch": "9"}}
    (started,) = EventAnswer(header()).accept(json.dumps(forged).encode())
    assert started == header()
    assert started["source"] == "x = 1\n"


NOT_NEXT = {
    "nothing": b"",
    "not UTF-8": b"\xff\xfe",
    "lone surrogate": b'{"seq":1,"type":"stdout","text":"\\ud800"}',
    "deeply nested": b"[" * 100_000,
    "huge number": b"1" * 100_000,
    "NaN": b'{"seq":1,"type":"stdout","text":NaN}',
    "unknown type": b'{"seq":1,"type":"evil"}',
    "unknown key": b'{"seq":1,"type":"stdout","text":"a","extra":1}',
    "wrong type": b'{"seq":"1","type":"stdout","text":"a"}',
    "half a number": b'{"seq":1,"type":"stdout","text":"","values":[{"shape":[1],"dtype":"float32","packed":"AAAA"}]}',
    "a gap": stdout(2),
    "a repetition": stdout(0),
    "a second start": json.dumps({**header(), "seq": 1}).encode(),
}


@pytest.mark.parametrize("payload", NOT_NEXT.values(), ids=NOT_NEXT)
def test_a_payload_that_is_not_the_next_event_is_refused_and_the_stream_still_ends_well(payload: bytes) -> None:
    answer = EventAnswer(header())
    events = answer.accept(json.dumps(header()).encode())
    with pytest.raises(AnswerError):
        answer.accept(payload)
    events += answer.end_with(problem("protocol", fact("problem-unreadable", reason="no JSON")), None)
    read_events(events)
    assert [(event["seq"], event["type"]) for event in events] == [(0, "started"), (1, "problem"), (2, "finished")]


def test_an_end_is_made_for_a_child_that_does_not_come_to_it_and_says_nothing_again() -> None:
    answer = EventAnswer(header())
    call = {"call": "backward", "span": None, "output": "loss", "leaves": []}
    told = {"seq": 1, "type": "unrecorded", "first": 0, "calls": [call], "of": [0, 0, 0], "outputs": [1.0, 2.0, 3.0]}
    told |= {"norms": [[], [], []], "between": {"step": [], "zero_grad": []}}
    said = (header(), told, {**problem("memory", fact("problem-memory")), "seq": 2})
    events: list[Any] = [event for one in said for event in answer.accept(json.dumps(one).encode())]
    events += answer.end_with(problem("memory", fact("problem-memory-used-up")), "memory")
    read_events(events)
    assert [event["type"] for event in events] == ["started", "unrecorded", "problem", "finished"]
    assert (events[-1]["unrecorded"], events[-1]["problems"], events[-1]["truncated"]) == (3, 1, "memory")


def test_after_a_restart_only_what_is_new_comes_out() -> None:
    answer = EventAnswer(header())
    first = answer.accept(json.dumps(header()).encode()) + answer.accept(stdout(1))
    answer.restart()
    again = [event for payload in (json.dumps(header()).encode(), stdout(1)) for event in answer.accept(payload)]
    finished = {"seq": 3, "type": "finished", "passes": 0, "steps": 0, "problems": 0, "truncated": None}
    rest = answer.accept(stdout(2)) + answer.accept(json.dumps(finished).encode())
    assert (again, [event["seq"] for event in first + rest]) == ([], [0, 1, 2, 3])
    assert answer.is_complete


def test_a_replay_answers_with_local_jacobians_or_is_refused() -> None:
    job = jacobian_job_of("x = 1\n")
    assert ReplayAnswer(job).accept(b"[]") == []
    with pytest.raises(AnswerError):
        ReplayAnswer(job).accept(b'{"argnum":0}')


FRAME_MAX, TOTAL_MAX = 40, 80
likely = st.lists(st.binary(max_size=60).map(encode_frame), max_size=6).map(b"".join)
streams = st.one_of(st.binary(max_size=300), likely, st.tuples(likely, st.binary(max_size=10)).map(b"".join))
cuts = st.lists(st.integers(0, 300), max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KINDS = ["started", "step", "stdout", "problem", "finished", "pass_started", "pass_finished", "nonsense"]
nearly_events = st.dictionaries(st.sampled_from(["seq", "text", "kind", "id", "node", "passes"]), json_values).flatmap(
    lambda rest: st.fixed_dictionaries({"type": st.sampled_from(KINDS)}).map(lambda kind: rest | kind)
)


def read_simply(stream: bytes) -> tuple[list[bytes], bool]:
    """All payloads of a whole stream, and whether it must be refused."""
    payloads, place = [], 0
    if len(stream) > TOTAL_MAX:
        return [], True
    while len(stream) - place >= 4:
        length = int.from_bytes(stream[place : place + 4], "big")
        if length > FRAME_MAX:
            return payloads, True
        if len(stream) - place - 4 < length:
            break
        payloads.append(stream[place + 4 : place + 4 + length])
        place += 4 + length
    return payloads, False


@settings(max_examples=150)
@given(stream=streams, places=cuts)
def test_however_bytes_are_cut_the_payloads_are_those_of_the_whole(stream: bytes, places: list[int]) -> None:
    expected, refused = read_simply(stream)
    reader = FrameReader(FRAME_MAX, TOTAL_MAX)
    ends = [*sorted({place for place in places if place < len(stream)}), len(stream)]
    payloads: list[bytes] = []
    start, failed = 0, False
    try:
        for end in ends:
            payloads += reader.feed(stream[start:end])
            start = end
    except FrameError:
        failed = True
    assert failed == refused
    if refused and len(stream) > TOTAL_MAX:
        assert payloads == read_simply(stream[:start])[0][: len(payloads)]
    else:
        assert payloads == expected[: len(payloads)]
        assert failed or payloads == expected


@settings(max_examples=150)
@given(payload=st.one_of(st.binary(max_size=100), nearly_events.map(lambda v: json.dumps(v).encode())))
def test_a_made_up_answer_is_an_event_or_an_answer_error(payload: bytes) -> None:
    answer = EventAnswer(header())
    try:
        events = answer.accept(payload)
    except AnswerError:
        events = []
    if not answer.is_complete:
        events += answer.end_with(problem("timeout", fact("told", text="Stopped.")), "time")
    read_events(events)
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert events[0] == header()
    assert events[-1]["type"] == "finished"
