"""The memory that this process may take: above it, nothing new is begun until it is below again."""

import ctypes
import gc
import os
import sys
import time
from pathlib import Path

_LOOK_SECONDS = 0.2
_STATM = Path("/proc/self/statm")
_RESIDENT = 1
"""Which number of it, in pages."""


class MemoryCap:
    """Asked on each request; on a system without /proc it is never reached."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._look_again = 0.0
        self._is_reached = False

    @property
    def is_reached(self) -> bool:
        """As of a moment ago."""
        now = time.monotonic()
        if now >= self._look_again:
            self._is_reached = self._resident() > self._bytes_max and not self._has_given_back()
            self._look_again = now + _LOOK_SECONDS
        return self._is_reached

    def _has_given_back(self) -> bool:
        """What was freed in small pieces stays with the process until it is told to let go."""
        gc.collect()
        if sys.platform == "linux":
            trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
            if trim is not None:
                trim(0)
        return self._resident() <= self._bytes_max

    def _resident(self) -> int:
        if not _STATM.exists():
            return 0
        return int(_STATM.read_text().split()[_RESIDENT]) * os.sysconf("SC_PAGE_SIZE")
