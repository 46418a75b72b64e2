"""The SQLite store against real files: two at once, eviction, a full disk, damage."""

import resource
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from itertools import pairwise
from os import urandom
from pathlib import Path

import pytest

from gradwalk.store.compression import decompress
from gradwalk.store.sqlite import COUNT_EVERY, SqliteStore
from gradwalk.store.store import StoreError

PLENTY = 1 << 30
FILE = "traces.sqlite3"
OF_ONE_WRITER = 40_000
"""More than one writer of small rows adds between two counts, and less than two do."""


@asynccontextmanager
async def opened(path: Path, **sizes: int) -> AsyncIterator[SqliteStore]:
    """A store that remembers nothing but what is in the file."""
    store = SqliteStore(path / FILE, **{"trace_bytes_max": PLENTY, "snippet_bytes_max": PLENTY, **sizes})
    try:
        yield store
    finally:
        await store.close()


def ask(path: Path, query: str) -> int:
    """The one number that SQLite itself finds in the file."""
    with closing(sqlite3.connect(path / FILE)) as database:
        return int(database.execute(query).fetchone()[0])


async def test_the_longest_unused_are_evicted_and_snippets_stay(tmp_path: Path) -> None:
    names = [f"{number:02}" for number in range(30)]
    async with opened(tmp_path, trace_bytes_max=10_000) as store:
        for name in names:
            await store.put_trace(name, urandom(1_000))
            await store.put_snippet(name, b"request", "client")
    async with opened(tmp_path, trace_bytes_max=10_000) as store:
        kept = [name for name in names if await store.get_trace(name) is not None]
        assert None not in [await store.get_snippet(name) for name in names]
        await store.put_trace("large", urandom(50_000))
    assert 5 <= len(kept) <= 10
    assert kept == names[-len(kept) :]
    async with opened(tmp_path) as store:
        assert await store.get_trace("large") is not None, "though it is larger than the whole store"


async def test_links_of_strangers_never_take_the_place_of_one_that_is_read(tmp_path: Path) -> None:
    path = tmp_path / FILE
    with closing(sqlite3.connect(path)) as before:  # as it was when links had no client
        before.execute("CREATE TABLE snippet (id TEXT PRIMARY KEY, request BLOB NOT NULL, bytes INTEGER, used REAL)")
        rows = [(f"before {number}", b"r" * 100, 100, number) for number in range(10)]
        before.executemany("INSERT INTO snippet VALUES (?, ?, ?, ?)", rows)
        before.commit()
    async with opened(tmp_path, snippet_bytes_max=2_000) as store:
        for number in range(4):
            await store.put_snippet(f"hall {number}", b"r" * 100, f"student {number}")
        assert await store.get_snippet("before 0") == b"r" * 100
        for number in range(200):
            await store.put_snippet(f"flood {number}", b"r" * 100, "stranger")
        kept = {name for number in range(200) if await store.get_snippet(name := f"flood {number}") is not None}
        assert "flood 199" in kept
        assert [await store.get_snippet(f"hall {number}") for number in range(4)] == [b"r" * 100] * 4
        old = [number for number in range(10) if await store.get_snippet(f"before {number}") is not None]
    assert len(kept) in range(len(old), 12)
    assert old == [0, *range(11 - len(old), 10)], "the one that was read, and the last used"


async def test_a_full_disk_is_a_clear_error_and_old_traces_are_still_served(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    async with opened(tmp_path) as store:
        await store.put_trace("old", b"document")
        # No file may grow any more: SQLite sees what it sees on a full disk, a write that fails.
        resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / f"{FILE}-wal").stat().st_size, limits[1]))
        try:
            with pytest.raises(StoreError):
                await store.put_trace("new", urandom(100_000))
            with pytest.raises(StoreError):
                await store.check()
            async with opened(tmp_path) as other:
                assert decompress(await other.get_trace("old") or b"") == b"document"
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        await store.check()
        await store.put_trace("new", b"room again")


async def test_a_damaged_file_is_a_store_error(tmp_path: Path) -> None:
    async with opened(tmp_path) as store, opened(tmp_path) as damaged:
        await store.put_trace("a", urandom(50_000))
        with closing(sqlite3.connect(tmp_path / FILE)) as other:
            other.execute("DROP TABLE trace")
        with pytest.raises(StoreError, match="cannot be read"):
            await damaged.get_trace("a")


async def test_reads_do_not_write_more_than_once_an_hour(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        await store.put_trace("a", b"document")
        await store.get_trace("a")
        await store.check()
        with closing(sqlite3.connect(tmp_path / FILE)) as other:
            changes = other.execute("PRAGMA data_version").fetchone()
            for _ in range(100):
                await store.get_trace("a")
            await store.put_trace("a", b"known")  # writes nothing, after everything that was to be written
            assert other.execute("PRAGMA data_version").fetchone() == changes
    assert ask(tmp_path, "SELECT COUNT(*) FROM trace") == 1


async def test_the_size_that_is_counted_along_is_the_real_one(tmp_path: Path) -> None:
    """No row goes too early or too late, also among duplicates; with a second writer, sooner or later."""
    real_bytes = "SELECT COALESCE(SUM(LENGTH(body)), 0) FROM trace"
    async with opened(tmp_path, trace_bytes_max=20_000) as store:
        sizes = [0]
        for number in range(60):
            await store.put_trace(str(number % 45), urandom(700))
            sizes.append(ask(tmp_path, real_bytes))
        assert 10_000 < max(sizes) <= 20_000
        early = [before for before, now in pairwise(sizes) if now < before and before + 700 <= 20_000]
        assert early == [], "evicted before it was full"
    (tmp_path / FILE).unlink()
    async with opened(tmp_path, trace_bytes_max=OF_ONE_WRITER) as store:
        async with opened(tmp_path) as other:
            for number in range(COUNT_EVERY - 50):
                await store.put_trace(f"ours {number}", urandom(100))
                await other.put_trace(f"theirs {number}", urandom(100))
        assert ask(tmp_path, real_bytes) > OF_ONE_WRITER
        for number in range(100):
            await store.put_trace(f"again {number}", urandom(100))
        assert ask(tmp_path, real_bytes) <= OF_ONE_WRITER, "what another one wrote is counted as well, sooner or later"
