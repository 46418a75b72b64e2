"""Servers that all workers of a test run share: the first one that needs it starts it, the end of the run stops it."""

import contextlib
import fcntl
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.world.server import EACH_ITS_OWN, ELSEWHERE, Server

OWNER_TOKEN = "a token of their own"
PROFILES: dict[str, dict[str, Any]] = {
    "usual": {"allowed_hosts": [ELSEWHERE]},
    "short": {"run_seconds": 3, "run_memory_bytes": 128 << 20},
    "narrow": {
        "log_format": "text",
        "trusted_proxies": ["127.0.0.1"],
        "client_connections_max": 20,
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
"""Settings of the shared servers; a test that needs others starts a server of its own."""


@dataclass
class SharedServer:
    """A running server, its log, its process and an HTTP client of it."""

    url: str
    log: Path
    pid: int
    client: httpx.Client


FOLDER = pytest.StashKey[Path]()
_STARTED: list[Server] = []
"""By this worker; they run on when it ends."""


@contextmanager
def share(folder: Path, profile: str) -> Iterator[SharedServer]:
    """The server of a profile, started if no worker has it yet."""
    note = folder / f"{profile}.json"
    with (folder / f"{profile}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not note.exists():
            home = folder / profile
            home.mkdir()
            started = Server(home, **PROFILES[profile])
            started.client.close()
            _STARTED.append(started)
            note.write_text(json.dumps({"url": started.url, "log": str(started.log), "pid": started.process.pid}))
    known = json.loads(note.read_text())
    with httpx.Client(base_url=known["url"], timeout=60, limits=EACH_ITS_OWN) as client:
        yield SharedServer(known["url"], Path(known["log"]), known["pid"], client)


def stop_shared_servers(folder: Path) -> None:
    """Ends every server of the run."""
    for note in folder.glob("*.json"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(json.loads(note.read_text())["pid"], signal.SIGTERM)
