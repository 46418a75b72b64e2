"""The whole in a container: a real server, and hostile programs against the kernel's layers alone, as two users."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradwalk.sandbox.limits import RunLimits
from gradwalk.sandbox.supervisor import Sandbox
from tests.sandbox.container import NOBODY
from tests.sandbox.programs import read_collection
from tests.sandbox.test_collections import contain
from tests.world.processes import wait_until
from tests.world.sandbox import MEMORY_BYTES, REFERENCE
from tests.world.server import running_server
from tests.world.stream import kind_of, trace_events

CONTAINER = Path(__file__).with_name("container.py")
WALL_SECONDS = 1.0
ENDS = {REFERENCE: "ok", "open('a')\n": "error", "while True: pass\n": "timeout"}


@pytest.mark.soak
@pytest.mark.parametrize(("who", "stride"), [("root", 45), ("user", 25)])
def test_the_whole_holds_in_a_container(run: Callable[..., Any], who: str, stride: int) -> None:
    """Within Docker's default capabilities and a filter of system calls like its own."""
    done = run(
        [CONTAINER, who, sys.executable, "-m", "tests.sandbox.test_container", stride],
        environment={"HOME": "/nonexistent"},
        cwd="/tmp",  # noqa: S108 (a folder that every user may be in)
        timeout=None,
    )
    # Where the tests run as an ordinary user, there is no root to be.
    assert int(done.stdout) == (os.geteuid() or (NOBODY if who == "user" else 0))


def try_server() -> None:
    """A real server says what it is, and ends three programs as it should."""
    with running_server(run_seconds=WALL_SECONDS) as server:
        ready = server.client.get("/readyz").json()
        assert (ready["protection"]["level"], ready["layers"]["seccomp"]) == ("full", True), ready
        for source, kind in ENDS.items():
            assert kind_of(trace_events(server.client, source)) == kind, source
        family = server.family()
        server.stop()
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family))
        assert "protection: full" in server.log.read_text()


def try_hostile(stride: int) -> None:
    """Programs of the collection against the kernel alone, however they end."""
    hostile = read_collection("hostile")[::stride]
    assert len(hostile) >= 15
    with Sandbox(RunLimits(wall_seconds=WALL_SECONDS, memory_bytes=MEMORY_BYTES)) as sandbox:
        contain(sandbox, hostile, lambda *_: True)


if __name__ == "__main__":
    try_server()
    try_hostile(int(sys.argv[1]))
    print(os.geteuid())  # noqa: T201
