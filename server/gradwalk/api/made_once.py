"""What several ask for at once is made once, and kept for the next ones."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from gradwalk.recent import Recent

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")


class MadeOnce(Generic[Key, Made]):
    """Bounded by bytes; what was not asked for longest goes first. Lives on the event loop.

    Args:
        weigh: bytes that a key and what was made for it take.
        is_stopped: whether the making ends when nobody waits for it any more.
    """

    def __init__(self, bytes_max: int, weigh: Callable[[Key, Made], int], *, is_stopped: bool = False) -> None:
        self._is_stopped = is_stopped
        self._waiting: Counter[Key] = Counter()
        self._makings: dict[Key, asyncio.Task[Made]] = {}
        self._made = Recent(bytes_max, weigh)

    def __contains__(self, key: Key) -> bool:
        """Whether it is made already, or being made."""
        return key in self._made or key in self._makings

    async def ask(self, key: Key, make: Callable[[], Awaitable[Made]]) -> Made:
        """Made already, being made, or made now. To stop waiting stops it for nobody else.

        Raises:
            Exception: that of `make`, to all who wait; the next one tries again.
        """
        made = self._made.recall(key)
        if made is not None:
            return made
        making = self._makings.get(key)
        if making is None:
            making = self._makings[key] = asyncio.ensure_future(make())
            making.add_done_callback(lambda done: self._keep(key, done))
        self._waiting[key] += 1
        try:
            return await asyncio.shield(making)
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key]
                if self._is_stopped and not making.done():
                    # At once, so that nobody waits for it any more.
                    del self._makings[key]
                    making.cancel()

    def _keep(self, key: Key, making: asyncio.Task[Made]) -> None:
        if self._makings.get(key) is not making:
            return
        del self._makings[key]
        if not making.cancelled() and making.exception() is None:
            self._made.keep(key, making.result())
