"""Kills processes of a running server at random points while clients ask, and checks what became of everybody.

Used by `test_whole.py`. How often somebody is killed goes by how long a trace takes here: where others use the
machine too, a client interrupted every blink never ends.
"""

import os
import random
import signal
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.world.processes import children_of, descendants_of, is_alive, wait_until
from tests.world.server import Server
from tests.world.stream import assert_whole, events_in

SETTINGS = {"run_seconds": 10, "abandon_seconds": 30}
PROGRAM = """
import torch
x = torch.tensor([{number}.0, 0.5], requires_grad=True)
y = x
for _ in range(40):
    y = y.sin()
y.sum().backward()
"""


@dataclass
class Tally:
    """What was done and what came of it."""

    kills: Counter[str] = field(default_factory=Counter)
    traces: int = 0
    problems: Counter[str] = field(default_factory=Counter)
    attempts: int = 0
    last: str = ""
    """Who was killed last."""
    trace_ids: set[str] = field(default_factory=set)
    usual_seconds: float = 0.1
    """What an answer took lately, start of a server apart."""


class KilledServer:
    """One server after another on one store; always at the same port, so that clients find the next one."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._running = Server(home, path="/healthz", **SETTINGS)
        self.url, self._port = self._running.url, self._running.port

    @property
    def pid(self) -> int:
        """Of the one that runs now."""
        return self._running.process.pid

    def restart(self) -> set[int]:
        """SIGKILL, then the next server; the processes that the first one had."""
        family = self._running.family()
        self._running.stop(signal.SIGKILL)
        self._running = Server(self._home, path="/healthz", port=self._port, **SETTINGS)
        return family

    def stop(self) -> set[int]:
        """SIGTERM; the processes that it had."""
        family = self._running.family()
        self._running.stop()
        return family


def ask_until_whole(url: str, source: str, tally: Tally, lock: threading.Lock) -> None:
    """Asks as the page does: again and again until there is a whole stream, whatever goes down meanwhile."""
    while True:
        with lock:
            tally.attempts += 1
        asked = time.monotonic()
        try:
            events = ask_once(url, source)
        except (httpx.HTTPError, EOFError):
            time.sleep(0.05)
            continue
        assert_whole(events)
        kinds = [event["kind"] for event in events if event["type"] == "problem"]
        with lock:
            tally.usual_seconds += 0.2 * (time.monotonic() - asked - tally.usual_seconds)
            tally.problems.update(kinds)
            if not kinds:
                tally.traces += 1
                tally.trace_ids.add(events[0]["id"])
                return
        # A problem is an honest answer; this client wants its trace all the same.


def ask_once(url: str, source: str) -> list[dict[str, Any]]:
    """One request; EOFError when its stream broke off."""
    with httpx.Client(base_url=url, timeout=60) as client:
        receipt = client.post("/api/traces", json={"source": source})
        if receipt.status_code not in (200, 202):
            assert receipt.status_code in (429, 503), receipt.text
            raise EOFError
        text = client.get(receipt.json()["links"]["events"]).text
    if "event: done" not in text:
        raise EOFError
    return list(events_in(text.split("\n")))


def kill_somebody(server: KilledServer, name: str, chance: random.Random, tally: Tally) -> set[int]:
    """One kill of a child, the zygote or the server; the processes that must be gone."""
    tally.last = name
    if name == "server":
        tally.kills[name] += 1
        return server.restart()
    victims: set[int] = set()

    def found() -> bool:
        zygotes = children_of(server.pid)
        victims.update(zygotes if name == "zygote" else {c for zygote in zygotes for c in children_of(zygote)})
        return bool(victims)

    wait_until(found)
    victim = chance.choice(sorted(victims))
    family = {victim} | descendants_of(victim)
    try:
        os.kill(victim, signal.SIGKILL)
    except ProcessLookupError:
        return set()
    tally.kills[name] += 1
    return family


def plan(kills: int, restarts: int, chance: random.Random) -> list[str]:
    """Whom to kill, in what order: `restarts` zygotes and as many servers, else children; a child first."""
    names = ["zygote"] * restarts + ["server"] * restarts
    names += ["child"] * (kills - len(names) - 1)
    chance.shuffle(names)
    return ["child", *names]


def rage(home: Path, kills: int, restarts: int, seed: int, clients: int = 3) -> Tally:
    """Load and `kills` kills, of these `restarts` of zygote and server each; every check of the module."""
    chance = random.Random(seed)
    tally, lock, over = Tally(), threading.Lock(), threading.Event()
    faults: list[BaseException] = []
    server = KilledServer(home)
    doomed: set[int] = set()

    def live(client: int) -> None:
        number = client * 1_000_000
        try:
            while not over.is_set():
                number += 1
                ask_until_whole(server.url, PROGRAM.format(number=number), tally, lock)
        except BaseException as fault:  # noqa: BLE001 (told by the main thread)
            faults.append(fault)

    threads = [threading.Thread(target=live, args=(client,)) for client in range(clients)]
    for thread in threads:
        thread.start()
    victims = plan(kills, restarts, chance)
    try:
        while sum(tally.kills.values()) < kills and not faults:
            time.sleep(chance.uniform(0.01, 3 * min(tally.usual_seconds, 2.0)))
            traces = tally.traces
            doomed |= kill_somebody(server, victims[sum(tally.kills.values())], chance, tally)
            if tally.last != "child":
                # A start takes seconds: without a pause nobody would ever be served, and nothing be tested.
                wait_until(lambda before=traces: tally.traces > before or bool(faults))
        over.set()
        for thread in threads:
            thread.join()
        assert not faults, faults
        wait_until(lambda: not any(is_alive(pid) for pid in doomed))
        check_kept(server, tally)
    finally:
        over.set()
        family = server.stop()
    wait_until(lambda: not any(is_alive(pid) for pid in family))
    return tally


def check_kept(server: KilledServer, tally: Tally) -> None:
    """Every trace that a client was told is done is there still, and whole."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        for trace in sorted(tally.trace_ids):
            answer = client.get(f"/api/traces/{trace}")
            assert answer.status_code == 200, "a trace was lost"
            assert_whole(answer.json()["events"])
