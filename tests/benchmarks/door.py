"""The front door: what one address can cost everybody else, a recipe at a time and all of them together.

The hostile address is 127.0.0.2, in a process of its own; each honest reader has another. All on the server's cores.
"""

import asyncio
import itertools
import json
import multiprocessing
import os
import random
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field

from tests.benchmarks.hall import ask_for, get, post, private_bytes, send
from tests.benchmarks.programs import BACKWARD, SMALL, percentile, transformer
from tests.world.server import Server, running_server
from tests.world.stream import trace_events

HOSTILE = "127.0.0.2"
HONEST = 50
PAUSE_SECONDS = 1.0
"""Of an honest reader between two requests."""
ROUND_SECONDS = 10.0
PROBE_SECONDS = 0.02
WEIGH_SECONDS = 1.0
BIG = transformer(20) + BACKWARD
LOOP = "n = {number}\nwhile True: pass\n"
NUMBERS = json.dumps({"inputs": {"x": [[random.random() for _ in range(10)] for _ in range(550)]}}).encode()
DEEP = b'{"source": "", "options": {"inputs": {"x": ' + b"[" * 60_000 + b"]" * 60_000 + b"}}}"


@dataclass
class Target:
    """A server under attack, what is kept there, and a counter that makes requests differ."""

    url: str
    pid: int
    small: str
    """A finished trace."""
    big: str
    """One of some megabytes."""
    link: str
    """A program that somebody shared."""
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def new(self, text: str) -> str:
        """The text with a number in it that no other has."""
        return text.format(number=next(self.numbers))

    async def ask(self, request: bytes, address: str = HOSTILE) -> bytes:
        """The whole answer; empty where the server hung up."""
        with suppress(OSError):
            reader, writer = await send(self.url, request, address)
            with closing(writer):
                return await reader.read()
        return b""

    async def hold(self, request: bytes) -> None:
        """A connection whose answer nobody reads, until it is taken away."""
        with suppress(OSError):
            _, writer = await send(self.url, request, HOSTILE)
            with closing(writer):
                await asyncio.Event().wait()


async def bake(target: Target) -> None:
    """Has a frame with everything worked out made of a program that nobody has shown yet."""
    answer = await target.ask(post("/api/snippets", {"source": target.new(SMALL)}))
    with suppress(ValueError, KeyError):
        shared = json.loads(answer.partition(b"\r\n\r\n")[2])
        await target.ask(get(f"/embed/{shared['id']}"))


def large_body(target: Target) -> bytes:
    """As many numbers as a request may have, for a program that nobody has seen; not spelled anew by the sender."""
    return post("/api/traces", b'{"source": %s, "options": %s}' % (json.dumps(target.new(SMALL)).encode(), NUMBERS))


def vote(target: Target) -> bytes:
    """An answer in the name of nobody."""
    answer = {"participant": target.new("{number:016x}"), "answer": "WRONG"}
    return post("/api/rooms/BCDFGH/answers/q1", answer, method="PUT")


def link(target: Target) -> bytes:
    """A shared program, to crowd out those of others."""
    return post("/api/snippets", {"source": target.new("n = {number}\n") + "#" * 60_000})


Recipe = Callable[[Target], Coroutine[None, None, object]]
RECIPES: dict[str, tuple[int, Recipe]] = {
    "large_bodies": (8, lambda on: on.ask(large_body(on))),
    "too_long_bodies": (8, lambda on: on.ask(post("/api/traces", {"source": "#" * 1_900_000}))),
    "deep_json": (8, lambda on: on.ask(post("/api/traces", DEEP))),
    "links": (8, lambda on: on.ask(link(on))),
    "rooms": (16, lambda on: on.ask(post("/api/rooms", {}))),
    "votes": (16, lambda on: on.ask(vote(on))),
    "codes": (16, lambda on: on.ask(get(f"/api/rooms/{''.join(random.choices('BCDFGHJKLMNPQRSTVWX', k=6))}"))),
    "bakes": (6, bake),
    "pictures": (6, lambda on: on.ask(get(f"/api/traces/{on.big}/export/png?step={next(on.numbers) % 400}"))),
    "loops": (32, lambda on: on.ask(ask_for(on.new(LOOP)))),
    # A kept program with other inputs, as any page may ask.
    "inputs": (8, lambda on: on.ask(get(on.new(f"/embed/{on.link}/trace.json?i=%7B%22k%22:{{number}}%7D")))),
    # Without compression.
    "plain_reads": (12, lambda on: on.ask(get(f"/api/traces/{on.big}"))),
    "plain_events": (12, lambda on: on.ask(get(f"/api/traces/{on.big}/events"))),
    "slow_readers": (60, lambda on: on.hold(get(f"/api/traces/{on.big}"))),
    "slow_followers": (60, lambda on: on.hold(get(f"/api/traces/{on.big}/events"))),
    # A head that does not end.
    "half_requests": (1_000, lambda on: on.hold(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")),
    # Followers of one run that never ends.
    "streams": (3_000, lambda on: on.hold(ask_for(LOOP.format(number=0)))),
}
"""How many of each go on at once, and what one of them does."""


@dataclass
class Seen:
    """What everybody else saw meanwhile."""

    probes: list[float] = field(default_factory=list)
    reads: list[float] = field(default_factory=list)
    runs: list[float] = field(default_factory=list)
    failures: list[bytes] = field(default_factory=list)
    memory: int = 0


async def again_and_again(recipe: Recipe, target: Target) -> None:
    """One hostile client."""
    while True:
        await recipe(target)
        # Where it is refused at once, it would otherwise be the load generator that is measured.
        await asyncio.sleep(0.01)


async def probe(target: Target, seen: Seen) -> None:
    """Whether the event loop turns."""
    while True:
        began = time.perf_counter()
        answer = await target.ask(get("/healthz"), "127.0.0.1")
        seen.probes.append(time.perf_counter() - began)
        if b" 200 " not in answer[:20]:
            seen.failures.append(answer[:200])
        await asyncio.sleep(PROBE_SECONDS)


async def weigh(target: Target, seen: Seen) -> None:
    """Seldom and aside: the kernel walks through all pages of a process for it, which can take a tenth of a second."""
    while True:
        seen.memory = max(seen.memory, await asyncio.to_thread(private_bytes, target.pid))
        await asyncio.sleep(WEIGH_SECONDS)


async def read_honestly(target: Target, seen: Seen, number: int) -> None:
    """A student: looks at what is there, and each tenth time runs something new."""
    address = f"127.0.1.{number + 1}"
    await asyncio.sleep(PAUSE_SECONDS * number / HONEST)
    for turn in itertools.count(number):
        began = time.perf_counter()
        if turn % 10:
            answer = await target.ask(get(f"/api/traces/{target.small}", "Accept-Encoding: gzip"), address)
            seen.reads.append(time.perf_counter() - began)
            is_right = b" 200 " in answer[:20]
        else:
            answer = await target.ask(ask_for(target.new(SMALL)), address)
            seen.runs.append(time.perf_counter() - began)
            is_right = b'"type":"finished"' in answer
        if not is_right:
            seen.failures.append(answer[:200])
        await asyncio.sleep(PAUSE_SECONDS)


async def go_on(work: list[Coroutine[None, None, None]], seconds: float) -> None:
    """All of it at once, for so long; what breaks breaks the benchmark."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
            for one in work:
                group.create_task(one)


def be_hostile(target: Target, counts: dict[str, int], seconds: float) -> None:
    """What the hostile process does."""
    target.numbers = itertools.count(1_000_000)
    recipes = [recipe for name, (_, recipe) in RECIPES.items() for _ in range(counts.get(name, 0))]
    asyncio.run(go_on([again_and_again(recipe, target) for recipe in recipes], seconds))


def attack(target: Target, counts: dict[str, int], seconds: float) -> Seen:
    """So many of each recipe at once beside the honest readers."""
    seen = Seen()
    hostile = multiprocessing.get_context("spawn").Process(target=be_hostile, args=(target, counts, seconds + 2))
    hostile.start()
    honest = [read_honestly(target, seen, number) for number in range(HONEST)]
    asyncio.run(go_on([*honest, probe(target, seen), weigh(target, seen)], seconds))
    hostile.join()
    if hostile.exitcode:
        raise RuntimeError("the hostile process broke")
    return seen


def prepare(server: Server) -> Target:
    """With what somebody keeps there."""
    small, big = (str(trace_events(server.client, source)[0]["id"]) for source in (SMALL.format(number=0), BIG))
    program = "import torch\nk = torch.tensor(1.0, requires_grad=True)\n(k * k).backward()\n"
    shared = server.client.post("/api/snippets", json={"source": program})
    return Target(server.url, server.pid, small, big, shared.json()["id"])


def main() -> None:
    """Prints the table."""
    columns = f"{'/healthz p50':>14}{'p99':>8}{'slowest':>9}{'reads p95':>11}{'runs p95':>10}{'lost':>6}{'MiB':>7}"
    print(f"{'':<20}{columns}  load {os.getloadavg()[0]:.1f}")
    counts = {name: count for name, (count, _) in RECIPES.items()}
    together = {name: count // 2 for name, count in counts.items()}
    rounds = {"nobody": {}, **{name: {name: count} for name, count in counts.items()}, "all together": together}
    for name, recipes in rounds.items():
        with running_server() as server:
            target = prepare(server)
            seen = attack(target, recipes, ROUND_SECONDS)
            is_kept = server.client.get(f"/api/snippets/{target.link}").status_code == 200
        times = [percentile(seen.probes, share) for share in (0.5, 0.99, 1)]
        half, most, slowest, read, ran = (
            f"{1e3 * one:.0f}" for one in (*times, percentile(seen.reads), percentile(seen.runs))
        )
        print(
            f"{name:<20}{half:>14}{most:>8}{slowest:>9}{read:>11}{ran:>10}{len(seen.failures):>6}"
            f"{seen.memory / 2**20:>7.0f}  {seen.failures[:1] or ''}{'' if is_kept else ' LINK LOST'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
