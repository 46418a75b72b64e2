"""What was made or read lately, kept for whoever asks next."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept")


class Recent(Generic[Key, Kept]):
    """Bounded by bytes; what was not asked for longest goes first.

    Args:
        weigh: bytes that a key and what is kept under it take.
    """

    def __init__(self, bytes_max: int, weigh: Callable[[Key, Kept], int]) -> None:
        self._bytes_max = bytes_max
        self._weigh = weigh
        self._kept: OrderedDict[Key, Kept] = OrderedDict()
        self._bytes = 0

    def __contains__(self, key: Key) -> bool:
        return key in self._kept

    def recall(self, key: Key) -> Kept | None:
        """What is kept under this key."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key]

    def keep(self, key: Key, made: Kept) -> list[Key]:
        """Keeps it, unless it is larger than everything that fits; gives the keys of what had to go."""
        weight = self._weigh(key, made)
        if key in self._kept or weight > self._bytes_max:
            return []
        self._kept[key] = made
        self._bytes += weight
        gone = []
        while self._bytes > self._bytes_max:
            oldest, dropped = self._kept.popitem(last=False)
            self._bytes -= self._weigh(oldest, dropped)
            gone.append(oldest)
        return gone
