"""Python spells a number in a sentence as the page does."""

import math

from hypothesis import example, given
from hypothesis import strategies as st

from gradwalk.words.catalogue import tell
from tests.words.page import tell_by_page

REALS = st.floats(allow_nan=False, allow_infinity=False) | st.floats(-10, 10) | st.integers(-(10**9), 10**9)
WORDS = st.sampled_from(["NaN", "Infinity", "-Infinity", True, False])
ENTRIES = REALS | WORDS | st.lists(REALS, min_size=2, max_size=2)
"""A trace spells what is not finite in words."""


@given(entries=st.lists(ENTRIES, min_size=1, max_size=6), columns=st.integers(1, 3))
@example(entries=[0.00012345, 1.0005, 2.5e-7, 123450000.5, -0.0, 5e-324, math.pi, 9999999.5, 0.99995, 1e21], columns=1)
def test_python_and_the_page_spell_alike_and_round_halves_alike(entries, columns):
    shape = [] if len(entries) == 1 else [len(entries)]
    if len(entries) % columns == 0 and columns > 1:
        shape = [len(entries) // columns, columns]
    fact = {"kind": "and", "operands": {"first": {"numbers": entries, "shape": shape}, "last": {"shape": shape}}}
    assert tell_by_page(fact) == tell(fact)
