"""Starting the server: whom it listens to depends on what the self-test found."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

pytestmark = pytest.mark.usefixtures("run")
SERVER = Path(__file__).parents[2] / "server"
SERVE = """
import sys
from gradwalk.api.settings import Settings
from gradwalk.cli.main import main
from gradwalk.sandbox.limits import RunLimits
seccomp = sys.argv.pop(1) == "locked"
Settings.run_limits = property(lambda settings: RunLimits(spare_count=0, seccomp=seccomp))
main()
"""


def start(locks: str, host: str, home: Path) -> subprocess.Popen[str]:
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(SERVER), "GRADWALK_DATA_DIRECTORY": str(home / "data")}
    return subprocess.Popen(
        [sys.executable, "-c", SERVE, locks, "serve", "--port", "0", "--host", host],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=home,
    )


def test_below_full_nothing_listens_to_others_and_a_sentence_says_why(tmp_path: Path) -> None:
    process = start("open", "0.0.0.0", tmp_path)
    said, _ = process.communicate(timeout=180)
    assert process.returncode == 2
    sentence = re.sub(r"\s+", " ", said)
    assert "open: stat" in sentence
    assert "listen on 127.0.0.1" in sentence
    assert "Traceback" not in said
    assert "running on" not in said


@pytest.mark.parametrize(
    ("locks", "host", "level"),
    [
        pytest.param("locked", "0.0.0.0", "full", id="public and locked"),
        pytest.param("open", "127.0.0.1", "partial", id="loopback and not quite locked"),
    ],
)
def test_the_level_stands_in_the_log_in_readyz_and_for_the_page(
    locks: str, host: str, level: str, tmp_path: Path
) -> None:
    process = start(locks, host, tmp_path)
    assert process.stdout is not None
    try:
        lines: list[str] = []
        while not any("running on" in line for line in lines):
            line = process.stdout.readline()
            assert line, lines
            lines.append(line)
        port = re.search(r":(\d+) ", lines[-1])
        assert port is not None
        with httpx.Client(base_url=f"http://127.0.0.1:{port[1]}", timeout=60) as client:
            give_up = time.monotonic() + 120
            while client.get("/readyz").status_code != 200:
                assert time.monotonic() < give_up
                time.sleep(0.05)
            found = client.get("/readyz").json()["protection"]
            assert found == client.get("/api/server").json()["protection"]
        assert found["level"] == level
        assert found["said"]["kind"] == ("page-protection-full" if level == "full" else "page-protection-open")
    finally:
        os.kill(process.pid, signal.SIGTERM)
        rest, _ = process.communicate(timeout=60)
    assert f"protection: {level}" in "".join(lines) + rest
