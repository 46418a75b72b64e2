import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwalk.sandbox.frames import FrameError, FrameReader, encode_frame

payloads = st.lists(st.binary(max_size=40), max_size=8)


@given(payloads, st.lists(st.integers(1, 30), min_size=1, max_size=40))
def test_payloads_survive_any_cut_of_the_stream(sent: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(map(encode_frame, sent))
    reader = FrameReader()
    received: list[bytes] = []
    for turn in range(len(stream)):
        size = cuts[turn % len(cuts)]
        received += reader.feed(stream[:size])
        stream = stream[size:]
    assert received == sent


@given(st.binary(max_size=300))
def test_any_bytes_are_payloads_or_a_fault_and_never_more_than_was_fed(noise: bytes) -> None:
    reader = FrameReader(frame_bytes_max=64)
    try:
        received = list(reader.feed(noise))
    except FrameError:
        return
    assert sum(map(len, received)) <= len(noise)


def test_one_frame_and_all_frames_are_bounded() -> None:
    with pytest.raises(FrameError, match="one part"):
        list(FrameReader(frame_bytes_max=3).feed(encode_frame(b"1234")))
    reader = FrameReader(frame_bytes_max=8, total_bytes_max=12)
    assert list(reader.feed(encode_frame(b"1234"))) == [b"1234"]
    with pytest.raises(FrameError, match="as a whole"):
        list(reader.feed(encode_frame(b"1234")))
