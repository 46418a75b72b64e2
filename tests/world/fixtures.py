"""A pytest plugin: the fixtures that start processes. A test that uses one is not in the first ring."""

import fcntl
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest
from playwright.sync_api import Browser

from gradwalk.sandbox.limits import RunLimits
from gradwalk.sandbox.supervisor import Sandbox
from tests.world.browser import running_browser
from tests.world.cluster import Cluster
from tests.world.processes import run_program as run_any_program
from tests.world.processes import run_python
from tests.world.redis import Redis
from tests.world.sandbox import HASTY, PATIENT
from tests.world.server import Server
from tests.world.shared import FOLDER, SharedServer, share, stop_shared_servers
from tests.world.sites import serving


def pytest_configure(config: pytest.Config) -> None:
    given = getattr(config, "workerinput", {}).get("shared_folder")
    config.stash[FOLDER] = Path(given or tempfile.mkdtemp(prefix="gradwalk-tests-"))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Gives every worker of pytest-xdist the folder of the run."""
    node.workerinput["shared_folder"] = str(node.config.stash[FOLDER])


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        stop_shared_servers(config.stash[FOLDER])
        shutil.rmtree(config.stash[FOLDER], ignore_errors=True)


@pytest.fixture(scope="session")
def run() -> Callable[..., Any]:
    """Runs this Python to its end: `tests.world.processes.run_python`."""
    return run_python


@pytest.fixture(scope="session")
def run_program() -> Callable[..., Any]:
    """Runs any program to its end: `tests.world.processes.run_program`."""
    return run_any_program


def shared_server(profile: str) -> Any:
    """The fixture of a server that all tests share; leave it as it was."""

    @pytest.fixture(scope="session")
    def found(request: pytest.FixtureRequest) -> Iterator[SharedServer]:
        with share(request.config.stash[FOLDER], profile) as shared:
            yield shared

    return found


server, short_server, narrow_server = map(shared_server, ("usual", "short", "narrow"))


@pytest.fixture
def tight_server(request: pytest.FixtureRequest) -> Iterator[SharedServer]:
    """A shared server with room for little, which one test has at a time.

    One run at once; per client five new ones, two of them by links, five guesses at rooms, 140 kB; 40 rooms.

    Clients are told apart by `X-Forwarded-For`; every test takes addresses of its own.
    """
    folder = request.config.stash[FOLDER]
    with share(folder, "tight") as shared, (folder / "tight.use").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield shared


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers of a test's own, all on the same data."""
    with ExitStack() as stack:

        def start(**settings: Any) -> Server:
            running = Server(tmp_path, **settings)
            stack.callback(running.stop, SIGKILL)
            return running

        yield start


@pytest.fixture(scope="session")
def sandboxes() -> Iterator[Callable[..., Sandbox]]:
    """The sandboxes that all tests of a worker share, each started when it is first asked for."""
    with ExitStack() as stack:

        @cache
        def find(*, is_hasty: bool = False) -> Sandbox:
            return stack.enter_context(Sandbox(HASTY if is_hasty else PATIENT))

        yield find


@pytest.fixture
def start_sandbox() -> Iterator[Callable[..., Sandbox]]:
    """Starts sandboxes of a test's own; the options are those of `RunLimits`, and the launcher."""
    with ExitStack() as stack:

        def start(*launcher: Any, **limits: Any) -> Sandbox:
            return stack.enter_context(Sandbox(RunLimits(**{"spare_count": 0, **limits}), *launcher))

        yield start


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    """One redis-server per test worker; `redis` empties it for each test."""
    assert shutil.which("redis-server"), "no redis-server: run `make test-setup`"
    running = Redis(tmp_path_factory.mktemp("redis"))
    yield running
    running.stop()


@pytest.fixture
def redis(redis_server: Redis) -> Redis:
    """A redis-server without data."""
    with redis_server.client() as client:
        client.flushall()
    return redis_server


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster of a test's own, with nothing but its redis-server yet."""
    own = Cluster(tmp_path, Redis(tmp_path / "redis"))
    yield own
    own.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium per test worker."""
    with running_browser() as running:
        yield running


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and the address at which it is another origin's site."""
    with serving(tmp_path) as address:
        yield tmp_path, address
