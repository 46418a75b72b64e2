"""Both engines, opened once per test worker, with one place each."""

import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import pytest

from gradwalk.api.service import choose_rates
from gradwalk.api.settings import Settings
from gradwalk.cluster.connection import connect
from gradwalk.engine.celery_engine import CeleryEngine
from gradwalk.sandbox.supervisor import Sandbox
from gradwalk.store.redis_store import RedisStore
from tests.engine.engines import CPU_RATE, Open, Opened, local_engine
from tests.world.cluster import Worker, url_of
from tests.world.loop import until
from tests.world.redis import Redis

WAITING_MAX = 3


@pytest.fixture(scope="session")
def local(sandboxes: Callable[[], Sandbox]) -> Open:
    """The pool of this process, on the sandbox that other tests use too."""
    return local_engine(sandboxes(), 1, WAITING_MAX)


@pytest.fixture(scope="session")
def celery_redis(redis_server: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:  # noqa: ARG001
    """The redis-server of `celery` alone: a worker must not lose what it has written there."""
    shared = Redis(tmp_path_factory.mktemp("celery-redis"))
    yield shared
    assert shared.refusals() == []
    shared.stop()


@pytest.fixture(scope="session")
def celery(celery_redis: Redis) -> Iterator[Open]:
    """A worker behind a redis-server of their own; a server's side of it anew with every opening."""
    worker = Worker(celery_redis.home, celery_redis.url, running_count=1, run_seconds=60, cpu_rate=CPU_RATE).wait()
    url = url_of("api", celery_redis.url)

    @asynccontextmanager
    async def opened() -> AsyncIterator[Opened]:
        engine, store = CeleryEngine(url, WAITING_MAX), RedisStore(connect(url))
        rates = choose_rates(Settings(cluster_url=url, cpu_rate=CPU_RATE))
        engine.start()
        try:
            await until(lambda: engine.status().ready)
            yield engine, store, rates.cpu
        finally:
            await engine.close()
            await store.close()
            await rates.close()

    yield opened
    worker.kill(signal.SIGTERM)


@pytest.fixture(params=["local", "celery"])
def opened(request: pytest.FixtureRequest, run: object) -> Open:  # noqa: ARG001 (it starts processes)
    """Every engine in turn."""
    return request.getfixturevalue(request.param)
