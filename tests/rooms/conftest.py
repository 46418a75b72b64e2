"""Rooms need a real server, as the API's tests do."""

from tests.api.conftest import start_server

__all__ = ["start_server"]
