"""What is kept compressed comes back whole, at once or in parts."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwalk.store.compression import Coding, compress, decompress, unpack


@pytest.mark.parametrize("coding", get_args(Coding))
@given(st.binary(max_size=40), st.integers(0, 20_000))
def test_the_parts_are_the_whole_and_each_is_small(coding: Coding, seed: bytes, count: int) -> None:
    body = seed * count
    packed = compress(body, coding)
    parts = list(unpack(packed))
    assert b"".join(parts) == decompress(packed) == body
    assert max(map(len, parts), default=0) <= 64 << 10
