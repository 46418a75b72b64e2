"""The three rings of the checks, as a pytest plugin. A test's ring follows from what it uses.

1. `make quick`: no fixture below, no mark. Such a test starts no process; one that does fails there.
2. `make test` adds tests with a fixture that starts a process, or that reads one of torch's own databases (they take
   seconds to import).
3. `make test-all` adds what is marked `sweep`, `soak` or `host`.

`--ring 3 --slice 3/8` is one part of the third. Which part a test is in depends on its name alone.
"""

import sys
import time
from collections.abc import Iterator
from contextvars import ContextVar
from zlib import crc32

import pytest

DATABASES = frozenset({"module_database", "operator_database"})
RING_2_FIXTURES = DATABASES | frozenset(
    {
        "browser",
        "cluster",
        "redis_server",
        "run",
        "run_program",
        "sandboxes",
        "server",
        "narrow_server",
        "short_server",
        "start_sandbox",
        "start_server",
        "tight_server",
    }
)
RING_3_MARKS = {
    "sweep": "an entry outside the sample of a large collection",
    "soak": "crowds, kills under load, long walks: too long for every change",
    "host": "somebody else's program shows our work",
}
STARTS_A_PROCESS = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec"})
_is_ring_1_alone: ContextVar[bool] = ContextVar("is_ring_1_alone", default=False)


def ring_of(item: pytest.Item) -> int:
    """1, 2 or 3."""
    if any(item.get_closest_marker(mark) for mark in RING_3_MARKS):
        return 3
    return 2 if RING_2_FIXTURES & set(getattr(item, "fixturenames", ())) else 1


def rings_of(config: pytest.Config) -> set[int]:
    """Those that were asked for."""
    return {int(number) for number in config.getoption("--ring").split(",")}


def is_in_slice(item: pytest.Item, part: str) -> bool:
    """Whether a test belongs to a part such as `3/8`."""
    number, count = (int(each) for each in part.split("/"))
    return crc32(item.nodeid.encode()) % count == number - 1


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rings")
    group.addoption("--ring", default="1,2", help="run the tests of these rings: 1,2,3")
    group.addoption("--slice", default="1/1", help="one part of several: 3/8")
    group.addoption("--whole", default="", help="with --slice: all of these folders nevertheless: tracer,words")
    group.addoption("--seconds", type=float, help="begin no test after this time; those left out are listed as skipped")


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in RING_3_MARKS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    seconds = config.getoption("--seconds")
    config.stash[_END] = time.monotonic() + seconds if seconds else float("inf")


_END = pytest.StashKey[float]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    rings, part, whole = rings_of(config), config.getoption("--slice"), config.getoption("--whole").split(",")

    def is_wanted(item: pytest.Item) -> bool:
        return ring_of(item) in rings and (is_in_slice(item, part) or item.path.parent.name in whole)

    config.hook.pytest_deselected(items=[item for item in items if not is_wanted(item)])
    # What takes a minute begins first, or the other workers wait for it at the end.
    items[:] = sorted((item for item in items if is_wanted(item)), key=_begins_late)


def _begins_late(item: pytest.Item) -> bool:
    return not DATABASES & set(getattr(item, "fixturenames", ()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """With `--ring 1`, a process that a test starts is an error."""
    token = _is_ring_1_alone.set(rings_of(item.config) == {1})
    try:
        return (yield)
    finally:
        _is_ring_1_alone.reset(token)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if time.monotonic() > item.config.stash[_END]:
        pytest.skip("not run: the time was over")


def _refuse_processes(event: str, _: object) -> None:
    if event in STARTS_A_PROCESS and _is_ring_1_alone.get():
        raise AssertionError("a test of ring 1 started a process: it needs a fixture that tests/rings.py names")


sys.addaudithook(_refuse_processes)


@pytest.fixture(scope="session")
def sweeps(request: pytest.FixtureRequest) -> bool:
    """Whether every entry of the large collections is wanted."""
    return 3 in rings_of(request.config)
