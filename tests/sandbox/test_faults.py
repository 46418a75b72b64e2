"""Processes of a running server are killed at random points while clients ask; nobody notices but by waiting.

How often somebody is killed goes by how long a trace takes here: where others use the machine too, a client
interrupted every blink never ends.
"""

import asyncio
import itertools
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import httpx
import pytest

from tests.world.cluster import follow_to_the_end
from tests.world.loop import until
from tests.world.processes import children_of, descendants_of, is_alive, wait_until
from tests.world.server import Server
from tests.world.stream import assert_whole, kind_of

SETTINGS = {"run_seconds": 10, "abandon_seconds": 30}
PROGRAM = """
import torch
x = torch.tensor([{number}.0, 0.5], requires_grad=True)
y = x
for _ in range(40):
    y = y.sin()
y.sum().backward()
"""
KILLS = 20
CLIENTS = 3
SEED = 20261121


class Rage:
    """Clients, who to kill next, and what came of it; one server after another on one store, at the same port."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._server = Server(home, path="/healthz", **SETTINGS)
        self.url, self._port = self._server.url, self._server.port
        self.chance = random.Random(SEED)
        self.kills: Counter[str] = Counter()
        self.endings: Counter[str] = Counter()
        self.traces: list[str] = []
        self.doomed: set[int] = set()
        self.usual_seconds = 0.1
        """What an answer took lately, start of a server apart."""
        self.is_over = False

    async def ask_on(self, client: int) -> None:
        """One program after another, each until there is a trace of it without a problem, as the page does."""
        for number in itertools.count(client * 1_000_000):
            ending = ""
            while ending != "ok" and not self.is_over:
                asked = time.monotonic()
                events = await follow_to_the_end([self.url], PROGRAM.format(number=number))
                ending = kind_of(events)
                self.endings[ending] += 1
            if self.is_over:
                return
            self.usual_seconds += 0.2 * (time.monotonic() - asked - self.usual_seconds)
            self.traces.append(events[0]["id"])

    def kill(self, name: str) -> None:
        """Kills a child, the zygote or the server, and notes the processes that must be gone."""
        if name == "server":
            self.doomed |= self._server.family()
            self._server.stop(signal.SIGKILL)
            self._server = Server(self._home, path="/healthz", port=self._port, **SETTINGS)
        else:
            victim = self.chance.choice(sorted(wait_until(lambda: self._find(name))))
            family = {victim} | descendants_of(victim)
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                return self.kill(name)
            self.doomed |= family
        self.kills[name] += 1
        return None

    def _find(self, name: str) -> set[int]:
        zygotes = children_of(self._server.process.pid)
        return zygotes if name == "zygote" else {child for zygote in zygotes for child in children_of(zygote)}

    def end(self) -> None:
        """Ends the server with SIGTERM."""
        self.doomed |= self._server.family()
        self._server.stop()


@pytest.mark.soak
@pytest.mark.usefixtures("run")
async def test_twenty_kills_under_load_lose_nothing(tmp_path: Path) -> None:
    """Children, the zygote and the server; a child first."""
    rage = Rage(tmp_path)
    victims = ["zygote", "server", *["child"] * (KILLS - 3)]
    rage.chance.shuffle(victims)
    try:
        async with asyncio.TaskGroup() as clients:
            for client in range(CLIENTS):
                clients.create_task(rage.ask_on(client))
            for victim in ("child", *victims):
                await asyncio.sleep(rage.chance.uniform(0.01, 3 * min(rage.usual_seconds, 2.0)))
                known = len(rage.traces)
                await asyncio.to_thread(rage.kill, victim)
                if victim != "child":
                    # A start takes seconds: without a pause nobody would ever be served, and nothing be tested.
                    await until(lambda known=known: len(rage.traces) > known)
            rage.is_over = True
        wait_until(lambda: not any(map(is_alive, rage.doomed)))
        with httpx.Client(base_url=rage.url, timeout=60) as client:
            for trace in rage.traces:
                answer = client.get(f"/api/traces/{trace}")
                assert answer.status_code == 200, "a trace was lost"
                assert_whole(answer.json()["events"])
    finally:
        rage.end()
    wait_until(lambda: not any(map(is_alive, rage.doomed)))
    assert set(rage.kills) == {"child", "zygote", "server"}
    assert len(rage.traces) >= 5
    # A child killed from outside looks like the kernel's own killer; a zygote killed twice in one run loses it.
    assert set(rage.endings) <= {"ok", "memory", "internal", "protocol"}
