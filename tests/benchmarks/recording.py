"""What recording costs: beside plain torch and other recorders, of loops, and as graphs grow.

Processor time of one process, in rounds in which all take turns. Peers that are not installed are left out
(requirements/bench.txt); beside a peer's name stands what it records.
"""

import gc
import resource
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from timeit import Timer
from typing import Any

import torch

from gradwalk.notebook.recording import trace_tensors
from gradwalk.protocol.document import split_document
from gradwalk.protocol.requests import Limits, Options, ResolvedLimits, TraceRequest
from gradwalk.protocol.wire import Writer, write_document
from gradwalk.tracer.live import record_backward
from gradwalk.tracer.run import trace_program
from tests.benchmarks.programs import perceptron, report, transformer
from tests.twin import run_plain

LIMITS = {"steps": 10**7, "elements": 16, "jacobian_cells": 0}
RESOLVED = ResolvedLimits(**LIMITS, nodes=10**7)
MODELS = {"perceptron": perceptron(6), "transformer": transformer(8), "deep transformer": transformer(80)}
PASSES = 1_000
LOOP = f"""
X = torch.randn(200, 8)
Y = X[:, :1].sin() + X[:, 1:2] * X[:, 2:3]
net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range({PASSES}):
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(X), Y)
    loss.backward()
    opt.step()
"""
CHAINS = (1_000, 10_000, 100_000)
"""Nodes, about, of the chains that show how cost grows."""
ROUNDS = 5
SECONDS_PER_ROUND = 0.02
"""What is short is repeated until it took about as long."""

Work = Callable[[], object]


def compare(title: str, rows: dict[str, Work]) -> None:
    """Prints what each row takes, as a ratio to `plain`; what earlier work left to collect is collected before."""
    timers = {name: Timer(work, lambda: (gc.collect(), gc.enable()), time.process_time) for name, work in rows.items()}
    repeats = {}
    for name, timer in timers.items():
        timer.timeit(1)
        repeats[name] = max(1, round(SECONDS_PER_ROUND / timer.timeit(1)))
    found: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(ROUNDS):
        for name, timer in timers.items():
            found[name].append(timer.timeit(repeats[name]) / repeats[name])
    report(title, found, "plain")


def measure_model(name: str, source: str) -> None:
    """Forward and backward of a model that is there already, recorded by us and by others."""
    namespace = run_plain(source).namespace
    net, x = namespace["net"], namespace["x"]
    params = dict(net.named_parameters())

    def loss() -> Any:
        net.zero_grad()
        return net(x).square().mean()

    def record(tell: Callable[[Any], None]) -> Any:
        return record_backward([loss()], None, tell, RESOLVED, params, retain_graph=False)

    def tell() -> list[Any]:
        events: list[Any] = []
        record(events.append).tell()
        writer = Writer()
        for event in events:
            writer.write(event)
        return events

    def whole() -> bytes:
        return write_document(trace_tensors(loss(), limits=LIMITS, params=params).document)

    document: Any = whole()
    nodes = len(tell()[0]["graph"]["nodes"])
    rows: dict[str, Work] = {
        "plain": lambda: loss().backward(),
        "recorded": lambda: record(lambda _event: None),
        "told and encoded": tell,
        "with formulas": whole,
        **peers(net, x, loss),
    }
    compare(f"{name}, {nodes:,} nodes", rows)
    compressed, first = len(zlib.compress(document)), len(split_document(document)[1])
    print(f"bytes a node: {len(document) / nodes:.0f}, compressed {compressed / nodes:.0f}; first event {first:,}")


def peers(net: Any, x: torch.Tensor, loss: Callable[[], torch.Tensor]) -> dict[str, Work]:
    """What others record of the same model."""
    params = dict(net.named_parameters())
    works: dict[str, Callable[[Any], object]] = {
        "torchviz (structure)": lambda viz: (made := loss(), viz.make_dot(made, params=params), made.backward()),
        "torchview (forward shapes)": lambda view: view.draw_graph(net, input_data=x, expand_nested=True),
        "torchlens (forward values)": lambda lens: lens.trace(net, x.clone()),
    }
    modules = {name: name.split()[0] for name in works}
    return {name: partial(works[name], import_module(module)) for name, module in modules.items() if find_spec(module)}


def trace(source: str, **options: Any) -> None:
    """Traces a program without Jacobians; its events go nowhere."""
    request = TraceRequest(source=source, options=Options(limits=Limits(jacobian_cells=0), **options))
    trace_program(request, lambda _event: None, ResolvedLimits(jacobian_cells=0, jacobian_cells_total=0))


def measure_growth() -> None:
    """Prints microseconds and bytes per node of ever longer chains."""
    print("\nchains of scalars, recorded and told")
    for nodes in CHAINS:
        h = x = torch.ones((), requires_grad=True)
        for _ in range((nodes - 1) // 2):
            h = torch.sin(h) * x
        events: list[Any] = []
        start = time.process_time()
        recording = record_backward([h], None, events.append, RESOLVED, {"x": x}, retain_graph=False)
        recorded = (time.process_time() - start) / nodes * 1e6
        recording.tell()
        told = (time.process_time() - start) / nodes * 1e6
        writer = Writer()
        size = sum(len(writer.write(event)) for event in events) / nodes
        print(f"{nodes:>8,} nodes: a node {recorded:.1f} us recorded, {told:.1f} us told, {size:.0f} bytes", flush=True)
        del h, events, recording
        gc.collect()


def measure_import() -> None:
    """Prints the milliseconds that imports add to the start of Python."""
    codes = ("pass", "import gradwalk", "import torch", "import torch, gradwalk; gradwalk.record")
    taken: dict[str, list[float]] = {code: [] for code in codes}
    for code in codes * ROUNDS:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        taken[code].append((time.perf_counter() - start) * 1e3)
    for code in codes[1:]:
        print(f"{code}: {min(taken[code]) - min(taken['pass']):.0f} ms")


def main() -> None:
    """Prints the tables."""
    measure_import()
    torch.set_num_threads(1)
    sys.setrecursionlimit(100_000)
    # torch frees a chain whose nodes Python has looked at by recursion.
    resource.setrlimit(resource.RLIMIT_STACK, (100 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    for name, source in MODELS.items():
        measure_model(name, source)
    loop: dict[str, Work] = {
        "plain": lambda: run_plain(LOOP),
        "only the last pass recorded": lambda: trace(LOOP, passes=[PASSES - 1]),
        "as it is run by default": lambda: trace(LOOP),
    }
    compare(f"training loop of {PASSES:,} passes", loop)
    measure_growth()


if __name__ == "__main__":
    main()
