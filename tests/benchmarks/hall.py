"""A lecture hall: what a crowd costs, in the server's own seconds of processor beside the clock.

The clients are as light as can be, on the same cores: asyncio's own streams.
"""

import asyncio
import json
import os
import re
import statistics
import time
from collections import Counter
from urllib.parse import urlsplit

import httpx
import psutil

from tests.benchmarks.programs import SMALL, percentile
from tests.world.processes import descendants_of
from tests.world.server import Server, running_server
from tests.world.stream import trace_events

REVISION = re.compile(rb'"revision":(\d+)')
FIRST_REVISION = 1
GZIP = "Accept-Encoding: gzip"
CROWD, CLASS = 3_000, 300
ROUNDS = 3
MOVES = 30
MOVE_SECONDS = 0.2
LOOPS = 8
FOR_A_CROWD = {
    "running_count": LOOPS,
    "run_seconds": 10,
    "waiting_count": 600,
    "client_rate": "1000000/minute",
    "cpu_rate": "",
}
"""Settings for many readers with one address."""
AT_ONCE = 500
"""Connections that are made together: a listening socket has room for a few thousand."""


def cpu_seconds(server: Server) -> float:
    """What the serving process alone has used."""
    return sum(psutil.Process(server.pid).cpu_times()[:2])


def children_seconds(server: Server) -> float:
    """What all processes under it have used, those that have ended included."""
    return sum(sum(child.cpu_times()[:4]) for child in psutil.Process(server.pid).children(recursive=True))


def private_bytes(pid: int) -> int:
    """Memory that is this process's alone."""
    try:
        return int(psutil.Process(pid).memory_full_info().uss)
    except psutil.NoSuchProcess:
        return 0


async def send(
    url: str, request: bytes, address: str = "127.0.0.1"
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection of its own from that address, until the server hangs up or nothing holds its writer any more."""
    where = urlsplit(url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port, local_addr=(address, 0))
    writer.write(request)
    return reader, writer


async def ask_at_once(url: str, requests: list[bytes]) -> list[bytes]:
    """All connect and ask in the same moment; the whole answers, in the order of the requests."""
    places = asyncio.Semaphore(AT_ONCE)

    async def ask(request: bytes) -> bytes:
        async with places:
            answer, writer = await send(url, request)
        found = await answer.read()
        writer.close()
        return found

    return await asyncio.gather(*map(ask, requests))


def get(path: str, *headers: str) -> bytes:
    """A GET as it goes over the wire."""
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close", *headers, "", ""]).encode()


def post(path: str, body: object, *headers: str, method: str = "POST") -> bytes:
    """A request with a body, which is JSON already where it is bytes."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    more = ("Content-Type: application/json", f"Content-Length: {len(sent)}", *headers)
    return get(path, *more).replace(b"GET", method.encode(), 1) + sent


def ask_for(source: str) -> bytes:
    """A POST whose answer is the stream."""
    return post("/api/traces", {"source": source}, "Accept: text/event-stream")


def is_whole(answer: bytes) -> bool:
    """A stream that ended as it should, with the trace's own last event."""
    return b" 200 " in answer[:20] and b"event: done" in answer and b'"type":"finished"' in answer


def say(name: str, wall: float, cpu: float, rest: str = "") -> None:
    """One row."""
    print(f"{name:<44}{wall:>8.2f}{cpu:>8.2f}  {rest}", flush=True)


def measure(server: Server, requests: list[bytes]) -> tuple[list[bytes], float, float]:
    """Answers, seconds by the clock, seconds of processor."""
    before, began = cpu_seconds(server), time.perf_counter()
    answers = asyncio.run(ask_at_once(server.url, requests))
    return answers, time.perf_counter() - began, cpu_seconds(server) - before


def measure_gets(server: Server) -> None:
    """One finished trace, asked for by everybody."""
    trace = trace_events(server.client, SMALL.format(number=1))[0]["id"]
    request = get(f"/api/traces/{trace}", GZIP)
    (kept,), _, _ = measure(server, [request])
    body = kept.partition(b"\r\n\r\n")[2]
    answers, wall, cpu = min((measure(server, [request] * CROWD) for _ in range(ROUNDS)), key=lambda row: row[2])
    assert all(answer.endswith(b"\r\n\r\n" + body) for answer in answers)
    say(f"{CROWD} GETs of one trace, {len(body)} bytes", wall, cpu)


def measure_first_requests(server: Server, name: str, seeds: list[int]) -> None:
    """New programs of everybody, the same or different ones."""
    before, children = server.client.get("/readyz").json()["started"], children_seconds(server)
    answers, wall, cpu = measure(server, [ask_for(SMALL.format(number=seed)) for seed in seeds])
    runs = server.client.get("/readyz").json()["started"] - before
    each = (children_seconds(server) - children) / runs * 1e3
    whole = sum(map(is_whole, answers))
    say(f"{len(seeds)} first requests, {name}", wall, cpu, f"{whole} whole, {runs} runs, each child {each:.0f} ms")


async def measure_room(server: Server, count: int) -> None:
    """From the presenter's key to the last follower's event; processor per delivery, memory per follower who waits."""
    heard: Counter[int] = Counter()
    news = asyncio.Event()

    async def hear(answer: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        while data := await answer.read(1 << 16):
            heard.update(map(int, REVISION.findall(data)))
            news.set()

    async def until_all_heard(revision: int) -> None:
        async with asyncio.timeout(60):
            while heard[revision] < len(followers):
                news.clear()
                await news.wait()

    followers: list[asyncio.Task[None]] = []
    delays: list[float] = []
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        opened = (await client.post("/api/rooms", json={})).json()
        room, headers = f"/api/rooms/{opened['code']}", {"Authorization": f"Bearer {opened['secret']}"}
        before = private_bytes(server.pid)
        for _ in range(count):
            seat = (await client.post(f"{room}/participants", json={})).json()
            connection = await send(server.url, get(f"{room}/events?participant={seat['participant']}", GZIP))
            followers.append(asyncio.create_task(hear(*connection)))
        await until_all_heard(FIRST_REVISION)
        memory = (private_bytes(server.pid) - before) / count / 1024
        cpu = cpu_seconds(server)
        for move in range(MOVES):
            began = time.perf_counter()
            answer = await client.put(f"{room}/state", json={"shown": {"position": f"{move + 1}.3"}}, headers=headers)
            await until_all_heard(answer.json()["revision"])
            delays.append(time.perf_counter() - began)
            await asyncio.sleep(max(0.0, MOVE_SECONDS - delays[-1]))
        cpu = cpu_seconds(server) - cpu
        for follower in followers:
            follower.cancel()
    middle, high, last = (1e3 * one for one in (statistics.median(delays), percentile(delays), max(delays)))
    name = f"room of {count}, {MOVES} moves"
    say(name, MOVES * MOVE_SECONDS, cpu, f"p50 {middle:.0f}, p95 {high:.0f}, slowest {last:.0f} ms")
    print(f"{cpu / MOVES / count * 1e6:.0f} us of processor a delivery, {memory:.0f} KiB an idle follower")


async def measure_memory(server: Server) -> None:
    """What a program under way takes: in the server, and in the children themselves."""

    def look() -> tuple[int, int]:
        return private_bytes(server.pid), sum(map(private_bytes, descendants_of(server.pid)))

    before = look()
    loops = [ask_for(f"import torch\nn = {number}\nwhile True: pass") for number in range(LOOPS)]
    asking = asyncio.create_task(ask_at_once(server.url, loops))
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        while (await client.get("/readyz")).json()["running"] < LOOPS:
            await asyncio.sleep(0.05)
    own, children = ((after - other) / LOOPS / 2**20 for after, other in zip(look(), before, strict=True))
    print(f"memory per running trace: {own:.2f} MiB in the server, {children:.1f} MiB in its child")
    await asking


def main() -> None:
    """Prints the table."""
    print(f"{'':<44}{'wall s':>8}{'CPU s':>8}  (of the server's own process; load {os.getloadavg()[0]:.1f})")
    with running_server(**FOR_A_CROWD) as server:
        measure_gets(server)
        measure_first_requests(server, "the same", [2] * CROWD)
        measure_first_requests(server, "all different", list(range(1_000, 1_000 + CLASS)))
        for count in (CLASS, CROWD):
            asyncio.run(measure_room(server, count))
        asyncio.run(measure_memory(server))


if __name__ == "__main__":
    main()
