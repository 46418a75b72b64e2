"""What the road costs: a warm request against the bare price of a fork that runs the same program.

Bare: this process, warm as a zygote is, forks a child that runs the program without tracing it. Everything is
measured in turn in one go, so that a busy machine is busy for all; ratios are the figures to compare.
"""

import concurrent.futures
import contextlib
import gc
import itertools
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import torch

from gradwalk.protocol.requests import TraceRequest, resolve_limits
from gradwalk.protocol.versions import installed_versions
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.jobs import TraceJob
from gradwalk.sandbox.limits import RunLimits
from gradwalk.sandbox.supervisor import Sandbox

ROUNDS = 30
KILLS = 5
WALL_SECONDS = 1.0
PROGRAM = """
import torch
torch.manual_seed({seed})
W = torch.randn(3, 4, requires_grad=True)
b = torch.zeros(3, requires_grad=True)
x = torch.ones(4)
h = torch.tanh(W @ x + b)
h.sum().backward()
"""
KILLED = {
    "signals blocked": "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass",
    "loop in C": "import builtins\nbuiltins.sum(range(10**11))",
}
STREAM = {"Accept": "text/event-stream"}
CONCURRENCY = (1, 2, 3)
THROUGHPUT_RUNS = 60


def run_bare(source: str) -> float:
    """Seconds of fork, plain run, exit."""
    code = compile(source, "<bare>", "exec")
    started = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        exec(code, {"__name__": "__main__"})
        os._exit(0)
    os.waitpid(pid, 0)
    return time.perf_counter() - started


def run_in_sandbox(sandbox: Sandbox, source: str) -> tuple[float, float]:
    """Seconds to the first and to the last event."""
    request = TraceRequest(source=source)
    job = TraceJob(request=request, limits=resolve_limits(request.options.limits))
    started = time.perf_counter()
    times = []
    for batch in sandbox.trace(job, installed_versions(), Cancellation()):
        times += [time.perf_counter() - started] * len(batch)
    return times[0], times[-1]


def run_over_http(client: httpx.Client, source: str) -> tuple[float, float]:
    """Seconds to the first and to the last event, client included."""
    started = time.perf_counter()
    first = None
    with client.stream("POST", "/api/traces", json={"source": source}, headers=STREAM) as answer:
        text = ""
        for part in answer.iter_text():
            text += part
            if first is None and "event: batch" in text:
                first = time.perf_counter() - started
            if '"type":"finished"' in text:
                return first or 0.0, time.perf_counter() - started
    raise AssertionError(text)


@contextlib.contextmanager
def serving(**settings: str) -> Iterator[httpx.Client]:
    """A server on a free port with an empty store; settings as environment variables."""
    with tempfile.TemporaryDirectory() as home:
        log = Path(home) / "log"
        environment = os.environ | {"GRADWALK_DATA_DIRECTORY": home} | settings
        command = [sys.executable, "-m", "gradwalk", "serve", "--port", "0"]
        with log.open("wb") as output:
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            wait_until(lambda: b"running on http" in log.read_bytes())
            found = re.search(r"http://[\d.]+:\d+", log.read_text())
            assert found is not None
            with httpx.Client(base_url=found.group(), timeout=60) as client:
                wait_until(lambda: client.get("/readyz").status_code == 200)
                yield client
        finally:
            process.terminate()
            process.wait()


def wait_until(holds: Callable[[], bool]) -> None:
    """Polls for at most three minutes."""
    give_up = time.monotonic() + 180
    while not holds():
        assert time.monotonic() < give_up
        time.sleep(0.05)


def say(name: str, seconds: list[float], bare: float) -> None:
    """One row: median, 95th percentile, ratio of medians."""
    ordered = sorted(seconds)
    median, high = statistics.median(ordered), ordered[int(0.95 * (len(ordered) - 1))]
    print(f"{name:<44}{median * 1e3:>9.1f}{high * 1e3:>9.1f}{median / bare:>8.2f}")  # noqa: T201


def measure_latency(sandbox: Sandbox, client: httpx.Client, seeds: Iterator[int]) -> None:
    """Bare fork, sandbox, HTTP, in turn."""
    rows: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        source = PROGRAM.format(seed=next(seeds))
        rows.setdefault("bare fork + plain run", []).append(run_bare(source))
        first, last = run_in_sandbox(sandbox, source)
        rows.setdefault("sandbox: to the first event", []).append(first)
        rows.setdefault("sandbox: to the last event", []).append(last)
        first, last = run_over_http(client, source)
        rows.setdefault("POST stream: to the first event", []).append(first)
        rows.setdefault("POST stream: to the last event", []).append(last)
        _, last = run_over_http(client, source)
        rows.setdefault("POST stream of a known trace: whole", []).append(last)
    bare = statistics.median(rows["bare fork + plain run"])
    print(f"{'one small program':<44}{'ms p50':>9}{'ms p95':>9}{'ratio':>8}")  # noqa: T201
    for name, seconds in rows.items():
        say(name, seconds, bare)


def measure_kills(sandbox: Sandbox) -> None:
    """How long after its limit a program is gone."""
    for name, source in KILLED.items():
        late = [run_in_sandbox(sandbox, source)[1] - WALL_SECONDS for _ in range(KILLS)]
        print(
            f"{'killed after the deadline: ' + name:<44}{statistics.median(late) * 1e3:>9.1f}"  # noqa: T201
            f"{max(late) * 1e3:>9.1f}"
        )


def measure_throughput(client: httpx.Client, seeds: Iterator[int]) -> None:
    """Different programs per second, over HTTP."""
    for clients in CONCURRENCY:
        sources = [PROGRAM.format(seed=next(seeds)) for _ in range(THROUGHPUT_RUNS)]
        with concurrent.futures.ThreadPoolExecutor(clients) as pool:
            started = time.perf_counter()
            list(pool.map(lambda source: run_over_http(client, source), sources))
            rate = THROUGHPUT_RUNS / (time.perf_counter() - started)
        print(f"{f'runs per second, {clients} at a time':<44}{rate:>9.1f}")  # noqa: T201


def main() -> None:
    """Prints the table."""
    torch.set_num_threads(1)
    torch.backends.mkldnn.enabled = False
    exec(compile(PROGRAM.format(seed=0), "<warm>", "exec"), {})
    gc.collect()
    gc.freeze()
    seeds = itertools.count(1)
    with (
        Sandbox(RunLimits(wall_seconds=WALL_SECONDS, policy=False)) as short,
        Sandbox() as sandbox,
        serving() as client,
    ):
        run_in_sandbox(sandbox, PROGRAM.format(seed=0))
        measure_latency(sandbox, client, seeds)
        measure_kills(short)
        measure_throughput(client, seeds)


if __name__ == "__main__":
    main()
