"""A lecture hall: what a crowd costs, in the server's own seconds of processor beside the clock.

Everything is asked by a client as light as can be (`crowd_client.py`) on the same cores. The yardstick is a bare
uvicorn app that sends the same bytes, measured in the same run.
"""

import asyncio
import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.benchmarks.crowd_client import Answer, Hall, ask_at_once, get, send
from tests.benchmarks.server import wait_until
from tests.world.processes import running
from tests.world.processes import wait_until as wait_for
from tests.world.server import ADDRESS, Server

STREAM = "Accept: text/event-stream"
PROGRAM = """
import torch
torch.manual_seed({seed})
W1 = torch.randn(3, 4, requires_grad=True)
b1 = torch.zeros(4, requires_grad=True)
W2 = torch.randn(4, 2, requires_grad=True)
x = torch.randn(5, 3)
h = torch.tanh(x @ W1 + b1)
loss = ((h @ W2) ** 2).mean()
loss.backward()
"""
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
ROUNDS = 3
TRACES = int(os.environ.get("GRADWALK_BENCH_TRACES", "10000"))
MOVES = 30
MOVE_SECONDS = 0.2
PATIENT = {
    "GRADWALK_RUNNING_COUNT": "8",
    "GRADWALK_RUN_SECONDS": "10",
    "GRADWALK_WAITING_COUNT": "600",
    "GRADWALK_CLIENT_RATE": "1000000/minute",
}
"""All of the crowd has one address, and runs more in a minute than one address may."""


@dataclass
class Served:
    """A process that serves, and what it has used."""

    url: str
    pid: int

    def cpu_seconds(self, with_children: bool = False) -> float:
        """Of the serving process; with what its children have used and are using."""
        own = sum(read_times(self.pid)[:2])
        return own + sum(sum(read_times(pid)) for pid in descendants(self.pid)) if with_children else own

    def memory_bytes(self) -> int:
        """Of the serving process alone, that nobody shares."""
        return private_bytes(self.pid)


def read_times(pid: int) -> tuple[float, float, float, float]:
    """User, system, and those of children that were waited for."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return (0.0, 0.0, 0.0, 0.0)
    tick = os.sysconf("SC_CLK_TCK")
    user, system, children_user, children_system = (int(part) / tick for part in parts[11:15])
    return user, system, children_user, children_system


def descendants(pid: int) -> list[int]:
    """Children and theirs."""
    found = [int(child) for task in Path(f"/proc/{pid}/task").glob("*/children") for child in task.read_text().split()]
    return found + [one for child in found for one in descendants(child)]


def private_bytes(pid: int) -> int:
    """Memory that is this process's alone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Private"))


@contextmanager
def serving(**settings: str) -> Iterator[Served]:
    """gradwalk on a free port, with an empty store."""
    with tempfile.TemporaryDirectory() as home:
        server = Server(Path(home), GRADWALK_LOG_FORMAT="json", **settings)
        try:
            yield Served(server.url, server.process.pid)
        finally:
            server.stop()


@contextmanager
def serving_bare(body: bytes) -> Iterator[Served]:
    """uvicorn with nothing but these bytes."""
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "body").write_bytes(body)
        log = Path(home) / "log"
        with running([sys.executable, "-c", BARE, f"{home}/body"], log) as process:
            found = wait_for(lambda: ADDRESS.search(log.read_bytes()), process, log)
            url = found.group().decode()
            wait_until(lambda: _answers(url))
            yield Served(url, process.pid)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).status_code == 200
    except httpx.TransportError:
        return False


def say(name: str, wall: float, cpu: float, rest: str = "") -> None:
    """One row."""
    print(f"{name:<52}{wall:>8.2f}{cpu:>8.2f}  {rest}", flush=True)


def trace_of(served: Served, seed: int) -> tuple[str, bytes]:
    """The id of a finished trace and its bytes, as they are kept."""
    (answer,) = asyncio.run(ask_at_once(served.url, [ask_for(seed)]))
    assert answer.is_whole_stream, answer.body[-300:]
    trace = answer.body.partition(b'"id":"')[2][:40].decode()
    (kept,) = asyncio.run(ask_at_once(served.url, [get(f"/api/traces/{trace}")]))
    assert kept.status == 200
    return trace, kept.body


def ask_for(seed: int) -> bytes:
    """A POST whose answer is the stream."""
    return send("POST", "/api/traces", {"source": PROGRAM.format(seed=seed)}, STREAM)


def traces_run(served: Served) -> int:
    """Programs that were really run so far."""
    return int(httpx.get(f"{served.url}/readyz", timeout=60).json()["started"])


def measure(served: Served, requests: list[bytes], with_children: bool = False) -> tuple[list[Answer], float, float]:
    """Answers, seconds by the clock, seconds of processor."""
    before, began = served.cpu_seconds(with_children), time.perf_counter()
    answers = asyncio.run(ask_at_once(served.url, requests))
    return answers, time.perf_counter() - began, served.cpu_seconds(with_children) - before


def measure_gets(served: Served, count: int) -> None:
    """One finished trace, asked for by everybody, against the bare app."""
    trace, body = trace_of(served, 1)
    requests = [get(f"/api/traces/{trace}")] * count
    with serving_bare(body) as bare:
        ours, theirs = [], []
        for _ in range(ROUNDS):
            for place, seen in ((served, ours), (bare, theirs)):
                answers, wall, cpu = measure(place, requests)
                assert all(answer.body == body for answer in answers)
                seen.append((wall, cpu))
    for name, seen in (("bare uvicorn", theirs), ("gradwalk", ours)):
        wall, cpu = min(seen, key=lambda each: each[1])
        rate = count * len(body) / cpu / 1e6
        say(f"{count} GETs of one trace, {len(body)} bytes: {name}", wall, cpu, f"{rate:.0f} MB per CPU second")
    share = min(cpu for _, cpu in theirs) / min(cpu for _, cpu in ours)
    print(f"{'':<52}bytes per CPU second: {share:.0%} of bare uvicorn's (goal 70 %)")


def measure_same(served: Served, count: int, seed: int, goal: float) -> None:
    """Everybody asks first for the same."""
    before = traces_run(served)
    answers, wall, cpu = measure(served, [ask_for(seed)] * count)
    whole = sum(answer.is_whole_stream for answer in answers)
    rest = f"{whole} whole, {traces_run(served) - before} trace run (goal {goal:g} s)"
    say(f"{count} first requests for the same", wall, cpu, rest)


def measure_different(served: Served, count: int, goal: float) -> None:
    """Everybody asks for a program of their own."""
    before = served.cpu_seconds(with_children=True)
    answers, wall, cpu = measure(served, [ask_for(1_000 + seed) for seed in range(count)])
    children = served.cpu_seconds(with_children=True) - before - cpu
    whole = sum(answer.is_whole_stream for answer in answers)
    rest = f"{whole} whole (goal {goal:g} s); its children {children / count * 1e3:.0f} ms each"
    say(f"{count} first requests, all different", wall, cpu, rest)


async def lecture(served: Served, count: int) -> tuple[list[float], float, float]:
    """Seconds from each of the presenter's moves to each follower; processor; memory per follower who waits."""
    async with httpx.AsyncClient(base_url=served.url, timeout=60) as client:
        opened = (await client.post("/api/rooms", json={})).json()
        before = served.memory_bytes()
        hall = Hall()
        await hall.fill(served.url, opened["code"], count)
        memory = (served.memory_bytes() - before) / count
        cpu = served.cpu_seconds()
        delays: list[float] = []
        for move in range(MOVES):
            shown = {"shown": {"position": f"{move + 1}.3"}}
            headers = {"Authorization": f"Bearer {opened['secret']}"}
            began = time.perf_counter()
            answer = await client.put(f"/api/rooms/{opened['code']}/state", json=shown, headers=headers)
            revision = answer.json()["revision"]
            await hall.until_heard(revision)
            delays += [heard - began for heard in hall.heard[revision]]
            await asyncio.sleep(max(0.0, MOVE_SECONDS - (time.perf_counter() - began)))
        cpu = served.cpu_seconds() - cpu
        hall.leave()
    return delays, cpu, memory


def measure_room(served: Served, count: int, goal_ms: int) -> None:
    """From the presenter's key to the follower's event."""
    delays, cpu, memory = asyncio.run(lecture(served, count))
    ordered = sorted(delays)
    middle, high = statistics.median(ordered) * 1e3, ordered[int(0.95 * len(ordered))] * 1e3
    rest = f"p50 {middle:.0f}, p95 {high:.0f}, max {ordered[-1] * 1e3:.0f} ms (goal p95 {goal_ms} ms)"
    say(f"room, {count} followers, {MOVES} moves", MOVES * MOVE_SECONDS, cpu, rest)
    each = cpu / len(ordered) * 1e6
    print(f"{'':<52}{each:.0f} us of processor per delivery, {memory / 1024:.0f} KiB per idle follower")


def measure_running_memory(served: Served, count: int) -> None:
    """What a program under way takes: in the server, and in the children themselves."""
    before, children_before = served.memory_bytes(), sum(map(private_bytes, descendants(served.pid)))

    async def run() -> None:
        loops = [ask_for_loop(number) for number in range(count)]
        asking = asyncio.create_task(ask_at_once(served.url, loops))
        async with httpx.AsyncClient(base_url=served.url, timeout=60) as client:
            while (await client.get("/readyz")).json()["running"] < count:
                await asyncio.sleep(0.05)
        own = (served.memory_bytes() - before) / count / 1024
        children = (sum(map(private_bytes, descendants(served.pid))) - children_before) / count / (1 << 20)
        print(f"{'memory per running trace':<52}{own:.0f} KiB in the server, {children:.1f} MiB in its child")
        await asking

    asyncio.run(run())


def ask_for_loop(number: int) -> bytes:
    """A program that runs until it is stopped."""
    return send("POST", "/api/traces", {"source": f"import torch\nn = {number}\nwhile True: pass"}, STREAM)


def measure_growth(served: Served, count: int) -> None:
    """Memory after every tenth of so many different traces, of the server and of the warm process behind it."""
    seeds = itertools.count(100_000)
    began, cpu = time.perf_counter(), served.cpu_seconds(with_children=True)
    sizes = []
    for _ in range(10):
        for _ in range(count // 100):
            answers = asyncio.run(ask_at_once(served.url, [ask_for(next(seeds)) for _ in range(10)]))
            assert all(answer.is_whole_stream for answer in answers)
        zygote = max(private_bytes(pid) for pid in descendants(served.pid))
        sizes.append((served.memory_bytes() / (1 << 20), zygote / (1 << 20)))
    cpu = served.cpu_seconds(with_children=True) - cpu
    say(
        f"{count} different traces, ten at a time", time.perf_counter() - began, cpu, f"{cpu / count * 1e3:.1f} ms each"
    )
    print("memory after each tenth, MiB: server " + " ".join(f"{server:.0f}" for server, _ in sizes))
    print("                    warm process " + " ".join(f"{zygote:.0f}" for _, zygote in sizes))


def main() -> None:
    """Prints the table."""
    print(f"{'':<52}{'wall s':>8}{'CPU s':>8}  (of the server's own process; load {os.getloadavg()[0]:.1f})")
    with serving() as served:
        measure_gets(served, 3_000)
        measure_same(served, 300, 2, 1.0)
        measure_same(served, 3_000, 3, 6.0)
        measure_different(served, 300, 7.0)
        measure_room(served, 300, 50)
        measure_room(served, 3_000, 200)
    with serving(**PATIENT) as served:
        trace_of(served, 1)
        measure_running_memory(served, 8)
        measure_growth(served, TRACES)
    print(json.dumps({"cores": os.cpu_count(), "load": os.getloadavg()}))


if __name__ == "__main__":
    main()
