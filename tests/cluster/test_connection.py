"""Connections against a real server: restarts are outlived. Exhausted pools wait: `tests/engine/test_runlog.py`."""

import asyncio
from unittest.mock import ANY

import pytest
from redis.exceptions import RedisError

from gradwalk.cluster.connection import connect, connect_listener
from tests.world.cluster import Cluster
from tests.world.redis import Redis


async def test_a_restart_is_outlived(cluster: Cluster) -> None:
    async with connect(cluster.shared.url) as shared:
        await shared.set("kept", "yes")
        cluster.shared.stop()
        waiting = asyncio.create_task(shared.get("kept"))
        await asyncio.to_thread(cluster.shared.restart)
        assert await waiting == b"yes"


async def test_a_listener_waits_longer_than_any_answer_may_take(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answer comes when one that was asked for after it, and may take no longer than any, has failed."""
    monkeypatch.setattr("gradwalk.cluster.connection._ANSWER_SECONDS", 0.2)
    async with connect_listener(redis.url) as listener, connect(redis.url, patience_seconds=0.1) as asker:
        hearing = asyncio.create_task(listener.xread({"news": "$"}, block=0))
        with redis.client() as client:
            while client.info("clients")["blocked_clients"] == 0:
                await asyncio.sleep(0.01)
            with pytest.raises(RedisError):
                await asker.blpop("nothing", timeout=60)
            client.xadd("news", {"a": "1"})
        assert await hearing == [[b"news", [(ANY, {b"a": b"1"})]]]
