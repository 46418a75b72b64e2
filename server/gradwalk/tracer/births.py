"""Which backward step built a node, under `create_graph=True`.

While a backward node runs, the nodes it builds take the next sequence numbers. So each executed node
of such a pass owns the numbers between the counter before it and after it; what is left of the pass's
numbers are the engine's own sums at fan-outs.
"""

from bisect import bisect_right
from typing import NamedTuple


class Birth(NamedTuple):
    """The sequence numbers from `low` up to, not including, `high`."""

    low: int
    high: int
    pass_index: int
    node: str | None
    """None for the engine's sums."""


class Births:
    """Births of one run; a number belongs to the innermost range that holds it."""

    def __init__(self) -> None:
        self._births: list[Birth] = []
        self._reach: list[int] = []
        """For each birth the largest `high` so far, so that a search knows when to stop."""

    def add(self, birth: Birth) -> None:
        """Enters a range; empty ones are left out."""
        if birth.high > birth.low:
            self._births.append(birth)
            self._reach = []

    def find(self, sequence: int) -> Birth | None:
        """The birth of the node with this number, None for a node of the forward pass."""
        if not self._births:
            return None
        if not self._reach:
            self._settle()
        position = bisect_right(self._births, sequence, key=lambda birth: birth.low)
        while position > 0 and self._reach[position - 1] > sequence:
            position -= 1
            if sequence < self._births[position].high:
                return self._births[position]
        return None

    def _settle(self) -> None:
        # Of two ranges that begin at one number the longer one is the outer one.
        self._births.sort(key=lambda birth: (birth.low, -birth.high, birth.node is not None))
        reach = 0
        for birth in self._births:
            reach = max(reach, birth.high)
            self._reach.append(reach)
