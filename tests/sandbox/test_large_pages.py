"""Large pages, by what the kernel says of a process that gathers its memory; in a process of its own."""

import os
import subprocess
import sys

import pytest

_MADVISE_COLLAPSE = (6, 1)
_PROGRAM = """
import sys
from pathlib import Path
from gradwalk.sandbox.large_pages import gather_into_large_pages

def large_bytes():
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("AnonHugePages"))

held = [bytes([number % 251]) * 4_000 for number in range(16_000)]
before = large_bytes()
moved = gather_into_large_pages()
assert all(each == bytes([number % 251]) * 4_000 for number, each in enumerate(held))
print(before, moved, large_bytes())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux is asked")
def test_memory_is_gathered_and_its_content_stays() -> None:
    said = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True).stdout
    before, moved, after = map(int, said.split())
    if moved == 0:
        assert tuple(map(int, os.uname().release.split(".")[:2])) < _MADVISE_COLLAPSE
        return
    assert moved >= 48 << 20, "of 64 MB that are held"
    assert after - before >= 48 << 20
