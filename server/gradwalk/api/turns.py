"""Turns of the event loop, shared out among clients: what one client's connections bring never fills a whole turn."""

import asyncio
from collections import deque
from collections.abc import Callable


class Turns:
    """One piece of work per client in each turn of the event loop; of a client in its order."""

    def __init__(self) -> None:
        self._queues: dict[str, deque[Callable[[], None]]] = {}

    def take(self, client: str, work: Callable[[], None]) -> bool:
        """Does `work` at once where it is the client's first of this turn, later where not; whether it is done."""
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
        asyncio.get_running_loop().call_soon(self._go_on, client)
        queue.popleft()()
