"""The garbage collector while a trace is made: events are many small dictionaries without cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

RELAXED_COLLECTION: Final = (50_000, 20, 50)
"""Thresholds at which all events are not looked through again and again."""


@contextmanager
def relaxed_collection() -> Iterator[None]:
    """Collects rarely inside; the caller's thresholds come back afterwards."""
    kept = gc.get_threshold()
    gc.set_threshold(*RELAXED_COLLECTION)
    try:
        yield
    finally:
        gc.set_threshold(*kept)


@contextmanager
def paused_collection() -> Iterator[None]:
    """Collects nothing inside; afterwards what was made there counts as old, and is not looked through at once."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
