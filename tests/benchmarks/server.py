"""What a request costs beside a bare fork with the same program: first and last event, beside loops.

Bare: this process, warm as a zygote is, forks a child that runs the program without tracing it. All take turns, so
that a busy machine is busy for all.
"""

import gc
import itertools
import os
import time
from collections.abc import Iterator

import httpx
import torch

from gradwalk.protocol.versions import installed_versions
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.supervisor import Sandbox
from tests.api.crowd import measure_beside
from tests.benchmarks.programs import SMALL, report
from tests.world.sandbox import job_of
from tests.world.server import running_server
from tests.world.stream import ACCEPT

ROUNDS = 30
LOOPS = 50


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
    job = job_of(source)
    started = time.perf_counter()
    times = [time.perf_counter() - started for _ in sandbox.trace(job, installed_versions(), Cancellation())]
    return times[0], times[-1]


def run_over_http(client: httpx.Client, source: str) -> tuple[float, float]:
    """Seconds to the first and to the last event, client included."""
    started = time.perf_counter()
    text, first = "", 0.0
    with client.stream("POST", "/api/traces", json={"source": source}, headers=ACCEPT) as answer:
        for part in answer.iter_text():
            text += part
            if not first and "event: batch" in text:
                first = time.perf_counter() - started
            if '"type":"finished"' in text:
                return first, time.perf_counter() - started
    raise AssertionError(text)


def measure_latency(sandbox: Sandbox, client: httpx.Client, seeds: Iterator[int]) -> None:
    """Bare fork, sandbox, HTTP, in turn."""
    rounds = []
    for _ in range(ROUNDS):
        source = SMALL.format(seed=next(seeds))
        bare = run_bare(source)
        sandboxed, posted = run_in_sandbox(sandbox, source), run_over_http(client, source)
        rounds.append((bare, *sandboxed, *posted, run_over_http(client, source)[1]))
    names = (
        "bare fork and plain run",
        "sandbox: to the first event",
        "sandbox: to the last event",
        "POST: to the first event",
        "POST: to the last event",
        "POST of a known trace: whole",
    )
    report("one small program", dict(zip(names, zip(*rounds, strict=True), strict=True)), names[0])


def main() -> None:
    """Prints the tables."""
    torch.set_num_threads(1)
    torch.backends.mkldnn.enabled = False
    exec(compile(SMALL.format(seed=0), "<warm>", "exec"), {})
    gc.collect()
    gc.freeze()
    seeds = itertools.count(1)
    with Sandbox() as sandbox, running_server(client_rate="1000000/minute") as server:
        run_in_sandbox(sandbox, SMALL.format(seed=0))
        measure_latency(sandbox, server.client, seeds)
    with running_server(trusted_proxies=["127.0.0.1"]) as server:
        seen = measure_beside(server.url, LOOPS, 2 * ROUNDS)
    rows = {"the page": seen.page, "/healthz": seen.health, "an honest trace": seen.trace}
    report(f"beside {LOOPS} clients that send endless loops", rows)


if __name__ == "__main__":
    main()
