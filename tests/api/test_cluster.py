"""The compose file's set-up as local processes, with its faults: two servers without torch, two workers, one redis."""

import asyncio
import contextlib
import json
import signal
import socket
from collections.abc import Iterator
from http.client import HTTPResponse
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from gradwalk.protocol.versions import installed_versions
from gradwalk.store.compression import decompress
from tests.benchmarks.hall import get
from tests.rooms.hall import Hall
from tests.world.cluster import Cluster, follow_to_the_end
from tests.world.processes import PATIENCE_SECONDS, wait_until
from tests.world.redis import Redis
from tests.world.stream import ACCEPT, events_in, kind_of

pytestmark = pytest.mark.soak
ONE_LONG_RUN = {"running_count": 1, "run_seconds": 60}
PROGRAM = """
import torch
x = torch.tensor({number}.0, requires_grad=True)
for _ in range({passes}):
    (x * x).backward()
    for _ in range({pause}):
        pass
"""
RUNS = 200
RUNS_BETWEEN_KILLS = 10
CROWD = 16
BUFFER_BYTES = 8_192
MOVES = 300


@pytest.fixture(scope="module")
def cluster(redis_server: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:  # noqa: ARG001
    home = tmp_path_factory.mktemp("cluster")
    found = Cluster(home, Redis(home / "redis"))
    try:
        for worker in [found.add_worker(**ONE_LONG_RUN) for _ in range(2)]:
            worker.wait()
        for _ in range(2):
            found.add_server()
        yield found
    finally:
        found.close()


async def test_two_servers_without_torch_share_one_run_and_give_the_same_bytes(cluster: Cluster) -> None:
    source = "import torch\nx = torch.tensor(2.0, requires_grad=True)\n(x * x).backward()\n"
    before = starts(cluster)
    found = await asyncio.gather(*[follow_to_the_end([server.url], source) for server in cluster.servers * 20])
    assert kind_of(found[0]) == "ok"
    assert all(events == found[0] for events in found)
    assert found[0][0]["versions"] == installed_versions()
    documents = {server.client.get(f"/api/traces/{found[0][0]['id']}").content for server in cluster.servers}
    assert [json.loads(document)["events"] for document in documents] == [found[0]]
    with cluster.shared.client() as client:
        assert decompress(client.get(f"gradwalk:trace:{found[0][0]['id']}")) in documents
    wait_until(lambda: cluster.servers[0].client.get("/readyz").json()["started"] == starts(cluster) == before + 1)


async def test_a_reader_of_a_killed_server_goes_on_at_another_one(cluster: Cluster) -> None:
    first, second = cluster.servers

    source = PROGRAM.format(number=2, passes=60, pause=150_000)
    reading = asyncio.create_task(follow_to_the_end([first.url, second.url], source))
    with cluster.shared.client() as client:
        while not any(client.xlen(log) > 5 for log in client.scan_iter("gradwalk:log:*") if client.ttl(log) > 60):
            await asyncio.sleep(0.05)
    await asyncio.to_thread(first.stop, signal.SIGKILL)
    assert kind_of(await reading) == "ok"
    cluster.servers.remove(first)
    cluster.add_server()


async def test_a_restart_of_the_shared_server_loses_nothing_that_flows(cluster: Cluster) -> None:
    urls = [server.url for server in cluster.servers]
    flowing = [asyncio.create_task(follow_to_the_end(urls, f"sin({n}.0 * x)")) for n in range(1, 8)]
    flowing.append(asyncio.create_task(follow_to_the_end(urls, PROGRAM.format(number=3, passes=60, pause=150_000))))
    await asyncio.wait(flowing, return_when=asyncio.FIRST_COMPLETED)
    await asyncio.to_thread(cluster.shared.restart, signal.SIGTERM)
    for events in await asyncio.gather(*flowing):
        assert kind_of(events) == "ok"


async def test_two_hundred_runs_end_as_they_should_while_workers_are_killed(cluster: Cluster) -> None:
    """Each in one unbroken stream: its reader notices nothing."""
    before = starts(cluster)
    at_once = asyncio.Semaphore(CROWD)

    async def ask(number: int) -> list[dict[str, Any]]:
        asked = {"json": {"source": PROGRAM.format(number=number, passes=3, pause=300_000)}, "headers": ACCEPT}
        async with at_once, httpx.AsyncClient(base_url=cluster.servers[number % 2].url, timeout=60) as client:
            return list(events_in((await client.post("/api/traces", **asked)).text))

    runs = [asyncio.create_task(ask(number)) for number in range(RUNS)]
    kills = 0
    while not all(run.done() for run in runs):
        if sum(run.done() for run in runs) >= kills * RUNS_BETWEEN_KILLS:
            # With one place each and a crowd that asks, every worker is at work.
            await asyncio.to_thread(cluster.workers.pop(0).kill)
            await asyncio.to_thread(cluster.add_worker(**ONE_LONG_RUN).wait)
            kills += 1
        await asyncio.sleep(0.02)
    assert kills >= 3
    for events in [run.result() for run in runs]:
        assert kind_of(events) == "ok"
        assert sum(event["type"] == "pass_started" for event in events) == 3
        document = cluster.servers[0].client.get(f"/api/traces/{events[0]['id']}").json()
        assert document["events"] == events
    with cluster.shared.client() as client:
        assert not client.exists("gradwalk:waiting")
    assert RUNS <= starts(cluster) - before <= RUNS + kills


def starts(cluster: Cluster) -> int:
    """How often a run was begun."""
    with cluster.shared.client() as client:
        return int(client.get("gradwalk:started") or 0)


async def test_stuck_followers_of_a_room_are_noticed_by_nobody_else_and_told_the_last(cluster: Cluster) -> None:
    """Those who do not read a trace: `test_door.py`."""
    url = cluster.servers[0].url
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        hall = await Hall.open(client)
        places = [f"/api/rooms/{hall.code}/events?participant={await hall.seat(f'stuck {n}')}" for n in range(15)]
        with contextlib.ExitStack() as open_sockets:
            stuck = [open_sockets.enter_context(open_unread(url, place)) for place in places]
            honest = await hall.follower("honest")
            for move in range(MOVES):
                said = await hall.present(position=f"{move}.1", question={"id": "1.1", "prompt": f"{move:03}" * 100})
            await honest.until(lambda: honest.view["revision"] == said)
            await honest.drop()
            assert await hall.close() == 204
            answers = [HTTPResponse(late) for late in stuck]
            for answer in answers:
                answer.begin()
            told = [answer.read() for answer in answers]
    for one in told:
        views = [json.loads(line[6:]) for line in one.split(b"\n") if line[:7] == b"data: {"]
        assert views[-2]["revision"] == said, "the last thing that was shown"


def open_unread(url: str, path: str) -> socket.socket:
    """A connection that has asked for a stream and holds little of it."""
    where = urlsplit(url)
    stream = socket.socket()
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    stream.settimeout(PATIENCE_SECONDS)  # what found no room in its buffer is sent again ever later, up to two minutes
    stream.connect((where.hostname, where.port))
    stream.sendall(get(path))
    return stream
