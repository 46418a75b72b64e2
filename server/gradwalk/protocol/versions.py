"""Which versions a trace depends on, read without importing torch."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version

from gradwalk.protocol.events import Versions


def installed_versions() -> Versions:
    """The versions that enter a trace's content address."""
    return {"gradwalk": _installed("gradwalk"), "torch": _installed("torch")}


@cache
def _installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "0.0.0"
