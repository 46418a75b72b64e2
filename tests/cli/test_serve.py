"""Starting the server: whom it listens to depends on what the self-test found."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SERVE = """
from gradwalk.api.settings import Settings
from gradwalk.cli.main import main
from gradwalk.sandbox.limits import RunLimits
Settings.run_limits = property(lambda settings: RunLimits(spare_count=0, seccomp=False))
main()
"""


def test_below_full_nothing_listens_to_others_and_a_sentence_says_why(run: Callable[..., Any], tmp_path: Path) -> None:
    done = run(["-c", SERVE, "serve", "--port", "0", "--host", "0.0.0.0", "--as-root"], cwd=tmp_path, status=2)
    said = done.stdout + done.stderr
    sentence = re.sub(r"\s+", " ", said)
    assert "open: stat" in sentence
    assert "listen on 127.0.0.1" in sentence
    assert "Traceback" not in said
    assert "running on" not in said


def test_to_others_it_says_what_is_open_and_what_is_missing(start_server: Callable[..., Any], server: Any) -> None:
    said = start_server(host="0.0.0.0", allowed_hosts=["lecture.test"], path="/healthz").log.read_text()
    for word in ("0.0.0.0", "full", "`lecture.test`", "encryption", "GRADWALK_TRUSTED_PROXIES"):
        assert word in said.partition("Uvicorn running")[0]
    assert "encryption" not in server.log.read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be refused")
def test_as_root_nothing_listens_to_others_unless_it_is_told_to(run: Callable[..., Any], tmp_path: Path) -> None:
    done = run(["-m", "gradwalk", "serve", "--port", "0", "--host", "0.0.0.0"], cwd=tmp_path, status=2)
    assert "--as-root" in done.stdout + done.stderr
    assert "running on" not in done.stdout + done.stderr


@pytest.mark.soak
def test_a_level_below_full_stands_in_the_log_in_readyz_and_for_the_page(start_server):
    """That `full` does: `tests/sandbox/test_container.py`."""
    server = start_server(module=("-c", SERVE, "serve"))
    found = server.client.get("/readyz").json()["protection"]
    assert found == server.client.get("/api/server").json()["protection"]
    assert (found["level"], found["said"]["kind"]) == ("partial", "page-protection-open")
    assert "protection: partial" in server.log.read_text()
