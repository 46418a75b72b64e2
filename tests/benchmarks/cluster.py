"""The compose file's set-up as local processes, broken again and again under load: what readers notice.

Two servers without torch, two workers, one redis; readers as the page is one. Every reader has to end with every event
once. Then what the shared log costs beside the local pool.
"""

import asyncio
import signal
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from gradwalk.engine.runlog import STARTED
from tests.world.cluster import Cluster, follow_to_the_end
from tests.world.redis import Redis
from tests.world.stream import ACCEPT, kind_of, read_stream

ROUNDS = 5
CROWD = 300
FLOW = 60
LONG = """
import torch
x = torch.tensor({number}.0, requires_grad=True)
for _ in range(60):
    (x * x).backward()
    for _ in range(200_000):
        pass
"""
SMALL = "import torch\nx = torch.tensor({number}.0, requires_grad=True)\n(x * x).backward()\n"


def main() -> None:
    """Prints the table; fails when any reader misses anything."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        cluster = Cluster(home, Redis(home / "redis"))
        try:
            for worker in (cluster.add_worker(), cluster.add_worker()):
                worker.wait()
            for _ in range(2):
                cluster.add_server()
            measure_faults(cluster)
            measure_crowds(cluster)
        finally:
            cluster.close()


def measure_faults(cluster: Cluster) -> None:
    """Pauses that a reader sees, in seconds."""
    rounds = iter(range(1, 10_000))
    for name, act, replace in (
        ("undisturbed", None, None),
        ("worker killed (-9)", kill_worker, lambda: cluster.add_worker().wait()),
        ("server killed (-9)", kill_server, cluster.add_server),
    ):
        pauses = []
        for _ in range(ROUNDS):
            pauses.append(asyncio.run(read_long(cluster, next(rounds), act)))
            if replace is not None:
                # As the compose file would have it.
                replace()
        print(f"longest pause, {name:<20}   {in_words(pauses)}", flush=True)
    for number in (signal.SIGTERM, signal.SIGKILL):
        seconds = [asyncio.run(flow_through_restart(cluster, next(rounds), number)) for _ in range(ROUNDS)]
        print(f"{FLOW} runs, redis restarts ({number.name}): all whole after {in_words(seconds)}", flush=True)


async def read_long(cluster: Cluster, number: int, act: Callable[[Cluster, str], None] | None) -> float:
    """The longest pause between two events of one run, while `act` happens in the middle of it."""
    urls = [server.url for server in cluster.servers]
    source = LONG.format(number=number)
    events: list[dict[str, Any]] = []
    came = [time.monotonic()]
    while not events or events[-1]["type"] != "finished":
        url = urls[0]
        urls.append(urls.pop(0))
        try:
            async with httpx.AsyncClient(base_url=url, timeout=60) as client:
                posted = await client.post("/api/traces", json={"source": source})
                if posted.status_code not in (200, 202):
                    await asyncio.sleep(0.1)
                    continue
                resume = {**ACCEPT, "Last-Event-ID": str(len(events) - 1)} if events else ACCEPT
                async with client.stream("GET", posted.json()["links"]["events"], headers=resume) as answer:
                    async for event in read_stream(answer):
                        events.append(event)
                        came.append(time.monotonic())
                        if len(events) == 60 and act is not None:
                            await asyncio.to_thread(act, cluster, events[0]["id"])
        except httpx.TransportError:
            await asyncio.sleep(0.1)
    assert kind_of(events) == "ok"
    return max(later - earlier for earlier, later in zip(came[1:], came[2:], strict=False))


def kill_worker(cluster: Cluster, trace: str) -> None:
    """The one that runs it."""
    victim = cluster.worker_of(trace)
    victim.kill()
    cluster.workers.remove(victim)


def kill_server(cluster: Cluster, trace: str) -> None:  # noqa: ARG001 (whatever it reads)
    """The one that the reader began at."""
    cluster.servers.pop(0).stop(signal.SIGKILL)


async def flow_through_restart(cluster: Cluster, number: int, how: signal.Signals) -> float:
    """Seconds from the restart until everybody has everything."""
    urls = [server.url for server in cluster.servers]
    flowing = [
        asyncio.create_task(follow_to_the_end(urls, SMALL.format(number=1_000 * number + each))) for each in range(FLOW)
    ]
    await asyncio.wait(flowing, return_when=asyncio.FIRST_COMPLETED)
    began = time.monotonic()
    await asyncio.to_thread(cluster.shared.restart, how)
    for events in await asyncio.gather(*flowing):
        assert kind_of(events) == "ok"
    return time.monotonic() - began


def measure_crowds(cluster: Cluster) -> None:
    """Many at once, over two servers: the same new program, and each their own."""
    for name, sources in (
        ("the same", [SMALL.format(number=7)] * CROWD),
        ("each their own", [SMALL.format(number=1_000_000 + each) for each in range(CROWD)]),
    ):
        before = count_started(cluster)
        began = time.monotonic()
        asyncio.run(ask_at_once(cluster, sources))
        seconds = time.monotonic() - began
        print(f"{CROWD} readers, {name:<15} {seconds:.2f} s, {count_started(cluster) - before} runs", flush=True)


async def ask_at_once(cluster: Cluster, sources: list[str]) -> None:
    """Everybody reads everything."""
    urls = [server.url for server in cluster.servers]
    found = await asyncio.gather(
        *[follow_to_the_end([urls[number % len(urls)]], source) for number, source in enumerate(sources)]
    )
    for events in found:
        assert kind_of(events) == "ok"


def count_started(cluster: Cluster) -> int:
    """Runs that have begun since ever."""
    with cluster.shared.client() as client:
        return int(client.get(STARTED))


def in_words(seconds: list[float]) -> str:
    """The middle and the worst."""
    return f"{statistics.median(seconds):.2f} s, at worst {max(seconds):.2f} s"


if __name__ == "__main__":
    main()
