"""What a process does to itself before it has children."""

import os
from collections.abc import Callable
from typing import Any

import pytest

_MADVISE_COLLAPSE = (6, 1)
_PROGRAM = """
from pathlib import Path
from gradwalk.sandbox.warm import gather_into_large_pages

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
def test_memory_is_gathered_in_large_pages(run: Callable[..., Any]) -> None:
    before, moved, after = map(int, run(["-c", _PROGRAM]).stdout.split())
    if moved == 0:
        assert tuple(map(int, os.uname().release.split(".")[:2])) < _MADVISE_COLLAPSE
        return
    assert moved >= 48 << 20, "of 64 MB that are held"
    assert after - before >= 48 << 20
