"""A crowd whose programs never end, each from an address of its own, and one honest client beside it.

Used by `test_clients.py` (three loops) and by `tests/benchmarks/server.py` (fifty).
"""

import itertools
import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

import httpx

from tests.world.stream import ACCEPT

LOOP = "import torch\nn = {number}\nwhile True:\n    n += 1\n"
HONEST = "import torch\nx = torch.tensor({number}.0, requires_grad=True)\n(x * x).backward()\n"


@dataclass
class Seen:
    """What was measured, in seconds, and how the crowd was answered."""

    page: list[float] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    trace: list[float] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)


def address(number: int) -> dict[str, str]:
    """The header by which a trusted proxy says who asks."""
    return {"X-Forwarded-For": f"10.0.{number // 250}.{number % 250 + 1}"}


def loop_for_ever(url: str, number: int, over: threading.Event, seen: Seen, lock: threading.Lock) -> None:
    """One of the crowd: sends the next endless loop as soon as the last was answered."""
    with httpx.Client(base_url=url, timeout=300, headers=address(number)) as client:
        for sent in itertools.count():
            try:
                kind = ask_for_loop(client, number * 1_000 + sent, over)
            except httpx.HTTPError:
                # Only the end of the test ends the server.
                kind = "" if over.is_set() else "broken off"
            if over.is_set():
                return
            with lock:
                seen.answers[kind] += 1


def ask_for_loop(client: httpx.Client, number: int, over: threading.Event) -> str:
    """The kind of problem that came, or the status."""
    with client.stream("POST", "/api/traces", json={"source": LOOP.format(number=number)}, headers=ACCEPT) as answer:
        kind = str(answer.status_code)
        for line in answer.iter_lines():
            if over.is_set():
                break
            if line.startswith("data: [") and '"problem"' in line:
                kind = next(event["kind"] for event in json.loads(line[6:]) if event["type"] == "problem")
    return kind


def measure_beside(url: str, loops: int, rounds: int) -> Seen:
    """Times of one honest client while `loops` others send endless loops."""
    seen, over, lock = Seen(), threading.Event(), threading.Lock()
    crowd = [
        threading.Thread(target=loop_for_ever, args=(url, number, over, seen, lock), daemon=True)
        for number in range(loops)
    ]
    for one in crowd:
        one.start()
    try:
        with httpx.Client(base_url=url, timeout=300, headers=address(60_000)) as client:
            while client.get("/readyz").json()["running"] == 0:
                time.sleep(0.02)
            for number in range(rounds):
                seen.page.append(time_of(client, "/"))
                seen.health.append(time_of(client, "/healthz"))
                began = time.perf_counter()
                answer = client.post("/api/traces", json={"source": HONEST.format(number=number)}, headers=ACCEPT)
                seen.trace.append(time.perf_counter() - began)
                assert '"problems":0' in answer.text, answer.text
    finally:
        over.set()
    return seen


def time_of(client: httpx.Client, path: str) -> float:
    """Seconds of one GET."""
    began = time.perf_counter()
    assert client.get(path).status_code in (200, 503 if path == "/" else 200)
    return time.perf_counter() - began


def high(seconds: list[float]) -> float:
    """The 95th percentile."""
    return sorted(seconds)[int(0.95 * (len(seconds) - 1))]
