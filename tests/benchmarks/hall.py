"""A lecture hall: what a crowd costs, in the server's own seconds of processor beside the clock.

The clients are as light as can be, on the same cores: no library between socket and clock. The yardstick is a bare
uvicorn app that sends the same bytes, measured in the same run.
"""

import asyncio
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.benchmarks.programs import SMALL, percentile
from tests.world.processes import descendants_of, running, wait_until
from tests.world.server import ADDRESS, running_server

BARE = """
import sys, uvicorn
body = open(sys.argv[1], "rb").read()
head = [(b"content-type", b"application/json"), (b"content-encoding", b"gzip"), (b"content-length", b"%d" % len(body))]
async def app(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": body})
uvicorn.run(app, port=0, access_log=False, lifespan="off")
"""
REVISION = re.compile(rb'"revision":(\d+)')
CROWD, CLASS = 3_000, 300
ROUNDS = 3
MOVES = 30
MOVE_SECONDS = 0.2
LOOPS = 8
AT_ONCE = 500
"""Connections that are made together: a listening socket has room for a few thousand."""


@dataclass
class Served:
    """A process that serves, and what it has used."""

    url: str
    pid: int

    def cpu_seconds(self) -> float:
        """Of the serving process alone."""
        return sum(read_times(self.pid)[:2])

    def children_seconds(self) -> float:
        """Of all processes under it, those that have ended included."""
        return sum(sum(read_times(pid)) for pid in descendants_of(self.pid))


def read_times(pid: int) -> list[float]:
    """User, system, and those of children that were waited for."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return [0.0] * 4
    return [int(part) / os.sysconf("SC_CLK_TCK") for part in parts[11:15]]


def private_bytes(pid: int) -> int:
    """Memory that is this process's alone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Private"))


class Client(asyncio.Protocol):
    """Sends one request and hears what comes, until one of the two hangs up."""

    def __init__(self, request: bytes, hear: Callable[[bytes], object]) -> None:
        self._request = request
        self._hear = hear
        self.transport: asyncio.Transport | None = None
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._hear(data)

    def connection_lost(self, _: Exception | None) -> None:
        self.over.set_result(None)


async def connect(url: str, request: bytes, hear: Callable[[bytes], object]) -> Client:
    """A client that has sent its request."""
    where = urlsplit(url)
    loop = asyncio.get_running_loop()
    return (await loop.create_connection(lambda: Client(request, hear), where.hostname, where.port))[1]


async def ask_at_once(url: str, requests: list[bytes]) -> list[bytes]:
    """All connect and ask in the same moment; the whole answers, in the order of the requests."""
    places = asyncio.Semaphore(AT_ONCE)

    async def ask(request: bytes) -> bytes:
        parts: list[bytes] = []
        async with places:
            client = await connect(url, request, parts.append)
        await client.over
        return b"".join(parts)

    return await asyncio.gather(*map(ask, requests))


def get(path: str) -> bytes:
    """A GET as it goes over the wire."""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n".encode()


def ask_for(source: str) -> bytes:
    """A POST whose answer is the stream."""
    body = json.dumps({"source": source}).encode()
    head = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nAccept: text/event-stream\r\n"
    return f"POST /api/traces HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{head}\r\n".encode() + body


def is_whole(answer: bytes) -> bool:
    """A stream that ended as it should, with the trace's own last event."""
    return b" 200 " in answer[:20] and b"event: done" in answer and b'"type":"finished"' in answer


@contextmanager
def serving() -> Iterator[Served]:
    """gradwalk with an empty store, for a crowd that has one address."""
    settings = {"running_count": LOOPS, "run_seconds": 10, "waiting_count": 600, "client_rate": "1000000/minute"}
    with running_server(**settings) as server:
        yield Served(server.url, server.process.pid)


@contextmanager
def serving_bare(body: bytes) -> Iterator[Served]:
    """uvicorn with nothing but these bytes."""
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "body").write_bytes(body)
        log = Path(home) / "log"
        with running([sys.executable, "-c", BARE, f"{home}/body"], log) as process:
            found = wait_until(lambda: ADDRESS.search(log.read_bytes()), process, log)
            yield Served(found.group().decode(), process.pid)


def say(name: str, wall: float, cpu: float, rest: str = "") -> None:
    """One row."""
    print(f"{name:<44}{wall:>8.2f}{cpu:>8.2f}  {rest}", flush=True)


def measure(served: Served, requests: list[bytes]) -> tuple[list[bytes], float, float]:
    """Answers, seconds by the clock, seconds of processor."""
    before, began = served.cpu_seconds(), time.perf_counter()
    answers = asyncio.run(ask_at_once(served.url, requests))
    return answers, time.perf_counter() - began, served.cpu_seconds() - before


def measure_gets(served: Served) -> None:
    """One finished trace, asked for by everybody, against the bare app."""
    (told,), _, _ = measure(served, [ask_for(SMALL.format(seed=1))])
    assert is_whole(told), told[-300:]
    trace = told.partition(b'"id":"')[2][:40].decode()
    request = get(f"/api/traces/{trace}")
    (kept,), _, _ = measure(served, [request])
    body = kept.partition(b"\r\n\r\n")[2]
    seen: dict[str, list[tuple[float, float]]] = {"bare uvicorn": [], "gradwalk": []}
    with serving_bare(body) as bare:
        for _ in range(ROUNDS):
            for (_, rows), place in zip(seen.items(), (bare, served), strict=True):
                answers, wall, cpu = measure(place, [request] * CROWD)
                assert all(answer.endswith(b"\r\n\r\n" + body) for answer in answers)
                rows.append((wall, cpu))
    best = {name: min(rows, key=lambda row: row[1]) for name, rows in seen.items()}
    for name, (wall, cpu) in best.items():
        say(f"{CROWD} GETs of one trace, {len(body)} bytes: {name}", wall, cpu)
    print(f"bytes per second of processor: {best['bare uvicorn'][1] / best['gradwalk'][1]:.0%} of bare uvicorn's")


def measure_first_requests(served: Served, name: str, seeds: list[int]) -> None:
    """New programs of everybody, the same or different ones."""
    before, children = count_runs(served), served.children_seconds()
    answers, wall, cpu = measure(served, [ask_for(SMALL.format(seed=seed)) for seed in seeds])
    runs = count_runs(served) - before
    each = (served.children_seconds() - children) / runs * 1e3
    whole = sum(map(is_whole, answers))
    say(f"{len(seeds)} first requests, {name}", wall, cpu, f"{whole} whole, {runs} runs, each child {each:.0f} ms")


def count_runs(served: Served) -> int:
    """Programs that were really run so far."""
    return int(httpx.get(f"{served.url}/readyz", timeout=60).json()["started"])


async def measure_room(served: Served, count: int) -> None:
    """From the presenter's key to the followers' events; processor per delivery, memory per follower who waits."""
    heard: dict[int, list[float]] = {}

    def hear(data: bytes) -> None:
        now = time.perf_counter()
        for revision in REVISION.findall(data):
            heard.setdefault(int(revision), []).append(now)

    async def until_heard() -> list[float]:
        async with asyncio.timeout(60):
            while not heard or len(heard[max(heard)]) < len(followers):
                await asyncio.sleep(0.002)
        return heard[max(heard)]

    followers: list[Client] = []
    delays: list[float] = []
    async with httpx.AsyncClient(base_url=served.url, timeout=60) as client:
        opened = (await client.post("/api/rooms", json={})).json()
        room, headers = f"/api/rooms/{opened['code']}", {"Authorization": f"Bearer {opened['secret']}"}
        before = private_bytes(served.pid)
        requests = [get(f"{room}/events?participant={number:016x}") for number in range(count)]
        for start in range(0, count, AT_ONCE):
            some = requests[start : start + AT_ONCE]
            followers += await asyncio.gather(*[connect(served.url, request, hear) for request in some])
            await until_heard()
        memory = (private_bytes(served.pid) - before) / count / 1024
        cpu = served.cpu_seconds()
        for move in range(MOVES):
            began = time.perf_counter()
            answer = await client.put(f"{room}/state", json={"shown": {"position": f"{move + 1}.3"}}, headers=headers)
            heard.setdefault(answer.json()["revision"], [])
            delays += [moment - began for moment in await until_heard()]
            await asyncio.sleep(max(0.0, MOVE_SECONDS - (time.perf_counter() - began)))
        cpu = served.cpu_seconds() - cpu
        for follower in followers:
            assert follower.transport is not None
            follower.transport.abort()
    middle, high, last = (1e3 * one for one in (statistics.median(delays), percentile(delays), max(delays)))
    name = f"room of {count}, {MOVES} moves"
    say(name, MOVES * MOVE_SECONDS, cpu, f"p50 {middle:.0f}, p95 {high:.0f}, slowest {last:.0f} ms")
    print(f"{cpu / len(delays) * 1e6:.0f} us of processor a delivery, {memory:.0f} KiB an idle follower")


async def measure_memory(served: Served) -> None:
    """What a program under way takes: in the server, and in the children themselves."""

    def look() -> tuple[int, int]:
        return private_bytes(served.pid), sum(map(private_bytes, descendants_of(served.pid)))

    before = look()
    loops = [ask_for(f"import torch\nn = {number}\nwhile True: pass") for number in range(LOOPS)]
    asking = asyncio.create_task(ask_at_once(served.url, loops))
    async with httpx.AsyncClient(base_url=served.url, timeout=60) as client:
        while (await client.get("/readyz")).json()["running"] < LOOPS:
            await asyncio.sleep(0.05)
    own, children = ((after - other) / LOOPS / 2**20 for after, other in zip(look(), before, strict=True))
    print(f"memory per running trace: {own:.2f} MiB in the server, {children:.1f} MiB in its child")
    await asking


def main() -> None:
    """Prints the table."""
    print(f"{'':<44}{'wall s':>8}{'CPU s':>8}  (of the server's own process; load {os.getloadavg()[0]:.1f})")
    with serving() as served:
        measure_gets(served)
        measure_first_requests(served, "the same", [2] * CROWD)
        measure_first_requests(served, "all different", list(range(1_000, 1_000 + CLASS)))
        for count in (CLASS, CROWD):
            asyncio.run(measure_room(served, count))
        asyncio.run(measure_memory(served))


if __name__ == "__main__":
    main()
