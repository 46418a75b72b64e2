"""The whole in a container: a real server, and hostile programs against the kernel's layers alone, as two users."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradwalk.protocol.document import encode
from gradwalk.sandbox.limits import RunLimits
from gradwalk.sandbox.supervisor import Sandbox
from tests.sandbox.container import NOBODY
from tests.sandbox.programs import read_collection
from tests.sandbox.test_collections import run_all
from tests.world.processes import children_of, wait_until
from tests.world.sandbox import MEMORY_BYTES, REFERENCE, trace_in
from tests.world.server import running_server
from tests.world.stream import kind_of, trace_events

CONTAINER = Path(__file__).with_name("container.py")
WALL_SECONDS = 1.0
ASKED = {"honest": REFERENCE, "refused": "open('a')\n", "endless": "while True: pass\n"}


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
    found = json.loads(done.stdout)
    # Where the tests run as an ordinary user, there is no root to be.
    assert found["user"] == (os.geteuid() or (NOBODY if who == "user" else 0))
    assert found["level"] == "full"
    assert found["layers"]["seccomp"] is True
    assert found["logged"]
    assert found["said"] == {"honest": "ok", "refused": "error", "endless": "timeout"}
    assert found["hostile"] >= 15
    assert found["same"]
    assert found["left"] == 0


def ask_server() -> dict[str, Any]:
    """What a real server says of itself and of three programs, and how it went."""
    with running_server(run_seconds=WALL_SECONDS) as server:
        ready = server.client.get("/readyz").json()
        said = {name: kind_of(trace_events(server.client, source)) for name, source in ASKED.items()}
        family = server.family()
        server.stop()
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family))
        level = ready["protection"]["level"]
        logged = f"protection: {level}" in server.log.read_text()
    return {"level": level, "layers": ready["layers"], "logged": logged, "said": said}


def run_hostile(stride: int) -> dict[str, Any]:
    """Hostile programs against the kernel alone: what became of the others, and what was left."""
    hostile = read_collection("hostile")[::stride]
    with Sandbox(RunLimits(wall_seconds=WALL_SECONDS, memory_bytes=MEMORY_BYTES)) as sandbox:
        reference = encode(trace_in(sandbox, REFERENCE))
        launcher = sandbox.launcher
        run_all(sandbox, hostile, lambda *_: True)
        same = encode(trace_in(sandbox, REFERENCE)) == reference and sandbox.launcher is launcher
    left = len(children_of(launcher.pid))  # type: ignore[union-attr]
    return {"hostile": len(hostile), "same": same, "left": left}


if __name__ == "__main__":
    number = int(sys.argv[1])
    print(json.dumps({"user": os.geteuid()} | ask_server() | run_hostile(number)))  # noqa: T201
