"""What every test shares: one way to rewrite goldens, and reproducible properties."""

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.e2e.hosts import serving

# Torch and the numeric libraries read these once, when they are first imported; two test workers share two cores.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# torch lets go of a long chain recursively once Python has looked at its nodes: 100,000 of them need 30 MB of stack.
STACK_BYTES = 100 << 20
_, hardest = resource.getrlimit(resource.RLIMIT_STACK)
resource.setrlimit(
    resource.RLIMIT_STACK, (STACK_BYTES if hardest == resource.RLIM_INFINITY else min(STACK_BYTES, hardest), hardest)
)

# The same examples on every run and machine; a slow machine is no failure.
settings.register_profile("reproducible", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("reproducible")


LONGEST_FILES = (
    "e2e/test_examples.py",
    "sandbox/test_collections.py",
    "sandbox/test_supervisor.py",
    "api/test_clients.py",
    "tracer/test_operator_database.py",
    "api/test_traces.py",
    "api/test_cluster.py",
    "sandbox/test_selftest.py",
    "sandbox/test_faults.py",
    "sandbox/test_language.py",
)
"""Begun first, so that no worker is left alone with one of them in the end."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the sweeps out unless they are asked for; keeps the order but for the longest files."""
    if not config.getoption("--sweeps"):
        swept = [item for item in items if item.get_closest_marker("sweep")]
        config.hook.pytest_deselected(items=swept)
        items[:] = [item for item in items if not item.get_closest_marker("sweep")]
    place = {name: number for number, name in enumerate(LONGEST_FILES)}
    items.sort(key=lambda item: place.get("/".join(item.path.parts[-2:]), len(place)))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "sweep: an entry outside the sample of a large collection; see tests/sweeps.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--sweeps",
        action="store_true",
        help="every entry of the large databases and collections instead of a sample",
    )
    parser.addoption(
        "--rewrite-goldens",
        action="store_true",
        help="write the files in tests/golden anew instead of comparing with them; read the diff before committing",
    )


@pytest.fixture(scope="session")
def sweeps(request: pytest.FixtureRequest) -> bool:
    """Whether every entry of the large collections is wanted."""
    return bool(request.config.getoption("--sweeps"))


@pytest.fixture
def rewrite_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written instead of compared."""
    return request.config.getoption("--rewrite-goldens")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and the address at which it is somebody else's site."""
    with serving(tmp_path) as address:
        yield tmp_path, address
