"""The whole under load and in a container: processes are killed, and the server is root or an ordinary user there."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.container import NOBODY
from tests.sandbox.faults import rage

CONTAINER = Path(__file__).with_name("container.py")
KILLS = 20
SEED = 20261121
pytestmark = [pytest.mark.soak, pytest.mark.usefixtures("run")]


def test_twenty_kills_under_load_lose_nothing(tmp_path: Path) -> None:
    """Children, the zygote and the server are killed at random points while clients ask."""
    tally = rage(tmp_path, KILLS, 1, SEED)
    assert sum(tally.kills.values()) >= KILLS
    assert set(tally.kills) == {"child", "zygote", "server"}
    assert tally.traces >= 5
    # A child killed from outside looks like the kernel's own killer; a zygote killed twice in one run loses it.
    assert set(tally.problems) <= {"memory", "internal", "protocol"}


@pytest.mark.parametrize(("who", "stride"), [("root", 120), ("user", 60)])
def test_the_whole_holds_in_a_container(run: Callable[..., Any], who: str, stride: int) -> None:
    """Within Docker's default capabilities and a filter of system calls like its own."""
    done = run(
        [CONTAINER, who, sys.executable, "-m", "tests.sandbox.whole", stride],
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
    assert found["said"] == {"honest": "ok", "refused": "rejected", "endless": "timeout", "wrong": []}
    assert found["hostile"] >= 15
    assert found["same"]
    assert found["left"] == 0
