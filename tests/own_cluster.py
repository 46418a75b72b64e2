"""Real workers and servers of a cluster: the command lines and settings of `docker-compose.yml`, as local processes."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx
import yaml

from tests.own_process import wait_until
from tests.own_redis import OwnRedis

T = TypeVar("T")

STREAM = {"Accept": "text/event-stream"}
HERE = Path(__file__).parent
SERVICES = yaml.safe_load((HERE.parent / "docker-compose.yml").read_text())["services"]
ADDRESS = re.compile(rb"http://127\.0\.0\.1:\d+")


class OwnProcess:
    """One service of the compose file; its words are in `log`."""

    def __init__(self, home: Path, url: str, service: str, *program: str, **settings: Any) -> None:
        self.log = home / f"{service}-{time.monotonic_ns()}.log"
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{HERE.parent / 'server'}:{HERE.parent}"}
        environment |= SERVICES[service]["environment"] | {
            "GRADWALK_HOST": "127.0.0.1",
            "GRADWALK_PORT": "0",
            "GRADWALK_CLUSTER_URL": url,
            "GRADWALK_DATA_DIRECTORY": str(self.log.with_suffix("")),
        }
        environment |= {f"GRADWALK_{name.upper()}": str(value) for name, value in settings.items()}
        # `gradwalk` of the image is this checkout's.
        command = [sys.executable, *program, *SERVICES[service]["command"][1:]]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)

    def wait_until(self, look: Callable[[], T | None]) -> T:
        """What `look` gives, as soon as it gives something."""
        return wait_until(self.process, self.log, look)

    def kill(self, number: signal.Signals = signal.SIGKILL) -> float:
        """Seconds until it was gone; idempotent."""
        began = time.monotonic()
        if self.process.poll() is None:
            os.kill(self.process.pid, number)
        self.process.wait(60)
        return time.monotonic() - began


class OwnWorker(OwnProcess):
    """Runs programs."""

    def __init__(self, home: Path, url: str, **settings: Any) -> None:
        super().__init__(home, url, "worker", "-m", "gradwalk", **settings)

    def wait(self) -> "OwnWorker":
        """Until it takes programs."""
        self.wait_until(lambda: b"taking programs" in self.log.read_bytes() or None)
        return self


class OwnServer(OwnProcess):
    """Serves, without torch."""

    def __init__(self, home: Path, url: str, **settings: Any) -> None:
        super().__init__(home, url, "api", "-m", "tests.without_torch", **settings)
        self.client = httpx.Client()

    def wait(self, path: str = "/readyz") -> "OwnServer":
        """Until it has an address and is ready; with `/healthz`, before there are workers."""
        found = self.wait_until(lambda: ADDRESS.search(self.log.read_bytes()))
        self.url = found.group().decode()
        self.client.close()
        self.client = httpx.Client(base_url=self.url, timeout=60)
        self.wait_until(lambda: self._answers(path))
        return self

    def _answers(self, path: str) -> bool:
        try:
            return self.client.get(path).status_code == 200
        except httpx.TransportError:
            return False  # its address is told a moment before it listens

    def kill(self, number: signal.Signals = signal.SIGKILL) -> float:
        """As any process, and without our connections."""
        self.client.close()
        return super().kill(number)


@dataclass
class Cluster:
    """What runs, and how to break it."""

    home: Path
    shared: OwnRedis
    workers: list[OwnWorker] = field(default_factory=list)
    servers: list[OwnServer] = field(default_factory=list)

    def add_worker(self, **settings: Any) -> OwnWorker:
        """One more; `wait` for it."""
        worker = OwnWorker(self.home, self.shared.url, **settings)
        self.workers.append(worker)
        return worker

    def add_server(self, **settings: Any) -> OwnServer:
        """One more; `wait` for it."""
        server = OwnServer(self.home, self.shared.url, **settings)
        self.servers.append(server)
        return server

    def worker_of(self, trace: str) -> OwnWorker:
        """Who runs it."""
        with self.shared.client() as client:
            name = client.hget(f"gradwalk:run:{trace}", "worker").decode()
        return next(worker for worker in self.workers if name.endswith(f"-{worker.process.pid}"))

    def close(self) -> None:
        """Ends everything."""
        for process in (*self.servers, *self.workers):
            process.kill()
        self.shared.stop()


async def read_stream(answer: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    """Events as they come; ends without an error when the server is gone, as a browser's EventSource would."""
    try:
        async for line in answer.aiter_lines():
            if line.startswith("data: ["):
                for event in json.loads(line[6:]):
                    yield event
    except httpx.TransportError:
        return


async def follow_to_the_end(urls: list[str], source: str) -> list[dict[str, Any]]:
    """What a page does: asks, reads, comes back with the last number it has, elsewhere if need be."""
    events: list[dict[str, Any]] = []
    give_up = time.monotonic() + 90
    async with httpx.AsyncClient(timeout=30) as client:
        for url in (url for _ in range(1_000) for url in urls):
            try:
                posted = await client.post(f"{url}/api/traces", json={"source": source})
                if posted.status_code in (200, 202):
                    resume = {**STREAM, "Last-Event-ID": str(len(events) - 1)} if events else STREAM
                    path = f"{url}{posted.json()['links']['events']}"
                    async with client.stream("GET", path, headers=resume) as answer:
                        events += [event async for event in read_stream(answer)]
                elif posted.status_code not in (429, 503):
                    raise AssertionError(posted.text)
            except httpx.TransportError:
                pass
            if events and events[-1]["type"] == "finished":
                return events
            assert time.monotonic() < give_up, f"{len(events)} events, the last answer was {posted.text}"
            await asyncio.sleep(0.1)
    raise AssertionError("never ended")


def assert_whole(events: list[dict[str, Any]]) -> None:
    """Every event once, in order, to the end, and none of them a problem."""
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert events[-1]["type"] == "finished"
    assert events[-1]["problems"] == 0
