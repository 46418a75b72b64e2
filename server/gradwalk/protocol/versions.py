"""Which versions a trace depends on, read without importing torch."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version

from gradwalk.protocol.events import Versions
from gradwalk.protocol.facts import Fact, fact

TESTED_TORCH = ("2.6", "2.14")
"""The first and the last PyTorch that the library's tests pass with (`make test-with`)."""


def installed_versions() -> Versions:
    """The versions that enter a trace's content address."""
    return {"gradwalk": _installed("gradwalk"), "torch": _installed("torch")}


def untested_torch() -> Fact | None:
    """What is to be said of an installed PyTorch outside that range; None inside."""
    found = _installed("torch")
    first, last = TESTED_TORCH
    if _minor(first) <= _minor(found) <= _minor(last):
        return None
    return fact("torch-untested", found=found, first=first, last=last)


def _minor(version: str) -> tuple[int, int]:
    major, minor, *_ = version.split(".")
    return int(major), int(minor)


@cache
def _installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "0.0.0"
