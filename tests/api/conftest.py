"""A real server on a free port, as `gradwalk serve` starts it."""

import contextlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from tests.own_process import wait_until

T = TypeVar("T")

ADDRESS = re.compile(rb"http://127\.0\.0\.1:\d+")
CHILD_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2] / "server")}


class Server:
    """One process and a client of it."""

    def __init__(self, home: Path, ready: str = "/readyz", **settings: Any) -> None:
        environment = CHILD_ENVIRONMENT | {"GRADWALK_DATA_DIRECTORY": str(home / "data")}
        environment |= {f"GRADWALK_{name.upper()}": str(value) for name, value in settings.items()}
        self.log = home / f"server-{time.monotonic_ns()}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gradwalk", "serve", "--port", "0"], env=environment, stderr=log, stdout=log
            )
        self.url = self._await(self._address).decode()
        self.client = httpx.Client(base_url=self.url, timeout=60)
        self._await(lambda: self.client.get(ready).status_code == 200)

    def _address(self) -> bytes | None:
        found = ADDRESS.search(self.log.read_bytes())
        return found.group() if found else None

    def _await(self, look: Callable[[], T | None]) -> T:
        return wait_until(self.process, self.log, look)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> float:
        """Seconds until it was gone."""
        started = time.monotonic()
        self.client.close()
        self.process.send_signal(number)
        try:
            self.process.wait(30)
        finally:
            self.process.kill()
        return time.monotonic() - started


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Shared by the tests that leave it as it was."""
    running = Server(tmp_path_factory.mktemp("server"), run_seconds=3, run_memory_bytes=128 << 20)
    yield running
    running.stop()


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Servers of a test's own; all on the same data."""
    with contextlib.ExitStack() as stack:

        def start(**settings: Any) -> Server:
            running = Server(tmp_path, **settings)
            stack.callback(running.stop, signal.SIGKILL)
            return running

        yield start
