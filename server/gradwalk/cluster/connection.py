"""Connections to the shared server, with the patience that each use needs.

redis-py's own choices do not fit: its pool raises when it is exhausted instead of waiting, and a reader that blocks
for news may not time out. All connections outlive a restart of the server: a command is repeated until it is back.
"""

from collections.abc import Callable
from typing import Any

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff
from redis.exceptions import BusyLoadingError, ConnectionError, TimeoutError  # noqa: A004 (theirs)

LOST = (ConnectionError, TimeoutError, BusyLoadingError)
"""The server is not there, or reads its file; soon it may be."""

_CONNECTIONS_MAX = 64
_ANSWER_SECONDS = 5.0
_PAUSE_SECONDS = 0.25


def connect(url: str, *, patience_seconds: float = 3.0) -> redis.asyncio.Redis:
    """For the event loop of one process; at most 64 commands at once, the others wait for their turn.

    A command raises `redis.exceptions.RedisError` when the server does not come back in `patience_seconds`.
    """
    pool = redis.asyncio.BlockingConnectionPool.from_url(
        url,
        max_connections=_CONNECTIONS_MAX,
        timeout=_ANSWER_SECONDS,
        socket_timeout=_ANSWER_SECONDS,
        socket_connect_timeout=_ANSWER_SECONDS,
        retry=Retry(ConstantBackoff(_PAUSE_SECONDS), max(1, round(patience_seconds / _PAUSE_SECONDS)), LOST),
    )
    return redis.asyncio.Redis.from_pool(pool)


def connect_listener(url: str) -> redis.asyncio.Redis:
    """For one reader that blocks until there is news, however long that takes; told at once of a lost connection."""
    return redis.asyncio.Redis.from_url(url, socket_timeout=None, socket_connect_timeout=_ANSWER_SECONDS, retry=None)


async def ask_at_once(connection: redis.asyncio.Redis, write: Callable[[Any], object]) -> list[Any]:
    """What the server answers to the commands that `write` gives a pipeline, in one transaction."""
    async with connection.pipeline() as pipeline:
        write(pipeline)
        return await pipeline.execute()


def name_key(*parts: str) -> str:
    """A key of ours among those of whoever else uses the server; `gradwalk:run:3fa4`."""
    return ":".join(("gradwalk", *parts))
