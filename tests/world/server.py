"""`gradwalk serve` as a process of its own, on a port that the system picks."""

import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.world.processes import ENVIRONMENT, ROOT, descendants_of, wait_until

STATIC = ROOT / "server" / "gradwalk" / "static"
ADDRESS = re.compile(rb"http://(?:127\.0\.0\.1|0\.0\.0\.0):(\d+)")
EACH_ITS_OWN = httpx.Limits(max_keepalive_connections=0)
"""Of requests and connections: on a busy machine a server ends an idle one while something is sent over it."""
ELSEWHERE = "lecture.test"
"""A name under which the server is not on the reader's own machine, as far as a browser can tell."""


class Server:
    """One server and an HTTP client of it.

    Its data is in `home`, so that a later server on the same folder has it. `settings` are GRADWALK_ variables by
    their names in lower case; `module` is what `python -m` runs. `path` must answer 200 before it counts as started.
    """

    def __init__(
        self,
        home: Path,
        *,
        module: Sequence[str] = ("-m", "gradwalk", "serve"),
        port: int = 0,
        path: str = "/readyz",
        python: Path | str = sys.executable,
        **settings: Any,
    ) -> None:
        environment = {**ENVIRONMENT, "GRADWALK_DATA_DIRECTORY": str(home / "data"), "GRADWALK_AS_ROOT": "true"}
        # A name in capitals is a variable of the environment itself.
        for name, value in settings.items():
            spelt = json.dumps(value) if isinstance(value, list | dict | bool) else str(value)
            environment[name if name.isupper() else f"GRADWALK_{name.upper()}"] = spelt
        self.home = home
        self.log = home / f"server-{time.monotonic_ns()}.log"
        with self.log.open("wb") as log:
            # A session of its own: a shared server outlives the worker process that started it.
            self.process = subprocess.Popen(
                [python, *module, "--port", str(port)],
                env=environment,
                cwd=home,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        found = wait_until(lambda: ADDRESS.search(self.log.read_bytes()), self.process, self.log)
        self.url = f"http://127.0.0.1:{found[1].decode()}"
        self.client = httpx.Client(base_url=self.url, timeout=60, limits=EACH_ITS_OWN)
        wait_until(lambda: self._answers(path), self.process, self.log)

    @property
    def pid(self) -> int:
        """Of the serving process."""
        return self.process.pid

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.rpartition(":")[2])

    def family(self) -> set[int]:
        """The processes under it."""
        return descendants_of(self.process.pid)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ends it; its exit status. Idempotent."""
        self.client.close()
        if self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(60)
            finally:
                self.process.kill()
        return self.process.wait()

    def _answers(self, path: str) -> bool:
        try:
            return self.client.get(path).status_code == 200
        except httpx.TransportError:
            return False  # the address is in the log a moment before the socket listens


@contextmanager
def running_server(**settings: Any) -> Iterator[Server]:
    """A server with an empty store in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), **{"allowed_hosts": [ELSEWHERE], **settings})
        try:
            yield server
        finally:
            server.stop()
