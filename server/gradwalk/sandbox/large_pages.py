"""Large pages for what every child shares.

A fork copies an entry for each page that the parent has written to, and the child's end takes each back: 60,000 of them
for torch and all that is imported. In pages of 2 MiB it is a hundred, and a child only pays for those that it writes
to: the kernel takes a large page apart for who writes, and copies 4 KiB of it as before.
"""

import ctypes
import re
from pathlib import Path

from gradwalk.sandbox.lockdown import IS_LINUX

# linux/mman.h, since 6.1. What is there now is moved; what a child adds stays in small pages.
_MADV_COLLAPSE = 25
_LARGE_PAGE_BYTES = 2 << 20
_libc = ctypes.CDLL(None)
_libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p \S+ \S+ \S+ *(\[heap\])?$")


def gather_into_large_pages() -> int:
    """Moves this process's own memory, as it is now, into large pages; the bytes that were moved.

    A kernel that has none changes nothing, and 0 is said.
    """
    return sum(_gather(first, end) for first, end in _own_memory()) if IS_LINUX else 0


def _own_memory() -> list[tuple[int, int]]:
    """First byte and end of each run of whole large pages in memory that is no file's."""
    found = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        mapping = _MAPPING.fullmatch(line)
        if mapping is not None:
            first, end = (int(mapping[number], 16) for number in (1, 2))
            first, end = -(-first // _LARGE_PAGE_BYTES), end // _LARGE_PAGE_BYTES
            if first < end:
                found.append((first * _LARGE_PAGE_BYTES, end * _LARGE_PAGE_BYTES))
    return found


def _gather(first: int, end: int) -> int:
    """Page by page: asked for all at once, the kernel stops at the first for which it finds no room."""
    pages = range(first, end, _LARGE_PAGE_BYTES)
    return sum(_LARGE_PAGE_BYTES for page in pages if _libc.madvise(page, _LARGE_PAGE_BYTES, _MADV_COLLAPSE) == 0)
