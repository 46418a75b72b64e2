"""What it takes to record one program's autograd graph, beside torchviz, torchview and torchlens, in one process.

Every row does the same work, forward and backward of one model with one input, and is divided by that work alone: the
model is made beforehand. Processor time, medians of rounds in which all take turns. Peers that are not installed are
left out (requirements/bench.txt). What a peer does not record is said beside its name.
"""

import gc
import statistics
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch
from torch import nn
from torch.nn.functional import gelu

from gradwalk.notebook.recording import trace_tensors
from gradwalk.protocol.document import split_document
from gradwalk.protocol.requests import ResolvedLimits
from gradwalk.protocol.wire import Writer, write_document
from gradwalk.tracer.live import record_backward
from gradwalk.tracer.walk import walk

LIMITS = {"steps": 10**7, "elements": 16, "jacobian_cells": 0}
RESOLVED = ResolvedLimits(**LIMITS, nodes=10**7)
ROUNDS = {32: 7, 490: 5, 4_882: 2}
GOALS = {"recorded": {32: 12, 490: 4, 4_882: 4}, "told and encoded": {32: 20, 490: 8, 4_882: 8}}
CHAINS = (1_000, 10_000, 100_000)
"""Nodes, about, of the chains that show how cost grows."""

Run = Callable[[], object]


class Block(nn.Module):
    """One layer of a transformer, written out."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc, self.out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Attention and a feed-forward net, each around a residual connection."""
        batch, length, width = x.shape
        parts = self.qkv(self.norm_1(x)).split(width, dim=2)
        each = width // self.heads
        q, k, v = (part.reshape(batch, length, self.heads, each).transpose(1, 2) for part in parts)
        weights = torch.softmax(q @ k.transpose(-2, -1) / each**0.5, -1)
        x = x + self.proj((weights @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.out(gelu(self.fc(self.norm_2(x))))


class Loss(nn.Module):
    """The mean square of what a net gives."""

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: torch.Tensor) -> Any:
        """A scalar."""
        return self.body(x).square().mean()


def programs() -> Iterator[tuple[str, nn.Module, torch.Tensor]]:
    """Name, model and input."""
    torch.manual_seed(0)
    layers = [layer for _ in range(6) for layer in (nn.Linear(16, 16), nn.Tanh())]
    yield "mlp", Loss(nn.Sequential(*layers)), torch.randn(4, 16)
    for depth in (8, 80):
        blocks = nn.Sequential(*[Block(16, 2) for _ in range(depth)])
        yield f"transformer x{depth}", Loss(blocks), torch.randn(2, 4, 16)


def count_nodes(loss: torch.Tensor) -> int:
    """Nodes of a graph."""
    return len(walk([loss.grad_fn], 10**7) or {})


def rows_of(model: nn.Module, x: torch.Tensor) -> dict[str, Run]:
    """By name, the ways to run it."""
    params = dict(model.named_parameters())

    def loss() -> Any:
        model.zero_grad()
        return model(x)

    def record(tell: Callable[[Any], None]) -> Any:
        return record_backward([loss()], None, tell, RESOLVED, params, retain_graph=False)

    def tell() -> bytes:
        events: list[Any] = []
        record(events.append).tell()
        writer = Writer()
        return b",".join([writer.write(event) for event in events])

    def whole() -> bytes:
        return write_document(trace_tensors(loss(), limits=LIMITS, params=params).document)

    rows: dict[str, Run] = {
        "plain": lambda: loss().backward(),
        "recorded": lambda: record(lambda _event: None),
        "told and encoded": tell,
        "with formulas": whole,
    }
    if find_spec("torchviz") is not None:
        torchviz: Any = import_module("torchviz")

        def structure() -> None:
            found = loss()
            torchviz.make_dot(found, params=params)
            found.backward()

        rows["torchviz (structure)"] = structure
    if find_spec("torchview") is not None:
        torchview: Any = import_module("torchview")
        rows["torchview (forward shapes)"] = lambda: torchview.draw_graph(
            model, input_data=x, expand_nested=True, depth=10
        )
    if find_spec("torchlens") is not None:
        torchlens: Any = import_module("torchlens")
        log = getattr(torchlens, "trace", None) or torchlens.log_forward_pass
        rows["torchlens (forward values)"] = lambda: log(model, x.clone())
    return rows


def seconds(run: Run, repeats: int) -> float:
    """Processor time of one of several runs in a row, the median; the first is not counted."""
    gc.collect()
    run()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return statistics.median(times)


def measure(model: nn.Module, x: torch.Tensor, rounds: int) -> dict[str, tuple[float, float]]:
    """By row, the median ratio to plain, and the median seconds."""
    rows = rows_of(model, x)
    found: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(rounds):
        for name, run in rows.items():
            found[name].append(seconds(run, 9 if name == "plain" else 3))
    plain = found["plain"]
    return {
        name: (statistics.median(one / base for one, base in zip(times, plain, strict=True)), statistics.median(times))
        for name, times in found.items()
    }


def sizes(model: nn.Module, x: torch.Tensor, nodes: int) -> str:
    """What the whole document takes, formulas with it, and what comes first."""
    document: Any = rows_of(model, x)["with formulas"]()
    first = split_document(document)[1]
    compressed = len(zlib.compress(document))
    each = f"{len(document) / nodes:.0f} bytes a node, {compressed / nodes:.0f} compressed"
    return f"{each}; graph first, {len(first)} bytes"


def growth() -> None:
    """Prints seconds and bytes per node of ever longer chains, each in turn."""
    print("\nGrowth of a chain of scalars, recorded and told:")
    for nodes in CHAINS:
        x = torch.ones((), requires_grad=True)
        h = x
        # torch frees a chain whose nodes Python has looked at by recursion, so it goes piece by piece.
        pieces: list[torch.Tensor] = []
        for position in range((nodes - 1) // 2):
            h = torch.sin(h) * x
            if position % 2_000 == 0:
                pieces.append(h)
        events: list[Any] = []
        start = time.process_time()
        recording = record_backward([h], None, events.append, RESOLVED, {"x": x}, retain_graph=False)
        recorded = time.process_time() - start
        recording.tell()
        told = time.process_time() - start
        writer = Writer()
        size = sum(len(writer.write(event)) for event in events)
        print(
            f"  {len(events[0]['graph']['nodes']):>7} nodes: recorded {recorded / nodes * 1e6:5.1f} us/node, "
            f"told {told / nodes * 1e6:6.1f} us/node, {size / nodes:6.0f} bytes/node"
        )
        del h, events, recording
        gc.collect()
        while pieces:
            pieces.pop()


def main() -> None:
    """Prints the tables."""
    torch.set_num_threads(1)
    sys.setrecursionlimit(100_000)
    columns: dict[int, dict[str, tuple[float, float]]] = {}
    for name, model, x in programs():
        nodes = count_nodes(model(x))
        columns[nodes] = measure(model, x, ROUNDS.get(nodes, 2))
        print(
            f"{name}: {nodes} nodes, plain {columns[nodes]['plain'][1] * 1e3:.2f} ms, {sizes(model, x, nodes)}",
            flush=True,
        )
    print(f"\n{'times plain forward + backward':<34}" + "".join(f"{nodes:>16,}" for nodes in columns))
    for row in next(iter(columns.values())):
        cells = [
            f"{column[row][0]:.1f}" + (f" (goal {GOALS[row][nodes]})" if row in GOALS and nodes in GOALS[row] else "")
            for nodes, column in columns.items()
        ]
        print(f"{row:<34}" + "".join(f"{cell:>16}" for cell in cells))
    growth()


if __name__ == "__main__":
    main()
