"""What tracing costs: whole traces against plain exec of the same program, in one run and one process.

Processor time, not wall time, so that what else runs on the machine counts little. Each round measures plain, traced
and traced with local Jacobians one after the other; a ratio is formed within a round and the median over rounds is
told, with the lowest and the highest beside it.
"""

import contextlib
import gc
import io
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import torch

from gradwalk.protocol.requests import Limits, Options, ResolvedLimits, TraceRequest
from gradwalk.tracer.run import trace_program

HEADER = "import torch\nx = torch.linspace(-1, 1, {size}).reshape({shape}).requires_grad_()\nh = x\n"
CHAIN = HEADER + "for i in range({count}):\n    h = torch.sin(h) * x\nh.sum().backward()\n"
GOALS = {5: 2.0, 50: 2.0, 500: 2.5, 5_000: 3.0}
JACOBIANS_GOAL = "5 ms"
"""More, for 50 small nodes."""
JACOBIAN_CELLS = 4_096
SHAPES: dict[tuple[int, ...], int] = {(): 5_000, (4, 4): 5_000, (64, 64): 500}
"""Shape of every value -> the most nodes that are tried with it."""
SECONDS_PER_ROUND = 0.02
"""Each program is repeated until it took about as long."""
SECONDS_PER_ROW = 8.0
ROUNDS_MIN, ROUNDS_MAX = 3, 15

Run = Callable[[], None]


class Row(NamedTuple):
    """Of one program: per round the seconds of each way to run it."""

    plain: list[float]
    traced: list[float]
    with_jacobians: list[float]

    def ratios(self) -> list[float]:
        """Traced to plain, round by round."""
        return sorted(traced / plain for traced, plain in zip(self.traced, self.plain, strict=True))

    def jacobians(self) -> list[float]:
        """Seconds that local Jacobians add, round by round."""
        return sorted(more - less for more, less in zip(self.with_jacobians, self.traced, strict=True))


def chain(nodes: int, shape: tuple[int, ...]) -> str:
    """A program whose graph has about `nodes` nodes."""
    size = torch.Size(shape).numel()
    return CHAIN.format(size=size, shape=shape, count=max(1, (nodes - 2) // 2))


def run_plain(source: str) -> None:
    exec(compile(source, "<plain>", "exec"), {"__name__": "__main__"})


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
        lambda: run_traced(source, 0),
        lambda: run_traced(source, JACOBIAN_CELLS),
    ]
    repeats = [max(1, round(SECONDS_PER_ROUND / min(seconds(run, 1) for _ in range(2)))) for run in runs]
    found: list[list[float]] = [[], [], []]
    end = time.process_time() + SECONDS_PER_ROW
    while len(found[0]) < ROUNDS_MIN or (len(found[0]) < ROUNDS_MAX and time.process_time() < end):
        for times, run, count in zip(found, runs, repeats, strict=True):
            times.append(seconds(run, count))
    return Row(*found)


def spell(nodes: int, shape: tuple[int, ...], goal: float, row: Row) -> str:
    """One line of the table."""
    ratios, jacobians = row.ratios(), row.jacobians()
    plain, traced = statistics.median(row.plain), statistics.median(row.traced)
    size = "x".join(map(str, shape)) or "scalar"
    return (
        f"{nodes:>6} {size:>7} {plain * 1e3:>9.2f}ms {traced * 1e3:>9.2f}ms {(traced - plain) / nodes * 1e6:>7.0f}us "
        f"{statistics.median(ratios):>7.1f} {f'({ratios[0]:.1f}..{ratios[-1]:.1f})':>14} {goal:>5.1f} "
        f"{statistics.median(jacobians) * 1e3:>9.2f}ms {JACOBIANS_GOAL if nodes == 50 and size != '64x64' else '':>6}"
    )


def main() -> None:
    """Prints the table."""
    torch.set_num_threads(1)
    print("Tracing against plain exec, processor time, medians of rounds; local Jacobians on demand (+ J: with them)")  # noqa: T201
    print(  # noqa: T201
        f"{'nodes':>6} {'values':>7} {'plain':>11} {'traced':>11} {'a node':>9} "
        f"{'ratio':>7} {'(all rounds)':>14} {'goal':>5} {'+ J':>11} {'goal':>6}"
    )
    with contextlib.redirect_stdout(io.StringIO()):
        run_traced(chain(5, (2, 2)), JACOBIAN_CELLS)
    for shape, nodes_max in SHAPES.items():
        for nodes, goal in GOALS.items():
            if nodes <= nodes_max:
                print(spell(nodes, shape, goal, measure(chain(nodes, shape))), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
