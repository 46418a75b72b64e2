"""Workers and servers of a cluster: the command lines and settings of `docker-compose.yml`, as local processes."""

import asyncio
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.world.processes import ENVIRONMENT, PATIENCE_SECONDS, wait_until
from tests.world.redis import SERVICES, Redis
from tests.world.server import Server
from tests.world.stream import ACCEPT, events_in

WITHOUT_TORCH = """
import importlib.metadata, sys
absent, version = ("torch", "numpy", "sympy"), importlib.metadata.version
def version_of_what_is_there(name):
    if name in absent:
        raise importlib.metadata.PackageNotFoundError(name)
    return version(name)
sys.modules.update(dict.fromkeys(absent))
importlib.metadata.version = version_of_what_is_there
from gradwalk.cli.main import main
main()
"""
"""`gradwalk` where PyTorch is not installed: as in the image of a server of a cluster."""


def settings_of(service: str, url: str) -> dict[str, str]:
    """What the compose file sets for a service, on this machine's loopback and with the redis-server of a test."""
    given = {name.removeprefix("GRADWALK_").lower(): text for name, text in SERVICES[service]["environment"].items()}
    return {**given, "host": "127.0.0.1", "port": 0, "cluster_url": url_of(service, url)}


def url_of(service: str, url: str) -> str:
    """The redis-server of a test at `url` under the name that the compose file gives to a service."""
    named = urlsplit(SERVICES[service]["environment"]["GRADWALK_CLUSTER_URL"])
    return named._replace(netloc=f"{named.username}:{named.password}@127.0.0.1:{urlsplit(url).port}").geturl()


class Worker:
    """Runs programs; its output is in `log`."""

    def __init__(self, home: Path, url: str, **settings: Any) -> None:
        self.log = home / f"worker-{time.monotonic_ns()}.log"
        given = settings_of("worker", url) | {"data_directory": self.log.with_suffix("")} | settings
        environment = ENVIRONMENT | {f"GRADWALK_{name.upper()}": str(value) for name, value in given.items()}
        command = [sys.executable, "-m", "gradwalk", *SERVICES["worker"]["command"][1:]]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)

    def wait(self) -> "Worker":
        """Until it takes programs."""
        wait_until(lambda: b"taking programs" in self.log.read_bytes(), self.process, self.log)
        return self

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Ends it. Idempotent."""
        self.process.send_signal(number)
        self.process.wait(60)


class ClusterServer(Server):
    """Serves where PyTorch is not installed."""

    def __init__(self, home: Path, url: str, *, path: str = "/readyz", **settings: Any) -> None:
        module = ("-c", WITHOUT_TORCH, *SERVICES["api"]["command"][1:])
        super().__init__(home, module=module, path=path, **settings_of("api", url) | settings)


@dataclass
class Cluster:
    """A redis-server, the workers and the servers that share it."""

    home: Path
    shared: Redis
    workers: list[Worker] = field(default_factory=list)
    servers: list[ClusterServer] = field(default_factory=list)

    def add_worker(self, **settings: Any) -> Worker:
        """One more; `wait` for it."""
        self.workers.append(Worker(self.home, self.shared.url, **settings))
        return self.workers[-1]

    def add_server(self, path: str = "/readyz", **settings: Any) -> ClusterServer:
        """One more, ready; with `/healthz` as its path, before there are workers."""
        home = Path(tempfile.mkdtemp(prefix="api-", dir=self.home))
        self.servers.append(ClusterServer(home, self.shared.url, path=path, **settings))
        return self.servers[-1]

    def close(self) -> None:
        """Ends all of it."""
        for server in self.servers:
            server.stop(signal.SIGKILL)
        for worker in self.workers:
            worker.kill()
        self.shared.stop()


async def follow_to_the_end(urls: list[str], source: str) -> list[dict[str, Any]]:
    """All events of a program, read as a page does: after a break again, elsewhere if need be, from where it was.

    To `done`, not only to the last event: a server that is killed between the two has not kept the trace yet. A run
    that a new server begins anew may be killed before the point where the reader was; then it is read from the start.
    """
    events: list[dict[str, Any]] = []
    is_done = False
    async with asyncio.timeout(PATIENCE_SECONDS), httpx.AsyncClient(timeout=60) as client:
        for url in cycle(urls):
            with suppress(httpx.TransportError):
                posted = await client.post(f"{url}/api/traces", json={"source": source})
                assert posted.status_code in (200, 202, 429, 503), posted.text
                if posted.is_success:
                    resume = {**ACCEPT, "Last-Event-ID": str(len(events) - 1)} if events else ACCEPT
                    path = f"{url}{posted.json()['links']['events']}"
                    async with client.stream("GET", path, headers=resume) as answer:
                        async for line in answer.aiter_lines():
                            events += events_in(line)
                            is_done |= line == "event: done"
            if is_done and events and events[-1]["type"] == "finished":
                return events
            if is_done:
                events, is_done = [], False
            await asyncio.sleep(0.1)
    raise AssertionError("never ended")
