"""Connections against a real server: exhausted pools wait, restarts are outlived, absence is told."""

import asyncio
import time
from unittest.mock import ANY

import pytest
from redis.exceptions import RedisError

from gradwalk.cluster.connection import connect, connect_blocking, connect_listener
from tests.world.cluster import Cluster
from tests.world.loop import run_in_own_loop
from tests.world.redis import Redis


@pytest.fixture
def server(cluster: Cluster) -> Redis:
    return cluster.shared


def test_more_commands_at_once_than_connections_all_get_their_answer(server: Redis) -> None:
    async def ask() -> list[int]:
        async with connect(server.url) as shared:
            return await asyncio.gather(*[shared.incr("n") for _ in range(300)])

    assert sorted(run_in_own_loop(ask())) == list(range(1, 301))


def test_a_restart_is_outlived_on_the_loop_and_in_threads(server: Redis) -> None:
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


def test_a_listener_waits_longer_than_any_answer_may_take(server: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    def speak_late() -> None:
        with server.client() as client:
            while client.info("clients")["blocked_clients"] == 0:
                time.sleep(0.01)
            time.sleep(0.6)
            client.xadd("news", {"a": "1"})

    async def listen() -> object:
        async with connect_listener(server.url) as listener:
            heard, _ = await asyncio.gather(
                listener.xread({"news": "$"}, block=0), asyncio.to_thread(speak_late), return_exceptions=True
            )
            return heard

    monkeypatch.setattr("gradwalk.cluster.connection._ANSWER_SECONDS", 0.2)
    assert run_in_own_loop(listen()) == [[b"news", [(ANY, {b"a": b"1"})]]]


def test_a_server_that_is_not_there_is_told_in_time(server: Redis) -> None:
    async def ask() -> None:
        async with connect(server.url, patience_seconds=0.25) as shared:
            await shared.ping()
            server.stop()
            with pytest.raises(RedisError):
                await shared.get("a")

    run_in_own_loop(ask())
