"""The frame reader against made-up bytes, compared with a reader so simple that it can be seen to be right."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradwalk.protocol.document import FORMAT
from gradwalk.sandbox.answers import AnswerError, EventAnswer
from gradwalk.sandbox.frames import FrameError, FrameReader, encode_frame

FRAME_MAX, TOTAL_MAX = 40, 200
VERSIONS = {"gradwalk": "0", "torch": "0"}
HEADER = {
    "seq": 0,
    "type": "started",
    "format": FORMAT,
    "id": "a" * 40,
    "source": "",
    "options": {},
    "versions": VERSIONS,
}
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


@settings(max_examples=400, deadline=None)
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


@settings(max_examples=300, deadline=None)
@given(payload=st.one_of(st.binary(max_size=100), nearly_events.map(lambda v: json.dumps(v).encode())))
def test_a_made_up_answer_is_an_event_or_an_answer_error(payload: bytes) -> None:
    answer = EventAnswer(HEADER)  # type: ignore[arg-type]
    try:
        events = answer.accept(payload)
    except AnswerError:
        events = []
    if not answer.is_complete:
        events += answer.end_with({"seq": 0, "type": "problem"}, None)  # type: ignore[typeddict-item]
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert events[-1]["type"] == "finished"


def test_one_frame_and_all_frames_are_bounded() -> None:
    with pytest.raises(FrameError, match="one part"):
        list(FrameReader(frame_bytes_max=3).feed(encode_frame(b"1234")))
    reader = FrameReader(frame_bytes_max=8, total_bytes_max=12)
    assert list(reader.feed(encode_frame(b"1234"))) == [b"1234"]
    with pytest.raises(FrameError, match="as a whole"):
        list(reader.feed(encode_frame(b"1234")))
