"""Connections against a real server: exhausted pools wait, restarts are outlived, absence is told."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis.exceptions import RedisError

from gradwalk.cluster.connection import connect, connect_blocking, connect_listener
from tests.own_loop import run_in_own_loop
from tests.own_redis import OwnRedis


@pytest.fixture
def server(tmp_path: Path) -> Iterator[OwnRedis]:
    own = OwnRedis(tmp_path)
    yield own
    own.stop()


def test_more_commands_at_once_than_connections_all_get_their_answer(server: OwnRedis) -> None:
    async def ask() -> list[int]:
        async with connect(server.url) as shared:
            return await asyncio.gather(*[shared.incr("n") for _ in range(300)])

    assert sorted(run_in_own_loop(ask())) == list(range(1, 301))


def test_a_restart_is_outlived_on_the_loop_and_in_threads(server: OwnRedis) -> None:
    async def ask() -> list[bytes | None]:
        async with connect(server.url) as shared:
            await shared.set("kept", "yes")
            server.stop()
            waiting = asyncio.create_task(shared.get("kept"))
            threaded = asyncio.create_task(asyncio.to_thread(blocking.get, "kept"))
            await asyncio.to_thread(server.restart)
            return [await waiting, await threaded]

    with connect_blocking(server.url, patience_seconds=10) as blocking:
        assert run_in_own_loop(ask()) == [b"yes", b"yes"]


def test_a_listener_waits_longer_than_any_answer_may_take(server: OwnRedis, monkeypatch: pytest.MonkeyPatch) -> None:
    async def listen() -> object:
        async with connect_listener(server.url) as listener:
            timer = threading.Timer(0.6, lambda: server.client().xadd("news", {"a": "1"}))
            timer.start()
            return await listener.xread({"news": "$"}, block=0)

    monkeypatch.setattr("gradwalk.cluster.connection._ANSWER_SECONDS", 0.2)
    assert run_in_own_loop(listen())


def test_a_server_that_is_not_there_is_told_in_time(server: OwnRedis) -> None:
    async def ask() -> None:
        async with connect(server.url, patience_seconds=0.25) as shared:
            await shared.ping()
            server.stop()
            with pytest.raises(RedisError):
                await shared.get("a")

    run_in_own_loop(ask())
