"""Real workers and servers of a cluster: the command lines and settings of `docker-compose.yml`, as local processes."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx
import yaml

T = TypeVar("T")

START_SECONDS = 120.0
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
        give_up = time.monotonic() + START_SECONDS
        while not (found := look()):
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < give_up, self.log.read_text()
            time.sleep(0.05)
        return found

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

    def wait(self) -> "OwnServer":
        """Until it has an address and is ready."""
        found = self.wait_until(lambda: ADDRESS.search(self.log.read_bytes()))
        self.url = found.group().decode()
        self.client.close()
        self.client = httpx.Client(base_url=self.url, timeout=60)
        self.wait_until(lambda: self.client.get("/readyz").status_code == 200)
        return self

    def kill(self, number: signal.Signals = signal.SIGKILL) -> float:
        """As any process, and without our connections."""
        self.client.close()
        return super().kill(number)
