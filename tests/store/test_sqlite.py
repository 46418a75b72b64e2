"""The SQLite store against real files: restarts, two at once, eviction, a full disk, damage."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gradwalk.store.compression import decompress
from gradwalk.store.sqlite import _COUNT_EVERY, SqliteStore
from gradwalk.store.store import StoreError
from tests.world.loop import run_in_own_loop

PLENTY = 1 << 30
OF_ONE_WRITER = 40_000
"""More than one writer of small rows adds between two counts, and less than two do."""


def open_store(path: Path, trace_bytes_max: int = PLENTY, snippet_bytes_max: int = PLENTY) -> SqliteStore:
    return SqliteStore(path / "traces.sqlite3", trace_bytes_max, snippet_bytes_max)


def run(path: Path, work: Callable[[SqliteStore], Coroutine[Any, Any, Any]], **sizes: int) -> Any:
    """Opens, works, closes."""

    async def inside() -> Any:
        store = open_store(path, **sizes)
        try:
            return await work(store)
        finally:
            await store.close()

    return run_in_own_loop(inside())


def noise(size: int) -> bytes:
    """Bytes that gzip cannot make smaller."""
    return os.urandom(size)


def test_the_longest_unused_are_evicted_and_snippets_stay(tmp_path: Path) -> None:
    async def fill(store: SqliteStore) -> list[str]:
        for number in range(30):
            await store.put_trace(f"{number:02}", noise(1_000))
            await store.put_snippet(f"{number:02}", b"request")
        return []

    async def count(store: SqliteStore) -> tuple[list[str], int]:
        names = [f"{number:02}" for number in range(30)]
        kept = [name for name in names if await store.get_trace(name) is not None]
        return kept, sum([await store.get_snippet(name) is not None for name in names])

    run(tmp_path, fill, trace_bytes_max=10_000)
    kept, snippets = run(tmp_path, count)
    assert 5 <= len(kept) <= 10
    assert kept == [f"{number:02}" for number in range(30)][-len(kept) :]
    assert snippets == 30


def test_the_newest_is_kept_even_if_it_is_larger_than_the_whole_store(tmp_path: Path) -> None:
    async def fill(store: SqliteStore) -> Any:
        await store.put_trace("small", noise(100))
        await store.put_trace("large", noise(5_000))
        return await store.get_trace("large")

    assert run(tmp_path, fill, trace_bytes_max=1_000) is not None


def test_a_full_disk_is_a_clear_error_and_old_traces_are_still_served(tmp_path: Path) -> None:
    async def fill(store: SqliteStore) -> None:
        await store.put_trace("old", b"document")
        pages = store._writer.execute("PRAGMA page_count").fetchone()[0]
        store._writer.execute(f"PRAGMA max_page_count = {pages + 1}")
        with pytest.raises(StoreError, match="full"):
            await store.put_trace("new", noise(100_000))
        with pytest.raises(StoreError, match="full"):
            await store.check()
        store._memory.forget_all()
        assert decompress(await store.get_trace("old") or b"") == b"document"
        store._writer.execute("PRAGMA max_page_count = 1000000")
        await store.check()
        await store.put_trace("new", b"room again")

    run(tmp_path, fill)


@pytest.mark.usefixtures("run")
def test_a_killed_writer_leaves_a_store_that_opens(tmp_path: Path) -> None:
    program = """
import asyncio, sys
from pathlib import Path
from gradwalk.store.sqlite import _COUNT_EVERY, SqliteStore

async def main():
    store = SqliteStore(Path(sys.argv[1]), 1 << 30, 1 << 30)
    for number in range(10**6):
        await store.put_trace(str(number), b"document")
        print(number, flush=True)

asyncio.run(main())
"""
    writer = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "traces.sqlite3")], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    last = [writer.stdout.readline() for _ in range(20)][-1]
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()

    async def get(store: SqliteStore) -> list[bytes | None]:
        return [await store.get_trace(str(number)) for number in range(int(last) + 1)]

    assert None not in run(tmp_path, get)


def test_a_damaged_file_is_a_store_error(tmp_path: Path) -> None:
    async def damage(store: SqliteStore) -> None:
        await store.put_trace("a", noise(50_000))
        store._memory.forget_all()
        store._reader.execute("PRAGMA writable_schema = ON")
        store._reader.execute("DROP TABLE trace")
        with pytest.raises(StoreError, match="cannot be read"):
            await store.get_trace("a")

    run(tmp_path, damage)


def test_reads_do_not_write_more_than_once_an_hour(tmp_path: Path) -> None:
    async def read(store: SqliteStore) -> int:
        await store.put_trace("a", b"document")
        for _ in range(100):
            await store.get_trace("a")
        await store.check()
        return store._writer.total_changes

    assert run(tmp_path, read) <= 3
    with sqlite3.connect(tmp_path / "traces.sqlite3") as database:
        assert database.execute("SELECT COUNT(*) FROM trace").fetchone() == (1,)
    database.close()


def test_the_size_that_is_counted_along_is_the_real_one(tmp_path: Path) -> None:
    """After each row of a single writer, through duplicates and evictions; with a second writer from time to time."""

    def real_bytes() -> int:
        with closing(sqlite3.connect(tmp_path / "traces.sqlite3")) as database:
            return int(database.execute("SELECT COALESCE(SUM(LENGTH(body)), 0) FROM trace").fetchone()[0])

    async def write_alone(store: SqliteStore) -> None:
        for number in range(60):
            await store.put_trace(str(number % 45), noise(700 + number))
            assert store._sizes["trace"]._bytes == real_bytes()
        assert 10_000 < real_bytes() <= 20_000

    async def write_beside_another(store: SqliteStore) -> None:
        other = open_store(tmp_path)
        for number in range(_COUNT_EVERY - 50):
            await store.put_trace(f"ours {number}", noise(100))
            await other.put_trace(f"theirs {number}", noise(100))
        await other.close()
        assert real_bytes() > OF_ONE_WRITER
        for number in range(100):
            await store.put_trace(f"again {number}", noise(100))
        assert real_bytes() <= OF_ONE_WRITER, "what another one wrote is counted as well, sooner or later"

    run(tmp_path, write_alone, trace_bytes_max=20_000)
    (tmp_path / "traces.sqlite3").unlink()
    run(tmp_path, write_beside_another, trace_bytes_max=OF_ONE_WRITER)
