"""Both engines as a test opens them: the pool of this process, and a real worker behind a real redis-server."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path

from gradwalk.api.service import choose_rates
from gradwalk.api.settings import Settings
from gradwalk.cluster.connection import connect
from gradwalk.engine.celery_engine import CeleryEngine
from gradwalk.engine.engine import Engine
from gradwalk.engine.local import LocalEngine
from gradwalk.engine.rates import OwnRate, Rate
from gradwalk.protocol.document import trace_id
from gradwalk.protocol.facts import fact
from gradwalk.protocol.requests import TraceRequest
from gradwalk.protocol.versions import installed_versions
from gradwalk.sandbox.supervisor import Sandbox
from gradwalk.store.redis_store import RedisStore
from tests.world.cluster import Worker, url_of
from tests.world.loop import until
from tests.world.redis import Redis

Opened = tuple[Engine, RedisStore | None, Rate]
Open = Callable[[], AbstractAsyncContextManager[Opened]]
"""In a test's own loop: a ready engine, the store that it keeps results in, if it keeps any, and what clients use."""
CPU_SECONDS = 10_000
CPU_RATE = f"{CPU_SECONDS}/day"


@contextmanager
def local_engine(sandbox: Sandbox, places: int, waiting_max: int) -> Iterator[Open]:
    """The pool, the same for every opening; it closes its sandbox."""
    cpu = OwnRate(CPU_RATE, fact("api-busy-cpu"))
    engine = LocalEngine(sandbox, running_max=places, waiting_max=waiting_max, cpu=cpu)
    engine.start()

    @asynccontextmanager
    async def opened() -> AsyncIterator[Opened]:
        await until(lambda: engine.status().ready)
        yield engine, None, cpu

    try:
        yield opened
    finally:
        engine.close()


@contextmanager
def celery_engine(home: Path, shared: Redis, places: int, waiting_max: int, wall_seconds: int) -> Iterator[Open]:
    """One worker for all; a server's side of it anew with every opening."""
    worker = Worker(home, shared.url, running_count=places, run_seconds=wall_seconds, cpu_rate=CPU_RATE).wait()

    @asynccontextmanager
    async def opened() -> AsyncIterator[Opened]:
        engine = CeleryEngine(url_of("api", shared.url), waiting_max)
        engine.start()
        store = RedisStore(connect(url_of("api", shared.url)))
        rates = choose_rates(Settings(cluster_url=url_of("api", shared.url), cpu_rate=CPU_RATE))
        try:
            await until(lambda: engine.status().ready)
            yield engine, store, rates.cpu
        finally:
            await asyncio.to_thread(engine.close)
            await store.close()
            await rates.close()

    try:
        yield opened
    finally:
        worker.kill()


def address(source: str) -> str:
    """The id under which a server asks for it."""
    return trace_id(TraceRequest(source=source), installed_versions())
