"""A real redis-server of one's own: a free port, a folder for its file, nothing left behind."""

import os
import signal
import subprocess
import time
from pathlib import Path

import redis

from tests.own_process import free_port

START_SECONDS = 20.0
SERVER = os.environ.get("GRADWALK_TEST_REDIS", "redis-server")
"""Another server of the same protocol, such as Valkey's."""


class OwnRedis:
    """Runs until `stop`; keeps what it holds across `restart`, as the compose file's does."""

    def __init__(self, home: Path, *options: str) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home = home
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._options = options
        self.process = self._start()

    def client(self) -> redis.Redis:
        """A plain connection for looking at what is there."""
        return redis.Redis.from_url(self.url)

    def restart(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Ends it and starts it anew on the same port and file."""
        self.stop(number)
        self.process = self._start()

    def stop(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Ends it; idempotent."""
        if self.process.poll() is None:
            os.kill(self.process.pid, number)
        self.process.wait(30)

    def _start(self) -> subprocess.Popen[bytes]:
        command = [SERVER, "--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.home)]
        command += ["--appendonly", "yes", "--save", "", "--daemonize", "no", *self._options]
        with (self.home / "redis.log").open("ab") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        give_up = time.monotonic() + START_SECONDS
        while True:
            assert process.poll() is None, (self.home / "redis.log").read_text()
            assert time.monotonic() < give_up, (self.home / "redis.log").read_text()
            try:
                with redis.Redis.from_url(self.url) as client:
                    client.ping()
            except redis.exceptions.RedisError:
                time.sleep(0.02)
            else:
                return process
