"""Who is asking, and how often: a client is an address.

A whole lecture hall may share one, so the ceilings are high; what keeps one client from starving another is the
order of the queue (`engine/fairness.py`).
"""

import ipaddress
import math
import time
from functools import lru_cache

from fastapi import Request
from limits import parse
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from gradwalk.engine.engine import BusyError

_IPV6_NETWORK_BITS = 64
"""One household or machine; every one of its addresses is as good as the other."""


async def client_of(request: Request) -> str:
    """The client of a request; behind trusted proxies uvicorn has put the forwarded address in its place."""
    return name_client(request.client.host if request.client is not None else "")


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


class ClientRate:
    """How many requests of one kind a client may send in a time; `why` is said to who sends more."""

    def __init__(self, rate: str, why: str = "Too many programs came from your address.") -> None:
        self._why = why
        self._item = parse(rate)
        self._limiter = FixedWindowRateLimiter(MemoryStorage())

    def take(self, client: str) -> None:
        """Counts one.

        Raises:
            BusyError: that is one too many.
        """
        if self._limiter.hit(self._item, client):
            return
        reset_time = self._limiter.get_window_stats(self._item, client).reset_time
        seconds = max(1, math.ceil(reset_time - time.time()))
        raise BusyError(seconds, self._why)
