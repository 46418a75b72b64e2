"""Turns of the event loop, shared out among clients: what one client's connections bring never fills a whole turn."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

_CROWD = 16
"""Pieces of one client that wait: a browser opens six connections."""
_SHARED_SECONDS = 1.0
"""Since another client was there: a crowd that is alone need not leave room for others."""


class Turns:
    """One piece of work per client in each turn of the event loop; of a client in its order.

    The pieces of a crowd are `pause_seconds` apart while there are other clients: the processor that they take is
    also that of everybody's programs.
    """

    def __init__(self, pause_seconds: float = 0) -> None:
        self._pause_seconds = pause_seconds
        self._queues: dict[str, deque[Callable[[], None]]] = {}
        self._latest = ""
        self._shared_until = 0.0

    def take(self, client: str, work: Callable[[], None]) -> bool:
        """Does `work` at once where it is the client's first of this turn, later where not; whether it is done."""
        if client != self._latest:
            self._latest, self._shared_until = client, time.monotonic() + _SHARED_SECONDS
        queue = self._queues.get(client)
        if queue is not None:
            queue.append(work)
            return False
        self._queues[client] = deque()
        asyncio.get_running_loop().call_soon(self._go_on, client)
        work()
        return True

    async def wait(self, client: str) -> None:
        """Returns when it is the turn of this piece of a client's work."""
        turn = asyncio.get_running_loop().create_future()

        def begin() -> None:
            # Its reader may have hung up meanwhile.
            if not turn.done():
                turn.set_result(None)

        self.take(client, begin)
        await turn

    def _go_on(self, client: str) -> None:
        queue = self._queues[client]
        if not queue:
            del self._queues[client]
            return
        must_pause = len(queue) > _CROWD and time.monotonic() < self._shared_until
        asyncio.get_running_loop().call_later(self._pause_seconds if must_pause else 0, self._go_on, client)
        queue.popleft()()
