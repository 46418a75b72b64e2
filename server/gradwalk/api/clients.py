"""Who is asking, and how often: a client is an address.

A whole lecture hall may share one, so the ceilings are high; what keeps one client from starving another is the
order of the queue (`engine/fairness.py`).
"""

import ipaddress
import logging
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from limits import parse
from limits.aio.storage import Storage
from limits.aio.strategies import FixedWindowRateLimiter
from limits.errors import StorageError
from starlette.requests import HTTPConnection

from gradwalk.api.settings import Settings
from gradwalk.engine.engine import BusyError
from gradwalk.protocol.facts import Fact, fact

log = logging.getLogger(__name__)

_IPV6_NETWORK_BITS = 64
"""One household or machine; every one of its addresses is as good as the other."""


async def client_of(connection: HTTPConnection) -> str:
    """The client of a request; behind trusted proxies uvicorn has put the forwarded address in its place."""
    return name_client(connection.client.host if connection.client is not None else "")


@lru_cache(maxsize=4_096)
def name_client(address: str) -> str:
    """An IPv4 address as it is, an IPv6 address by its network."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, _IPV6_NETWORK_BITS), strict=False))
    return str(parsed)


class Rate(Protocol):
    """How many requests of one kind a client may send in a time."""

    async def take(self, client: str) -> None:
        """Counts one.

        Raises:
            BusyError: that is one too many.
        """

    async def check(self, client: str) -> None:
        """Counts nothing.

        Raises:
            BusyError: one more would be too many.
        """


@dataclass(frozen=True)
class Rates:
    """What is counted."""

    runs: Rate
    """New runs of an address."""
    links: Rate
    """Those among them that a link started, which any page can follow for its reader."""
    room: Rate
    """What an address asks of rooms."""
    guess: Rate
    """Those among them that were about no room."""
    participant: Rate
    """What one follower sends to a room."""
    close: Callable[[], Awaitable[None]]


class OwnRate:
    """Counted by this server alone; `why` is said to who sends more.

    In a few lines of our own: the memory that `limits` has starts a thread for every few hits, and waits for it.
    """

    def __init__(self, rate: str, why: Fact) -> None:
        self._why = why
        self._item = parse(rate)
        self._windows: dict[str, _Window] = {}
        """Of each client, in the order in which they end."""

    async def take(self, client: str, cost: int = 1) -> None:
        window = self._window_of(client)
        window.count += cost
        self._refuse_above(window, self._item.amount)

    async def check(self, client: str) -> None:
        self._refuse_above(self._window_of(client), self._item.amount - 1)

    def _window_of(self, client: str) -> "_Window":
        now = time.monotonic()
        while self._windows and (oldest := next(iter(self._windows.items())))[1].end <= now:
            del self._windows[oldest[0]]
        return self._windows.setdefault(client, _Window(now + self._item.get_expiry()))

    def _refuse_above(self, window: "_Window", most: int) -> None:
        if window.count > most:
            raise BusyError(max(1, math.ceil(window.end - time.monotonic())), self._why)


@dataclass
class _Window:
    """What a client has sent since its first request."""

    end: float
    count: int = 0


class SharedRate:
    """Counted over all servers; where the shared memory does not answer, nobody is refused for that."""

    def __init__(self, rate: str, why: Fact, storage: Storage) -> None:
        self._why, self._name = why, why["kind"]
        self._item = parse(rate)
        self._limiter = FixedWindowRateLimiter(storage)

    async def take(self, client: str) -> None:
        await self._ask(self._limiter.hit, client)

    async def check(self, client: str) -> None:
        await self._ask(self._limiter.test, client)

    async def _ask(self, may: Callable[..., Awaitable[bool]], client: str) -> None:
        try:
            if await may(self._item, self._name, client):
                return
            window = await self._limiter.get_window_stats(self._item, self._name, client)
        except StorageError as error:
            log.warning("clients are not counted: %s", error)
            return
        raise BusyError(max(1, math.ceil(window.reset_time - time.time())), self._why)


def make_rates(settings: Settings, make: Callable[[str, Fact], Rate], close: Callable[[], Awaitable[None]]) -> Rates:
    """Those of the settings, each counted as `make` has it."""
    return Rates(
        runs=make(settings.client_rate, fact("api-busy-client")),
        links=make(settings.link_rate, fact("api-busy-link")),
        room=make(settings.room_rate, fact("api-busy-room")),
        guess=make(settings.guess_rate, fact("api-busy-guess")),
        participant=make(settings.participant_rate, fact("api-busy-participant")),
        close=close,
    )


async def close_nothing() -> None:
    """For rates that hold nothing open."""
