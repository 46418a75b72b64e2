"""Everything that a hostile address can do, at once, beside honest readers; tests/benchmarks/door.py says how fast."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.benchmarks.door import RECIPES, attack, prepare
from tests.world.server import Server

SECONDS = 20.0
SHARE = 0.3
MEMORY_BYTES_MAX = 600 << 20


@pytest.mark.soak
def test_beside_a_flood_of_everything_honest_readers_lose_nothing(start_server: Callable[..., Server]) -> None:
    server = start_server(memory_bytes_max=MEMORY_BYTES_MAX, client_connections_max=1_000)
    target = prepare(server)
    counts = {name: max(1, round(count * SHARE)) for name, (count, _) in RECIPES.items()}
    # A loop of its own: the browser of other tests leaves one in this thread.
    with ThreadPoolExecutor(1) as thread:
        seen = thread.submit(attack, target, counts, SECONDS).result()
    assert seen.failures == []
    assert min(map(len, (seen.probes, seen.reads, seen.runs))) > 0
    assert seen.memory < MEMORY_BYTES_MAX
    assert server.client.get(f"/api/snippets/{target.link}").status_code == 200
    assert json.loads(server.client.get("/readyz").text)["status"] == "ready"
