"""Starting the server: whom it listens to depends on what the self-test found."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SERVE = """
import sys
from gradwalk.api.settings import Settings
from gradwalk.cli.main import main
from gradwalk.sandbox.limits import RunLimits
seccomp = sys.argv.pop(1) == "locked"
Settings.run_limits = property(lambda settings: RunLimits(spare_count=0, seccomp=seccomp))
main()
"""


def test_below_full_nothing_listens_to_others_and_a_sentence_says_why(run: Callable[..., Any], tmp_path: Path) -> None:
    done = run(["-c", SERVE, "open", "serve", "--port", "0", "--host", "0.0.0.0"], cwd=tmp_path, status=2)
    said = done.stdout + done.stderr
    sentence = re.sub(r"\s+", " ", said)
    assert "open: stat" in sentence
    assert "listen on 127.0.0.1" in sentence
    assert "Traceback" not in said
    assert "running on" not in said


@pytest.mark.soak
@pytest.mark.parametrize(("locks", "host", "level"), [("locked", "0.0.0.0", "full"), ("open", "127.0.0.1", "partial")])
def test_the_level_stands_in_the_log_in_readyz_and_for_the_page(start_server, locks, host, level):
    server = start_server(module=("-c", SERVE, locks, "serve", "--host", host))
    found = server.client.get("/readyz").json()["protection"]
    assert found == server.client.get("/api/server").json()["protection"]
    assert found["level"] == level
    assert found["said"]["kind"] == ("page-protection-full" if level == "full" else "page-protection-open")
    server.stop()
    assert f"protection: {level}" in server.log.read_text()
