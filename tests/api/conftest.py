import pytest

from tests.world.shared import SharedServer


@pytest.fixture(scope="session")
def server(short_server: SharedServer) -> SharedServer:
    """The shared server with short limits: many programs here never end."""
    return short_server
