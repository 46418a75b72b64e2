"""Samples of the large databases and collections: `make test` takes these, `make test-all` every entry.

Whether an entry is in a sample depends on its name alone, so that new entries leave the others where they are.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar
from zlib import crc32

import pytest

T = TypeVar("T")


def is_sampled(name: str, one_in: int) -> bool:
    """Whether the entry of this name belongs to a sample of one in so many."""
    return crc32(name.encode()) % one_in == 0


def sampled(entries: Iterable[T], name: Callable[[T], str], one_in: int) -> list[Any]:
    """Every entry for `parametrize`, named; those outside the sample are marked and run in ring 3 only."""
    return [
        pytest.param(entry, id=name(entry), marks=() if is_sampled(name(entry), one_in) else pytest.mark.sweep)
        for entry in entries
    ]
