"""Servers that all tests of a test worker share, by their settings."""

from typing import Any

from tests.world.server import Server

OWNER_TOKEN = "a token of their own"
PROFILES: dict[str, dict[str, Any]] = {
    "short": {"run_seconds": 3, "run_memory_bytes": 128 << 20},
    "narrow": {
        "trusted_proxies": ["127.0.0.1"],
        "client_connections_max": 60,
        "request_seconds": 1,
        "run_seconds": 2,
        "cpu_rate": "2/hour",
    },
    "tight": {
        "trusted_proxies": ["127.0.0.1"],
        "running_count": 1,
        "waiting_count": 4,
        "client_waiting_count": 2,
        "client_rate": "5/hour",
        "link_rate": "2/hour",
        "guess_rate": "5/hour",
        "body_rate": "140000/hour",
        "run_seconds": 60,
        "abandon_seconds": 0.1,
        "rooms_max": 40,
        "room_places_max": 30,
        "owner_token": OWNER_TOKEN,
    },
}
"""A test that needs other settings starts a server of its own; `server` has the usual ones."""
SharedServer = Server
