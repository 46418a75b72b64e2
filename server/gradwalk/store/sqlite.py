"""The embedded store: one SQLite file.

Reads happen right on the event loop (20 microseconds; a thread would cost ten times that), writes on one
thread of their own. Write-ahead logging lets both go on at once and survives `kill -9`.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from gradwalk.store.compression import compress
from gradwalk.store.store import StoreError, refuse_too_large, remember_bodies

T = TypeVar("T")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS trace (
    id TEXT PRIMARY KEY, body BLOB NOT NULL, bytes INTEGER NOT NULL, used REAL NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS trace_used ON trace (used, bytes);
CREATE TABLE IF NOT EXISTS snippet (
    id TEXT PRIMARY KEY, request BLOB NOT NULL, bytes INTEGER NOT NULL, used REAL NOT NULL,
    client TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX IF NOT EXISTS snippet_used ON snippet (used, bytes);
"""
_ADD_CLIENT = "ALTER TABLE snippet ADD COLUMN client TEXT NOT NULL DEFAULT ''"
"""To a file of before links had a client; those in it are counted as those of one."""
_FIRST_TO_GO = {
    "trace": "used",
    # Of those with what their client used since: the fullest client's oldest has the most.
    "snippet": "-SUM(bytes) OVER (PARTITION BY client ORDER BY used DESC, id)",
}
_PINNED = "pinned"
"""The client of a link that the server's owner keeps; no hash of an address is spelled so."""
_MAY_GO = {"trace": "TRUE", "snippet": f"client != '{_PINNED}'"}
_BUSY_SECONDS = 5.0
_TOUCH_SECONDS = 3_600.0
"""`used` is written at most this often per row: a write per read would cost more than the read."""
_TOUCHED_MAX = 2_048
_EVICT_DOWN_TO = 0.9
COUNT_EVERY = 256
"""New rows; a second process may write to the same file."""


class _Size:
    """What a table holds, counted now and then: the sum over all rows takes longer with every row."""

    def __init__(self) -> None:
        self._bytes = 0
        self._uncounted = COUNT_EVERY

    def grow(self, added: int, bytes_max: int) -> bool:
        """Notes a new row; whether it is time to count, since it may be too much or others may have written too."""
        self._bytes += added
        self._uncounted += 1
        return self._bytes > bytes_max or self._uncounted >= COUNT_EVERY

    def note(self, counted: int) -> None:
        """The sum, as of now."""
        self._bytes, self._uncounted = counted, 0


class SqliteStore:
    """Bounded by bytes; of traces the longest unused go first, of links those of the client that has the most."""

    def __init__(self, path: Path, trace_bytes_max: int, snippet_bytes_max: int) -> None:
        self._path = path
        self._bytes_max = {"trace": trace_bytes_max, "snippet": snippet_bytes_max}
        self._sizes = {"trace": _Size(), "snippet": _Size()}
        self._memory = remember_bodies()
        self._files = remember_bodies()
        self._touched: dict[str, float] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        self._reader = self._connect()
        self._writer = self._connect()
        self._writing = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store-writer")
        with closing(self._writer.cursor()) as cursor:
            cursor.executescript(_SCHEMA)
            cursor.execute("BEGIN IMMEDIATE")
            if "client" not in {name for _, name, *_ in cursor.execute("PRAGMA table_info(snippet)")}:
                cursor.execute(_ADD_CLIENT)
            cursor.execute("COMMIT")

    async def get_trace(self, trace_id: str) -> bytes | None:
        body = self._memory.recall(trace_id)
        if body is None:
            body = self._read("SELECT body FROM trace WHERE id = ?", trace_id)
            if body is None:
                return None
            self._memory.keep(trace_id, body)
        self._touch("trace", trace_id)
        return body

    async def put_trace(self, trace_id: str, document: bytes) -> None:
        body = await self._write(lambda: self._insert_trace(trace_id, document))
        self._memory.keep(trace_id, body)

    async def get_snippet(self, snippet_id: str) -> bytes | None:
        request = self._read("SELECT request FROM snippet WHERE id = ?", snippet_id)
        if request is not None:
            self._touch("snippet", snippet_id)
        return request

    async def put_snippet(self, snippet_id: str, request: bytes, client: str) -> None:
        row: dict[str, str | bytes] = {"request": request, "client": client}
        await self._write(lambda: self._insert("snippet", snippet_id, row, len(request)))

    async def pin_snippet(self, snippet_id: str) -> bool:
        pin = "UPDATE snippet SET client = ? WHERE id = ?"
        return await self._write(lambda: self._writer.execute(pin, (_PINNED, snippet_id)).rowcount == 1)

    async def get_file(self, address: str) -> bytes | None:
        return self._files.recall(address)

    async def put_file(self, address: str, body: bytes) -> None:
        # In memory alone: made again in seconds, and as large as a thousand traces.
        refuse_too_large(body)
        self._files.keep(address, body)

    async def check(self) -> None:
        await self._write(self._probe)

    async def close(self) -> None:
        await asyncio.to_thread(self._writing.shutdown)
        self._reader.close()
        self._writer.close()

    def _connect(self) -> sqlite3.Connection:
        # Each connection is used by one thread at a time: the reader by the loop's, the writer by its executor's.
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    def _read(self, query: str, key: str) -> bytes | None:
        try:
            row = self._reader.execute(query, (key,)).fetchone()
        except sqlite3.Error as error:
            raise StoreError(f"the store cannot be read: {error}") from error
        return row[0] if row else None

    async def _write(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._writing, work)
        except sqlite3.Error as error:
            raise StoreError(f"the store cannot be written: {error}") from error

    def _insert_trace(self, trace_id: str, document: bytes) -> bytes:
        body = compress(document)
        self._insert("trace", trace_id, {"body": body}, len(body))
        return body

    def _insert(self, table: str, key: str, row: dict[str, str | bytes], size: int) -> None:
        names = ", ".join(("id", *row))
        added = self._writer.execute(
            f"INSERT OR IGNORE INTO {table} ({names}, bytes, used) VALUES (?, {'?, ' * len(row)}?, ?)",
            (key, *row.values(), size, time.time()),
        ).rowcount
        if added and self._sizes[table].grow(size, self._bytes_max[table]):
            self._evict(table, keep=key)
            self._sizes[table].note(self._count_bytes(table))

    def _evict(self, table: str, keep: str) -> None:
        """Deletes those that are the first to go, in one statement, once the table is over its size."""
        total = self._count_bytes(table)
        if total <= self._bytes_max[table]:
            return
        excess = total - int(self._bytes_max[table] * _EVICT_DOWN_TO)
        self._writer.execute(
            f"""DELETE FROM {table} WHERE id IN (
                SELECT id FROM (
                    SELECT id, SUM(bytes) OVER (ORDER BY place) - bytes AS freed FROM (
                        SELECT id, bytes, ROW_NUMBER() OVER (ORDER BY first_to_go, id) AS place FROM (
                            SELECT *, {_FIRST_TO_GO[table]} AS first_to_go FROM {table}
                        ) WHERE id != ? AND {_MAY_GO[table]}
                    )
                ) WHERE freed < ?
            )""",
            (keep, excess),
        )

    def _count_bytes(self, table: str) -> int:
        (total,) = self._writer.execute(f"SELECT COALESCE(SUM(bytes), 0) FROM {table}").fetchone()
        return int(total)

    def _probe(self) -> None:
        """A real write, committed: what is undone never reaches the disk, so it would not notice a full one."""
        self._writer.execute("INSERT OR REPLACE INTO snippet VALUES ('probe', zeroblob(8192), 8192, 0, '')")

    def _touch(self, table: str, key: str) -> None:
        now = time.time()
        if now - self._touched.get(key, 0.0) < _TOUCH_SECONDS:
            return
        if len(self._touched) > _TOUCHED_MAX:
            self._touched.clear()
        self._touched[key] = now
        self._writing.submit(self._writer.execute, f"UPDATE {table} SET used = ? WHERE id = ?", (now, key))
