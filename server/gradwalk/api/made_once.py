"""What several ask for at once is made once, and kept for the next ones."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from gradwalk.recent import Recent

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")


class MadeOnce(Generic[Key, Made]):
    """Bounded by bytes; what was not asked for longest goes first. Lives on the event loop.

    Args:
        weigh: bytes that a key and what was made for it take.
    """

    def __init__(self, bytes_max: int, weigh: Callable[[Key, Made], int]) -> None:
        self._makings: dict[Key, asyncio.Task[Made]] = {}
        self._made = Recent(bytes_max, weigh)

    def recall(self, key: Key) -> Made | None:
        """What was made already."""
        return self._made.recall(key)

    def __contains__(self, key: Key) -> bool:
        """Whether it is made already, or being made."""
        return key in self._made or key in self._makings

    async def ask(self, key: Key, make: Callable[[], Awaitable[Made]]) -> Made:
        """Made already, being made, or made now. Who stops waiting stops nobody else's.

        Raises:
            Exception: that of `make`, to all who wait; the next one tries again.
        """
        made = self.recall(key)
        if made is not None:
            return made
        making = self._makings.get(key)
        if making is None:
            making = self._makings[key] = asyncio.ensure_future(make())
            making.add_done_callback(lambda done: self._keep(key, done))
        return await asyncio.shield(making)

    def _keep(self, key: Key, making: asyncio.Task[Made]) -> None:
        del self._makings[key]
        if not making.cancelled() and making.exception() is None:
            self._made.keep(key, making.result())
