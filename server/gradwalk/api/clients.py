"""Who is asking, and how much of what there is for each: a client is an address.

A whole lecture hall may share one, so the ceilings are high; what keeps one client from starving another is the
order of the queue (`engine/fairness.py`).
"""

import ipaddress
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache

from starlette.requests import HTTPConnection

from gradwalk.api.settings import Settings
from gradwalk.engine.rates import OwnRate, Rate
from gradwalk.protocol.facts import Fact, fact

_WITHOUT_END = f"{sys.maxsize}/second"
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


@dataclass(frozen=True)
class Rates:
    """What is counted."""

    runs: Rate
    """New runs of an address."""
    links: Rate
    """Those among them that a link started, which any page can follow for its reader."""
    cpu: Rate
    """Seconds of processor time that an address's runs and files used; the engine counts them."""
    room: Rate
    """What an address asks of rooms."""
    guess: Rate
    """Those among them that were about no room."""
    participant: Rate
    """What one follower sends to a room, so that no page crowds out the hall that shares its address."""
    close: Callable[[], Awaitable[None]]


def make_rates(settings: Settings, make: Callable[[str, Fact], Rate], close: Callable[[], Awaitable[None]]) -> Rates:
    """Those of the settings, each counted as `make` has it."""
    used_up = fact("api-busy-cpu")
    return Rates(
        runs=make(settings.client_rate, fact("api-busy-client")),
        links=make(settings.link_rate, fact("api-busy-link")),
        cpu=make(settings.cpu_rate, used_up) if settings.cpu_rate else OwnRate(_WITHOUT_END, used_up),
        room=make(settings.room_rate, fact("api-busy-room")),
        guess=make(settings.guess_rate, fact("api-busy-guess")),
        participant=make(settings.participant_rate, fact("api-busy-participant")),
        close=close,
    )


async def close_nothing() -> None:
    """For rates that hold nothing open."""
