"""What tracing costs: whole traces against plain exec of the same program, in one run and one process.

Processor time, not wall time, so that what else runs on the machine counts little. Each round measures plain, hooked,
traced and traced with local Jacobians one after the other; a ratio is formed within a round and the median over rounds
is told, with the lowest and the highest beside it.

Plain is compile and exec of the whole program: imports that are there already, making the tensors, forward, backward.
Hooked is the least that any recorder in Python does: plain, a mode that sees every call and does nothing, and one
posthook per node that copies its gradients; it tells nothing. README.md says what the figures mean.
"""

import contextlib
import gc
import io
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode

from gradwalk.protocol.events import Event
from gradwalk.protocol.requests import Limits, Options, ResolvedLimits, TraceRequest
from gradwalk.tracer.run import trace_program
from gradwalk.tracer.walk import walk

HEADER = "import torch\nx = torch.linspace(-1, 1, {size}).reshape({shape}).requires_grad_()\nh = x\n"
CHAIN = HEADER + "for i in range({count}):\n    h = torch.sin(h) * x\nh.sum().backward()\n"
NETS = {
    5: "F.mse_loss(nn.Linear(3, 1)(torch.randn(5, 3)), torch.randn(5, 1)).backward()",
    50: "net = nn.Sequential(*[layer for _ in range(9) for layer in (nn.Linear(8, 8), nn.Tanh())])\n"
    "F.cross_entropy(net(torch.randn(5, 8)), torch.tensor([0, 1, 2, 0, 1])).backward()",
    500: "encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 7)\n"
    "encoder(torch.randn(2, 3, 8)).sum().backward()",
    5_000: "encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 66)\n"
    "encoder(torch.randn(2, 3, 8)).sum().backward()",
}
"""What people bring, by about the number of its nodes."""
NETS_HEADER = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\ntorch.manual_seed(0)\n"
GOALS = {5: 2.0, 50: 2.0, 500: 2.5, 5_000: 3.0}
JACOBIANS_GOAL = "5 ms"
"""More, for 50 small nodes."""
JACOBIAN_CELLS = 4_096
SHAPES: dict[tuple[int, ...], int] = {(): 5_000, (4, 4): 500, (64, 64): 500}
"""Of a chain, the shape of every value -> the most nodes that are tried with it."""
SECONDS_PER_ROUND = 0.02
"""Each program is repeated until it took about as long."""
SECONDS_PER_ROW = 6.0
ROUNDS_MIN, ROUNDS_MAX = 3, 15

Run = Callable[[], None]


class Row(NamedTuple):
    """Of one program: per round the seconds of each way to run it."""

    plain: list[float]
    hooked: list[float]
    traced: list[float]
    with_jacobians: list[float]

    def ratios(self) -> list[float]:
        """Traced to plain, round by round."""
        return sorted(traced / plain for traced, plain in zip(self.traced, self.plain, strict=True))

    def floor(self) -> float:
        """Hooked to plain."""
        return statistics.median(hooked / plain for hooked, plain in zip(self.hooked, self.plain, strict=True))

    def jacobians(self) -> list[float]:
        """Seconds that local Jacobians add, round by round."""
        return sorted(more - less for more, less in zip(self.with_jacobians, self.traced, strict=True))


def chain(nodes: int, shape: tuple[int, ...]) -> str:
    """A program whose graph has about `nodes` nodes."""
    size = torch.Size(shape).numel()
    return CHAIN.format(size=size, shape=shape, count=max(1, (nodes - 2) // 2))


def run_plain(source: str) -> None:
    exec(compile(source, "<plain>", "exec"), {"__name__": "__main__"})


class SeesCalls(TorchFunctionMode):
    """Sees every call and does nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class CopyingEngine(torch._C._ImperativeEngine):
    """Copies what every node returns."""

    def run_backward(self, outputs: Any, *arguments: Any, **named: Any) -> Any:
        """As torch's own, with a hook on every node."""
        copies: list[Any] = []
        graph = walk([output.grad_fn for output in outputs], 10**6) or {}

        def copy(grad_inputs: Any, _grad_outputs: Any) -> None:
            copies.append([None if one is None else one.detach().clone() for one in grad_inputs])

        handles = [node.register_hook(copy) for node in graph]
        try:
            return super().run_backward(outputs, *arguments, **named)
        finally:
            for handle in handles:
                handle.remove()


def run_hooked(source: str) -> None:
    kept, torch.autograd.Variable._execution_engine = torch.autograd.Variable._execution_engine, CopyingEngine()
    try:
        with SeesCalls():
            run_plain(source)
    finally:
        torch.autograd.Variable._execution_engine = kept


def run_traced(source: str, jacobian_cells: int) -> None:
    request = TraceRequest(source=source, options=Options(limits=Limits(jacobian_cells=jacobian_cells)))
    limits = ResolvedLimits(jacobian_cells=jacobian_cells, jacobian_cells_total=10**9 if jacobian_cells else 0)
    trace_program(request, lambda _event: None, limits)


def seconds(run: Run, repeats: int) -> float:
    """Processor time of one run, the mean of `repeats`; what earlier runs left to collect is collected before."""
    gc.collect()
    start = time.process_time()
    for _ in range(repeats):
        run()
    return (time.process_time() - start) / repeats


def measure(source: str) -> Row:
    """Rounds until the row's time is over."""
    runs: list[Run] = [
        lambda: run_plain(source),
        lambda: run_hooked(source),
        lambda: run_traced(source, 0),
        lambda: run_traced(source, JACOBIAN_CELLS),
    ]
    repeats = [max(1, round(SECONDS_PER_ROUND / min(seconds(run, 1) for _ in range(2)))) for run in runs]
    found: list[list[float]] = [[] for _ in runs]
    end = time.process_time() + SECONDS_PER_ROW
    while len(found[0]) < ROUNDS_MIN or (len(found[0]) < ROUNDS_MAX and time.process_time() < end):
        for times, run, count in zip(found, runs, repeats, strict=True):
            times.append(seconds(run, count))
    return Row(*found)


def count_nodes(source: str) -> int:
    """How many nodes the passes of a program walk."""
    events: list[Event] = []
    trace_program(TraceRequest(source=source), events.append, ResolvedLimits(jacobian_cells=0, jacobian_cells_total=0))
    return sum(len(event["graph"]["nodes"]) for event in events if event["type"] == "pass_started")


def spell(name: str, about: int, source: str) -> str:
    """One line of the table."""
    row, nodes = measure(source), count_nodes(source)
    ratios, jacobians = row.ratios(), row.jacobians()
    plain, traced = statistics.median(row.plain), statistics.median(row.traced)
    goal = JACOBIANS_GOAL if about == 50 and name != "chain of 64x64" else ""
    return (
        f"{name:<16}{nodes:>6} {plain * 1e3:>8.2f}ms {plain / nodes * 1e6:>5.0f}us {traced * 1e3:>9.2f}ms "
        f"{(traced - plain) / nodes * 1e6:>5.0f}us {statistics.median(ratios):>6.1f} "
        f"{f'({ratios[0]:.1f}..{ratios[-1]:.1f})':>14} {GOALS[about]:>5.1f} {row.floor():>7.1f} "
        f"{statistics.median(jacobians) * 1e3:>8.2f}ms {goal:>5}"
    )


def main() -> None:
    """Prints the table."""
    torch.set_num_threads(1)
    torch.backends.mkldnn.enabled = False
    print("Tracing against plain exec, processor time, medians of rounds; local Jacobians on demand (+ J: with them)")  # noqa: T201
    print(  # noqa: T201
        f"{'program':<16}{'nodes':>6} {'plain':>10} {'/node':>7} {'traced':>11} {'/node':>7} {'ratio':>6} "
        f"{'(all rounds)':>14} {'goal':>5} {'hooked':>7} {'+ J':>10} {'goal':>5}"
    )
    with contextlib.redirect_stdout(io.StringIO()):
        run_traced(chain(5, (2, 2)), JACOBIAN_CELLS)
    rows = [("net", nodes, NETS_HEADER + source) for nodes, source in NETS.items()]
    for shape, nodes_max in SHAPES.items():
        name = f"chain of {'x'.join(map(str, shape)) or 'scalars'}"
        rows += [(name, nodes, chain(nodes, shape)) for nodes in GOALS if nodes <= nodes_max]
    for row in rows:
        print(spell(*row), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
