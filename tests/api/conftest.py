import pytest

from tests.world.server import Server


@pytest.fixture(scope="session")
def server(short_server: Server) -> Server:
    """The shared server with short limits: many programs here never end."""
    return short_server
