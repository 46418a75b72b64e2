"""Both engines, opened once per test worker, with one place each."""

from collections.abc import Callable, Iterator

import pytest

from gradwalk.sandbox.supervisor import Sandbox
from tests.engine.engines import Open, celery_engine, local_engine
from tests.world.redis import Redis

WALL_SECONDS = 60
WAITING_MAX = 3


@pytest.fixture(scope="session")
def local(sandboxes: Callable[[], Sandbox]) -> Iterator[Open]:
    """The pool of this process, on the sandbox that other tests use too."""
    with local_engine(sandboxes(), 1, WAITING_MAX) as opened:
        yield opened


@pytest.fixture(scope="session")
def celery_redis(redis_server: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:  # noqa: ARG001
    """The redis-server of `celery` alone: a worker must not lose what it has written there."""
    shared = Redis(tmp_path_factory.mktemp("celery-redis"))
    yield shared
    assert shared.refusals() == []
    shared.stop()


@pytest.fixture(scope="session")
def celery(celery_redis: Redis, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    """A worker behind a redis-server of their own."""
    home = tmp_path_factory.mktemp("celery")
    with celery_engine(home, celery_redis, 1, WAITING_MAX, WALL_SECONDS) as opened:
        yield opened


@pytest.fixture(params=["local", "celery"])
def opened(request: pytest.FixtureRequest, run: object) -> Open:  # noqa: ARG001 (it starts processes)
    """Every engine in turn."""
    return request.getfixturevalue(request.param)
