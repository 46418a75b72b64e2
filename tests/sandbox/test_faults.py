"""Processes of a running server are killed at random points while clients ask; nobody notices but by waiting.

How often somebody is killed goes by how long a trace takes here: where others use the machine too, a client
interrupted every blink never ends.
"""

import os
import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

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
        self.problems: Counter[str] = Counter()
        self.traces: list[str] = []
        self.doomed: set[int] = set()
        self.faults: list[BaseException] = []
        self.usual_seconds = 0.1
        """What an answer took lately, start of a server apart."""
        self.over = threading.Event()

    def ask_on(self, client: int) -> None:
        """One program after another, each until there is a whole trace of it, as the page does."""
        number = client * 1_000_000
        try:
            while not self.over.is_set():
                number += 1
                while not self._ask(PROGRAM.format(number=number)):
                    time.sleep(0.05)
        except BaseException as fault:  # noqa: BLE001 (told by the main thread)
            self.faults.append(fault)

    def _ask(self, source: str) -> bool:
        """Whether there was a trace. A stream that breaks off and a problem are no fault; half of a whole one is."""
        asked = time.monotonic()
        try:
            with httpx.Client(base_url=self.url, timeout=60) as client:
                receipt = client.post("/api/traces", json={"source": source})
                assert receipt.status_code in (200, 202, 429, 503), receipt.text
                text = client.get(receipt.json()["links"]["events"]).text if receipt.is_success else ""
        except httpx.HTTPError:
            return False
        if "event: done" not in text:
            return False
        events = list(events_in(text.split("\n")))
        assert_whole(events)
        self.usual_seconds += 0.2 * (time.monotonic() - asked - self.usual_seconds)
        problems = [event["kind"] for event in events if event["type"] == "problem"]
        self.problems.update(problems)
        self.traces += [] if problems else [events[0]["id"]]
        return not problems

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
                return
            self.doomed |= family
        self.kills[name] += 1

    def _find(self, name: str) -> set[int]:
        zygotes = children_of(self._server.process.pid)
        return zygotes if name == "zygote" else {child for zygote in zygotes for child in children_of(zygote)}

    def check_kept(self) -> None:
        """Every trace that a client was told is done is there still, and whole."""
        with httpx.Client(base_url=self.url, timeout=60) as client:
            for trace in self.traces:
                answer = client.get(f"/api/traces/{trace}")
                assert answer.status_code == 200, "a trace was lost"
                assert_whole(answer.json()["events"])

    def end(self) -> None:
        """Ends the server with SIGTERM."""
        self.over.set()
        self.doomed |= self._server.family()
        self._server.stop()


def plan(chance: random.Random) -> list[Any]:
    """Whom to kill, in what order: a child first."""
    names = ["zygote", "server", *["child"] * (KILLS - 3)]
    chance.shuffle(names)
    return ["child", *names]


@pytest.mark.soak
@pytest.mark.usefixtures("run")
def test_twenty_kills_under_load_lose_nothing(tmp_path: Path) -> None:
    """Children, the zygote and the server."""
    rage = Rage(tmp_path)
    threads = [threading.Thread(target=rage.ask_on, args=(client,)) for client in range(CLIENTS)]
    for thread in threads:
        thread.start()
    victims = plan(rage.chance)
    try:
        while (done := rage.kills.total()) < KILLS and not rage.faults:
            time.sleep(rage.chance.uniform(0.01, 3 * min(rage.usual_seconds, 2.0)))
            known = len(rage.traces)
            rage.kill(victims[done])
            if victims[done] != "child":
                # A start takes seconds: without a pause nobody would ever be served, and nothing be tested.
                wait_until(lambda known=known: len(rage.traces) > known or bool(rage.faults))
        rage.over.set()
        for thread in threads:
            thread.join()
        assert not rage.faults, rage.faults
        wait_until(lambda: not any(map(is_alive, rage.doomed)))
        rage.check_kept()
    finally:
        rage.end()
    wait_until(lambda: not any(map(is_alive, rage.doomed)))
    assert set(rage.kills) == {"child", "zygote", "server"}
    assert len(rage.traces) >= 5
    # A child killed from outside looks like the kernel's own killer; a zygote killed twice in one run loses it.
    assert set(rage.problems) <= {"memory", "internal", "protocol"}
