"""The store that several servers and workers share: Redis or Valkey.

Everything in it has a time to live, which each use renews: so the longest unused go first, and `volatile-lru` lets the
shared server make room without ever touching what has none, the queues.
"""

import asyncio
import time
from collections.abc import Awaitable
from typing import Any

import redis.asyncio
from redis.exceptions import RedisError

from gradwalk.cluster.connection import name_key
from gradwalk.store.compression import compress
from gradwalk.store.store import StoreError, refuse_too_large, remember_bodies

_DAY_SECONDS = 86_400
TRACE_SECONDS = 30 * _DAY_SECONDS
SNIPPET_SECONDS = 400 * _DAY_SECONDS
"""A link outlives every trace of its program."""
SNIPPETS_OF_CLIENT_MAX = 2_000
"""The next one takes the place of its oldest."""
FILE_SECONDS = 3_600
"""Long enough for a hall to fetch it; then it is made again."""
_PROBE_SECONDS = 10


class RedisStore:
    """Holds what fits into the shared server; bodies that were asked for lately are remembered in this process."""

    def __init__(self, connection: redis.asyncio.Redis) -> None:
        self._connection = connection
        self._memory = remember_bodies()

    async def get_trace(self, trace_id: str) -> bytes | None:
        body = self._memory.recall(trace_id)
        if body is None:
            body = await self._ask(self._connection.getex(name_key("trace", trace_id), ex=TRACE_SECONDS))
            if body is not None:
                self._memory.keep(trace_id, body)
        return body

    async def put_trace(self, trace_id: str, document: bytes) -> None:
        body = await asyncio.to_thread(compress, document)
        await self._ask(self._connection.set(name_key("trace", trace_id), body, ex=TRACE_SECONDS, nx=True))

    async def get_snippet(self, snippet_id: str) -> bytes | None:
        name = name_key("snippet", snippet_id)
        found: bytes | None = await self._ask(self._connection.get(name))
        # What is pinned has no time to live, and gets none.
        await self._ask(self._connection.expire(name, SNIPPET_SECONDS, xx=True))
        return found

    async def pin_snippet(self, snippet_id: str) -> bool:
        name = name_key("snippet", snippet_id)
        await self._ask(self._connection.persist(name))
        return bool(await self._ask(self._connection.exists(name)))

    async def put_snippet(self, snippet_id: str, request: bytes, client: str) -> None:
        name = name_key("snippet", snippet_id)
        if await self._ask(self._connection.set(name, request, ex=SNIPPET_SECONDS, nx=True)):
            await self._ask(self._note_owner(name, name_key("snippets", client)))

    async def _note_owner(self, name: str, owned: str) -> None:
        await self._connection.zadd(owned, {name: time.time()})
        await self._connection.expire(owned, SNIPPET_SECONDS)
        excess = await self._connection.zcard(owned) - SNIPPETS_OF_CLIENT_MAX
        if excess > 0:
            for oldest, _ in await self._connection.zpopmin(owned, excess):
                # Ends at once, unless it is pinned.
                await self._connection.expire(oldest, 0, xx=True)

    async def get_file(self, address: str) -> bytes | None:
        found: bytes | None = await self._ask(self._connection.get(name_key(address)))
        return found

    async def put_file(self, address: str, body: bytes) -> None:
        refuse_too_large(body)
        await self._ask(self._connection.set(name_key(address), body, ex=FILE_SECONDS, nx=True))

    async def check(self) -> None:
        await self._ask(self._connection.set(name_key("probe"), b"1", ex=_PROBE_SECONDS))

    async def close(self) -> None:
        await self._connection.aclose()

    async def _ask(self, answer: Awaitable[Any]) -> Any:
        try:
            return await answer
        except RedisError as error:
            raise StoreError(f"the shared store does not answer: {error}") from error
