"""What a process does to itself before it has children; each in a process of its own."""

import os
from collections.abc import Callable
from typing import Any

import pytest

_MADVISE_COLLAPSE = (6, 1)
_PROGRAM = """
import torch
from pathlib import Path
from gradwalk.sandbox.accelerators import without_accelerators
from gradwalk.sandbox.warm import gather_into_large_pages

def numbers():
    torch.manual_seed(7)
    return [*torch.rand(3).tolist(), torch.seed() != 7]

before = numbers()
without_accelerators(lambda *_: None)
kept = [device._lazy_seed_tracker.get_calls() for device in (torch.cuda, torch.xpu, torch.mtia)]
assert numbers() == before, "seeds"
assert [device._lazy_seed_tracker.get_calls() for device in (torch.cuda, torch.xpu, torch.mtia)] == kept, "devices"

def large_bytes():
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("AnonHugePages"))

held = [bytes([number % 251]) * 4_000 for number in range(16_000)]
before = large_bytes()
moved = gather_into_large_pages()
assert all(each == bytes([number % 251]) * 4_000 for number, each in enumerate(held)), "content"
print(before, moved, large_bytes())
"""


@pytest.mark.soak
def test_seeds_stay_and_memory_is_gathered_in_large_pages(run: Callable[..., Any]) -> None:
    before, moved, after = map(int, run(["-c", _PROGRAM]).stdout.split())
    if moved == 0:
        assert tuple(map(int, os.uname().release.split(".")[:2])) < _MADVISE_COLLAPSE
        return
    assert moved >= 48 << 20, "of 64 MB that are held"
    assert after - before >= 48 << 20
