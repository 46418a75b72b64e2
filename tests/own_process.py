"""Processes that tests start: wait until one is ready, and end one for certain."""

import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

START_SECONDS = 180.0


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(process: subprocess.Popen[Any], log: Path, look: Callable[[], T | None]) -> T:
    """What `look` gives, as soon as it gives something; fails with the log when the process ends before, or hangs."""
    give_up = time.monotonic() + START_SECONDS
    while not (found := look()):
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < give_up, log.read_text()
        time.sleep(0.05)
    return found


def end(process: subprocess.Popen[Any], seconds: float = 20.0) -> None:
    """Asks it to end, and makes it."""
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
