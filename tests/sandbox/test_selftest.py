"""The level of protection is what real children could do, layer by layer, as whoever runs the tests."""

import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

from gradwalk.protocol.facts import fact
from gradwalk.sandbox.selftest import judge_probes
from tests.sandbox.container import as_nobody
from tests.world.processes import ROOT

LEVELS = {
    "landlock": ("full", ""),
    "seccomp": ("partial", "stat"),
    "resource_limits": ("partial", "memory"),
    "seccomp landlock": ("none", "stat signal exec"),
    "seccomp landlock resource_limits": ("none", "read list stat connect fork thread signal memory raise exec"),
}
"""Layers that are switched off; the level, and what is open then."""
*ONE_OR_TWO, ALL = LEVELS


@pytest.mark.parametrize("off", [*(pytest.param(off, marks=pytest.mark.sweep) for off in ONE_OR_TWO), ALL])
def test_with_a_layer_switched_off_the_level_is_told_truthfully(start_sandbox, off):
    sandbox = start_sandbox(**dict.fromkeys(off.split(), False))
    found = sandbox.measure()
    assert sandbox.protection == found
    assert sandbox.layers["dropped_root"] == (os.geteuid() == 0)
    level, opened = LEVELS[off]
    assert (found.level, set(found.open)) == (level, set(opened.split()))


@pytest.mark.soak
@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests already run as an ordinary user")
def test_to_an_ordinary_user_the_level_is_told_truthfully_too(run_program: Callable[..., Any]) -> None:
    """Root drops its rights for the children; this one never had any. That it gets `full`: `test_container.py`."""
    levels = f"{__file__}::{test_with_a_layer_switched_off_the_level_is_told_truthfully.__name__}"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--ring=2,3", levels]
    done = run_program(as_nobody(command), environment={"HOME": "/nonexistent"}, cwd=ROOT)
    assert f"{len(LEVELS)} passed" in done.stdout


def test_a_loop_that_nobody_can_end_is_no_protection_at_all() -> None:
    assert judge_probes(("loop",)).level == "none"
    assert judge_probes(("loop",)).said == fact("page-protection-open", can=[fact("page-protection-loop")])
    assert judge_probes(()).said == fact("page-protection-full")
