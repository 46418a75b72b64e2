"""Long chains of nodes, released piece by piece.

torch frees a graph without recursion, but for nodes that Python has looked at: such a node frees the next from inside
its own release, and some 35,000 in a row overflow the stack. Every call that is recorded looks at its node, a walk at
all. So one node in a few thousand is held here: a release ends there, and goes on when the next one is taken.
"""

import gc
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

NODES_BETWEEN: Final = 4_000
_REFERENCES_OF_OURS: Final = 2
"""The list's, and that of the call which counts. torch holds one more while the node belongs to a graph."""


class Chains:
    """Holds a node of the program's graphs at intervals, until nothing else does."""

    def __init__(self) -> None:
        self._held: list[Any] = []
        self._latest = 0

    def take(self, node: Any, sequence: int) -> None:
        """A node with this sequence number was looked at."""
        if abs(sequence - self._latest) >= NODES_BETWEEN:
            self._latest = sequence
            self.release()
            self._held.append(node)

    def take_all(self, graph: Mapping[Any, Sequence[Any]]) -> None:
        """Nodes were looked at, outputs first; leaves, which have no edges, have no number either."""
        for node in reversed([*graph]):
            if graph[node]:
                self.take(node, node._sequence_nr())

    def release_later(self) -> None:
        """Lets go of them whenever Python collects garbage: of graphs that are the caller's to keep."""

        def release(phase: str, _info: dict[str, int]) -> None:
            if phase == "stop" and not self.release():
                gc.callbacks.remove(release)

        if self._held:
            gc.callbacks.append(release)

    def release(self) -> bool:
        """Lets go of the nodes that nothing else holds, latest first; True if any node is held still."""
        held = self._held
        for position in range(len(held) - 1, -1, -1):
            if sys.getrefcount(held[position]) == _REFERENCES_OF_OURS:
                del held[position]
        return bool(held)
