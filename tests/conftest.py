"""What every test shares: rings, one way to start things, reproducible properties, one way to rewrite goldens."""

import os
import resource

import pytest
from hypothesis import settings

pytest_plugins = ["tests.rings", "tests.world.fixtures", "tests.world.loop"]

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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-goldens",
        action="store_true",
        help="write the files in tests/golden anew instead of comparing with them; read the diff before committing",
    )


@pytest.fixture
def rewrite_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written instead of compared."""
    return bool(request.config.getoption("--rewrite-goldens"))
