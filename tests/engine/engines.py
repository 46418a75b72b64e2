"""What a test opens an engine with, and the pool of this process."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from gradwalk.engine.engine import Engine
from gradwalk.engine.local import LocalEngine
from gradwalk.engine.rates import OwnRate, Rate
from gradwalk.protocol.document import trace_id
from gradwalk.protocol.facts import fact
from gradwalk.protocol.requests import TraceRequest
from gradwalk.protocol.versions import installed_versions
from gradwalk.sandbox.supervisor import Sandbox
from gradwalk.store.redis_store import RedisStore
from tests.world.loop import until

Opened = tuple[Engine, RedisStore | None, Rate]
Open = Callable[[], AbstractAsyncContextManager[Opened]]
"""In a test's own loop: a ready engine, the store that it keeps results in, if it keeps any, and what clients use."""
CPU_SECONDS = 10_000
CPU_RATE = f"{CPU_SECONDS}/day"


def local_engine(sandbox: Sandbox, places: int, waiting_max: int) -> Open:
    """The pool, anew with every opening."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Opened]:
        cpu = OwnRate(CPU_RATE, fact("api-busy-cpu"))
        engine = LocalEngine(sandbox, running_max=places, waiting_max=waiting_max, cpu=cpu)
        engine.start()
        try:
            await until(lambda: engine.status().ready)
            yield engine, None, cpu
        finally:
            await engine.close()

    return opened


def address(source: str) -> str:
    """The id under which a server asks for it."""
    return trace_id(TraceRequest(source=source), installed_versions())
