"""How much of something a client may have in a time: requests, bytes, seconds of processor time."""

import logging
import math
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

from limits import parse
from limits.aio.storage import Storage
from limits.aio.strategies import FixedWindowRateLimiter
from limits.errors import StorageError

from gradwalk.engine.engine import BusyError
from gradwalk.protocol.facts import Fact

log = logging.getLogger(__name__)

_PARTS: Final = 1_000
"""Of one, in the shared memory: it counts in whole numbers, and a run takes parts of a second."""


class Rate(Protocol):
    """A window begins with what a client takes first, and ends after the rate's time."""

    async def take(self, client: str, cost: float = 1) -> None:
        """Counts so much.

        Raises:
            BusyError: that is more than there is.
        """

    async def check(self, client: str) -> None:
        """Counts nothing.

        Raises:
            BusyError: nothing is left.
        """


class OwnRate:
    """Counted by this server alone, from any thread; `why` is said to a client who takes more.

    In a few lines of our own: the memory that `limits` has starts a thread for every few hits, and waits for it.
    """

    def __init__(self, rate: str, why: Fact) -> None:
        self._why = why
        self._item = parse(rate)
        self._windows: dict[str, _Window] = {}
        """Of each client, in the order in which they end."""
        self._lock = threading.Lock()

    async def take(self, client: str, cost: float = 1) -> None:
        window = self._count(client, cost)
        if window.count > self._item.amount:
            raise self._refusal(window)

    async def check(self, client: str) -> None:
        refusal = self.refusal_of(client)
        if refusal is not None:
            raise refusal

    def charge(self, client: str, cost: float) -> None:
        """Counts so much, also where that is more than there is."""
        self._count(client, cost)

    def _count(self, client: str, cost: float) -> "_Window":
        with self._lock:
            self._forget_ended()
            window = self._windows.setdefault(client, _Window(time.monotonic() + self._item.get_expiry()))
            window.count += cost
            return window

    def refusal_of(self, client: str) -> BusyError | None:
        """What `check` raises."""
        with self._lock:
            self._forget_ended()
            window = self._windows.get(client)
        return None if window is None or window.count < self._item.amount else self._refusal(window)

    def _forget_ended(self) -> None:
        now = time.monotonic()
        while self._windows and (oldest := next(iter(self._windows.items())))[1].end <= now:
            del self._windows[oldest[0]]

    def _refusal(self, window: "_Window") -> BusyError:
        return BusyError(max(1, math.ceil(window.end - time.monotonic())), self._why)


@dataclass
class _Window:
    """What a client has taken since it took something first."""

    end: float
    count: float = 0


class SharedRate:
    """Counted over all servers and workers; where the shared memory does not answer, nobody is refused for that."""

    def __init__(self, rate: str, why: Fact, storage: Storage) -> None:
        self._why, self._name = why, why["kind"]
        item = parse(rate)
        self._item = type(item)(item.amount * _PARTS, item.multiples)
        self._limiter = FixedWindowRateLimiter(storage)

    async def take(self, client: str, cost: float = 1) -> None:
        await self._ask(self._limiter.hit, client, round(cost * _PARTS))

    async def check(self, client: str) -> None:
        await self._ask(self._limiter.test, client, 1)

    async def _ask(self, may: Callable[..., Awaitable[bool]], client: str, cost: int) -> None:
        try:
            if await may(self._item, self._name, client, cost=cost):
                return
            window = await self._limiter.get_window_stats(self._item, self._name, client)
        except StorageError as error:
            log.warning("clients are not counted: %s", error)
            return
        raise BusyError(max(1, math.ceil(window.reset_time - time.time())), self._why)
