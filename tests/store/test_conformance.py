"""Both stores keep the same promises: one SQLite file, and a real redis-server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwalk.cluster.connection import connect
from gradwalk.store import redis_store
from gradwalk.store.compression import Coding, compress, decompress, unpack
from gradwalk.store.redis_store import SNIPPET_SECONDS, TRACE_SECONDS, RedisStore
from gradwalk.store.sqlite import SqliteStore
from gradwalk.store.store import StoreError, TraceStore
from tests.world.cluster import Cluster, url_of
from tests.world.redis import Redis

PLENTY = 1 << 30

Open = Callable[..., AbstractAsyncContextManager[TraceStore]]
"""One more server that uses the store, or a worker."""


@pytest.fixture(params=["sqlite", "shared"])
def opened(request: pytest.FixtureRequest, run: object, tmp_path: Path) -> Open:  # noqa: ARG001 (it starts processes)
    """Every store in turn, empty; the shared one under the user of the service that opens it."""
    redis: Redis | None = request.getfixturevalue("redis") if request.param == "shared" else None

    @asynccontextmanager
    async def open_one(service: str = "api") -> AsyncIterator[TraceStore]:
        own = tmp_path / "traces.sqlite3"
        url = redis and url_of(service, redis.url)
        store = RedisStore(connect(url)) if url else SqliteStore(own, PLENTY, snippet_bytes_max=1_050)
        try:
            yield store
        finally:
            await store.close()

    return open_one


async def test_what_one_server_kept_another_one_finds(opened: Open) -> None:
    async with opened() as store:
        await asyncio.gather(store.put_trace("a", b"document"), store.put_trace("b", b"document"))
        await store.put_snippet("s", b"request", "client")
        await store.check()
    async with opened() as store:
        body, request, absent = await store.get_trace("a"), await store.get_snippet("s"), await store.get_trace("s")
        assert body == await store.get_trace("b"), "the bytes at rest are reproducible"
    assert (decompress(body), request, absent) == (b"document", b"request", None)


async def test_a_client_that_keeps_too_much_loses_its_own_links_oldest_first(opened: Open, monkeypatch) -> None:
    monkeypatch.setattr(redis_store, "SNIPPETS_OF_CLIENT_MAX", 10)
    async with opened() as store:
        await store.put_snippet("lecture", b"r" * 50, "lecturer")
        for number in range(40):
            await store.put_snippet(f"{number:02}", b"r" * 100, "stranger")
    async with opened() as store:
        assert await store.get_snippet("lecture") == b"r" * 50
        kept = [number for number in range(40) if await store.get_snippet(f"{number:02}") is not None]
        assert 5 <= len(kept) <= 10
        assert kept == [*range(40 - len(kept), 40)]


async def test_a_pinned_link_stays_however_large_it_is_and_whoever_made_it(opened: Open, monkeypatch) -> None:
    monkeypatch.setattr(redis_store, "SNIPPETS_OF_CLIENT_MAX", 10)
    async with opened() as store:
        await store.put_snippet("lecture", b"r" * 600, "stranger")
        assert [await store.pin_snippet(name) for name in ("lecture", "lecture", "nothing")] == [True, True, False]
        for number in range(40):
            await store.put_snippet(f"{number:02}", b"r" * 100, "stranger")
        assert await store.get_snippet("lecture") == b"r" * 600
        assert await store.get_snippet("39") is not None


async def test_the_first_writer_wins_also_among_many_at_once(opened: Open) -> None:
    async with opened() as one, opened() as other:
        await asyncio.gather(*[store.put_trace("a", b"%d" % n) for n in range(20) for store in (one, other)])
    async with opened() as one, opened() as other:
        first = await one.get_trace("a")
        await asyncio.gather(
            one.put_trace("a", b"late"), other.put_snippet("s", b"1", "x"), one.put_snippet("s", b"2", "x")
        )
        async with opened() as third:
            bodies = {first, await one.get_trace("a"), await other.get_trace("a"), await third.get_trace("a")}
    assert len(bodies) == 1
    assert decompress(bodies.pop() or b"") in {b"%d" % n for n in range(20)}


async def test_a_file_is_kept_byte_for_byte_and_one_that_is_too_large_is_refused(opened, monkeypatch):
    body = bytes(range(256)) * 8_000
    async with opened("worker") as store:
        assert await store.get_file("file/a") is None
        await store.put_file("file/a", body)
        await store.put_file("file/a", b"late")
        monkeypatch.setattr("gradwalk.store.store.FILE_BYTES_MAX", len(body) - 1)
        with pytest.raises(StoreError):
            await store.put_file("file/b", body)
        assert (await store.get_file("file/a"), await store.get_file("file/b")) == (body, None)


async def test_the_shared_store_forgets_by_itself_and_later_what_is_used(redis: Redis) -> None:
    names = {"gradwalk:trace:ttl": TRACE_SECONDS, "gradwalk:snippet:ttl": SNIPPET_SECONDS}
    async with connect(redis.url) as connection:
        await RedisStore(connection).put_trace("ttl", b"document")
        await RedisStore(connection).put_snippet("ttl", b"request", "client")
        found = [await connection.ttl(name) for name in names]
        for name in names:
            await connection.expire(name, 100)
        await RedisStore(connection).get_trace("ttl")
        await RedisStore(connection).get_snippet("ttl")
        found += [await connection.ttl(name) for name in names]
        await RedisStore(connection).pin_snippet("ttl")
        await RedisStore(connection).get_snippet("ttl")
        assert await connection.ttl("gradwalk:snippet:ttl") == -1, "no end at all"
    assert found == pytest.approx([*names.values(), *names.values()], abs=60)


async def test_a_store_that_is_not_there_says_so(cluster: Cluster) -> None:
    own = cluster.shared
    store = RedisStore(connect(own.url, patience_seconds=0.25))
    await store.put_trace("a", b"document")
    assert await store.get_trace("a")
    own.stop()
    assert await store.get_trace("a"), "what is remembered is still served"
    for answer in (store.get_trace("b"), store.put_trace("b", b"x"), store.get_snippet("s"), store.check()):
        with pytest.raises(StoreError):
            await answer
    await store.close()


@pytest.mark.parametrize("coding", get_args(Coding))
@given(st.binary(max_size=40), st.integers(0, 20_000))
def test_what_is_kept_compressed_comes_back_whole_at_once_and_in_small_parts(
    coding: Coding, seed: bytes, count: int
) -> None:
    body = seed * count
    packed = compress(body, coding)
    parts = list(unpack(packed))
    assert b"".join(parts) == decompress(packed) == body
    assert max(map(len, parts), default=0) <= 64 << 10
