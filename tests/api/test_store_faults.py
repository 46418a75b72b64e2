"""A disk without room, and two servers on one file: real processes, a real limit of the kernel."""

import resource
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.world.stream import ACCEPT

PROGRAM = "import torch\nx = torch.tensor({number}.0, requires_grad=True)\n(x * x).backward()\n"


def trace(server: Any, number: int) -> str:
    """The id; the stream must be whole."""
    body = {"source": PROGRAM.format(number=number)}
    answer = server.client.post("/api/traces", json=body, headers=ACCEPT)
    assert answer.status_code == 200
    assert "event: done" in answer.text
    return str(server.client.post("/api/traces", json=body).json()["id"])


@pytest.mark.soak
def test_without_room_on_the_disk_old_traces_are_served_and_new_ones_still_answered(
    start_server: Callable[..., Any], tmp_path: Path
) -> None:
    server = start_server()
    old = trace(server, 1)
    log_file = next((tmp_path / "data").glob("*-wal"))
    # A log that was begun anew has room before its end, and a server that was long in starting has written that much.
    with closing(sqlite3.connect(log_file.with_name(log_file.name.removesuffix("-wal")))) as other:
        assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    unlimited = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    # No file of the server may grow any more: SQLite sees what it sees on a full disk, a write that fails.
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (log_file.stat().st_size, unlimited[1]))
    new = trace(server, 2)
    assert server.client.get(f"/api/traces/{old}").status_code == 200
    assert server.client.get(f"/api/traces/{new}").json()["events"][-1]["type"] == "finished"
    unready = server.client.get("/readyz")
    assert unready.status_code == 503
    assert unready.json()["store"] != "ok"
    assert server.client.get("/healthz").status_code == 200
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, unlimited)
    assert server.client.get("/readyz").status_code == 200
    kept = trace(server, 3)
    assert server.client.get(f"/api/traces/{kept}").headers["etag"] == f'W/"{kept}"'


@pytest.mark.soak
def test_two_servers_on_one_file_serve_each_other_s_traces(start_server: Callable[..., Any]) -> None:
    one, other = start_server(), start_server()
    ids = [trace((one, other)[number % 2], number) for number in range(6)]
    for server in (one, other):
        assert [server.client.get(f"/api/traces/{each}").status_code for each in ids] == [200] * len(ids)
    one.stop()
    assert [other.client.get(f"/api/traces/{each}").status_code for each in ids] == [200] * len(ids)
