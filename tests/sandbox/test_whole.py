"""The whole runs, and holds, inside a container's limits: as root with Docker's capabilities, and as anybody."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.container import NOBODY

ROOT = Path(__file__).parents[2]
CONTAINER = Path(__file__).with_name("container.py")


@pytest.mark.parametrize(("who", "stride"), [("root", 120), ("user", 60)])
def test_the_whole_holds_in_a_container(who: str, stride: int) -> None:
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{ROOT / 'server'}:{ROOT}", "HOME": "/nonexistent"}
    command = [sys.executable, str(CONTAINER), who, sys.executable, "-m", "tests.sandbox.whole", str(stride)]
    done = subprocess.run(command, env=environment, cwd="/tmp", capture_output=True, text=True, timeout=600)  # noqa: S108
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # Where the tests run as an ordinary user, there is no root to be.
    assert found["user"] == (os.geteuid() or (NOBODY if who == "user" else 0))
    assert found["level"] == "full"
    assert found["layers"]["seccomp"] is True
    assert found["logged"]
    assert found["said"] == {"honest": "ok", "refused": "rejected", "endless": "timeout", "wrong": []}
    assert found["gone"]
    assert found["hostile"] >= 15
    assert found["same"]
    assert found["left"] == 0
