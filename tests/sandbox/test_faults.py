"""Each process is killed at random points under load: nothing is lost, nobody is left over."""

from pathlib import Path

from tests.sandbox.faults import rage

KILLS = 20
RESTARTS = 1
SEED = 20261121


def test_twenty_kills_under_load_lose_nothing(tmp_path: Path) -> None:
    tally = rage(tmp_path, KILLS, RESTARTS, SEED)
    assert sum(tally.kills.values()) >= KILLS
    assert set(tally.kills) == {"child", "zygote", "server"}
    assert tally.traces >= 5
    # A child killed from outside looks like the kernel's own killer; a zygote killed twice in one run loses it.
    assert set(tally.problems) <= {"memory", "internal", "protocol"}
