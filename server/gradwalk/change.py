"""Something that changes, and any number of tasks of one event loop that wait for its next change.

A crowd waits here: a bare future and a timer each. `asyncio.wait_for` around an `asyncio.Event` would make a task per
waiter and change, which costs more than sending the news.
"""

import asyncio

_AT_ONCE = 8
"""Tasks that go on in one turn of the event loop: thousands of them would keep everybody else from it."""


class Change:
    """One after the other; who begins to wait hears of the next one."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[bool]] = set()

    def tell(self) -> None:
        """Wakes everybody who waits now."""
        waiting, self._waiting = list(self._waiting), set()
        self._wake(waiting)

    def _wake(self, waiting: list[asyncio.Future[bool]]) -> None:
        for one in waiting[:_AT_ONCE]:
            if not one.done():
                one.set_result(True)
        if rest := waiting[_AT_ONCE:]:
            asyncio.get_running_loop().call_soon(self._wake, rest)

    async def wait(self, patience_seconds: float) -> bool:
        """Whether there was a change before patience ran out."""
        loop = asyncio.get_running_loop()
        told: asyncio.Future[bool] = loop.create_future()
        self._waiting.add(told)
        timer = loop.call_later(patience_seconds, _give_up, told)
        try:
            return await told
        finally:
            timer.cancel()
            self._waiting.discard(told)


def _give_up(told: asyncio.Future[bool]) -> None:
    if not told.done():
        told.set_result(False)
