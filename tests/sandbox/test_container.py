"""The whole in a container, as two users: tests of other files, run within its limits."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.container import NOBODY
from tests.world.processes import ROOT

CONTAINER = Path(__file__).with_name("container.py")
HELD = (
    "tests/sandbox/test_collections.py::test_hostile_programs_are_contained[sample]",
    "tests/api/test_requests.py::test_the_probes_tell_what_locks_programs_in",
    "tests/api/test_traces.py::test_a_running_trace_is_followed_from_anywhere",
    "tests/api/test_operations.py::test_a_killed_server_leaves_its_traces_and_no_process",
)
"""Hostile programs end as elsewhere; a real server is fully protected, ends programs, and leaves no process."""


@pytest.mark.soak
@pytest.mark.parametrize("who", ["root", "user"])
def test_the_whole_holds_in_a_container(run: Callable[..., Any], who: str) -> None:
    """Within Docker's default capabilities and a filter of system calls like its own."""

    def run_inside(*command: str) -> str:
        inside = {"environment": {"HOME": "/nonexistent"}, "cwd": ROOT, "timeout": None}
        return run([CONTAINER, who, *command], **inside).stdout

    # Where the tests run as an ordinary user, there is no root to be.
    assert int(run_inside("id", "-u")) == (os.geteuid() or (NOBODY if who == "user" else 0))
    assert f"{len(HELD)} passed" in run_inside(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *HELD)
