"""A real redis-server with the compose file's options and users: a port, a folder, nothing left behind."""

import os
import random
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import redis
import yaml

from tests.world.processes import ROOT, wait_until

_FILLED = re.sub(r"\$\{(\w+)[^}]*\}", r"\1", (ROOT / "docker-compose.yml").read_text())
"""A variable's password is its name: `${WEB_PASSWORD:?why}` is `WEB_PASSWORD`."""
SERVICES: dict[str, Any] = yaml.safe_load(_FILLED)["services"]

SERVER = os.environ.get("GRADWALK_TEST_REDIS", "redis-server")
"""Another server of the same protocol, such as Valkey's."""
_TESTER, _EVERYTHING = "tester", ("~*", "&*", "+@all")
_CHANCE = random.SystemRandom()
"""Programs under test seed the other one: two workers picked the same port, and one got the stopped server's."""


class Redis:
    """Runs until `stop`; keeps its data across `restart`, as the compose file's does."""

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home = home
        self.port = 0
        self.process = self._start()

    @property
    def url(self) -> str:
        """For a test, which may do everything."""
        return f"redis://{_TESTER}:{_TESTER}@127.0.0.1:{self.port}/0"

    def client(self) -> redis.Redis:
        """A plain connection, to look at the data."""
        return redis.Redis.from_url(self.url)

    def refusals(self) -> list[tuple[str, str]]:
        """Users and what they were refused, but for the name of their library, which they tell newer servers."""
        with self.client() as client:
            found = [(str(one["username"]), str(one["object"])) for one in client.acl_log()]
        return [(user, what) for user, what in found if not what.startswith("client|setinfo")]

    def restart(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Ends it and starts it anew on the same port and file."""
        self.stop(number)
        self.process = self._start()

    def stop(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Ends it. Idempotent."""
        self.process.send_signal(number)
        self.process.wait(60)

    def _start(self) -> subprocess.Popen[bytes]:
        """redis-server cannot pick a port by itself: one that somebody else has makes it exit, and another is tried."""
        log = self.home / "redis.log"
        for _ in range(50):
            port = self.port or _CHANCE.randrange(20_000, 32_000)
            command = [SERVER, *SERVICES["valkey"]["command"][1:], "--user", _TESTER, "on", f">{_TESTER}", *_EVERYTHING]
            command += ["--bind", "127.0.0.1", "--port", str(port), "--dir", str(self.home)]
            with log.open("ab") as output:
                process = subprocess.Popen(command, stdout=output, stderr=output)
            wait_until(lambda port=port, process=process: process.poll() is not None or _is_ours(port, process.pid))
            if process.poll() is None:
                self.port = port
                return process
        raise AssertionError(log.read_text())


def _is_ours(port: int, pid: int) -> bool:
    try:
        with redis.Redis(port=port, username=_TESTER, password=_TESTER, retry=None) as client:
            return client.info("server")["process_id"] == pid
    except redis.exceptions.RedisError:
        return False
