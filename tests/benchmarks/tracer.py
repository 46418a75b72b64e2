"""What tracing costs: whole traces against plain exec of the same program, in one run and one process."""

import contextlib
import io
import statistics
import time
from collections.abc import Callable

import torch

from gradwalk.protocol.requests import Limits, Options, ResolvedLimits, TraceRequest
from gradwalk.tracer.run import trace_program

HEADER = "import torch\nx = torch.linspace(-1, 1, {size}).reshape({shape}).requires_grad_()\nh = x\n"
CHAIN = HEADER + "for i in range({count}):\n    h = torch.sin(h) * x\nh.sum().backward()\n"
GOALS = {5: 2.0, 50: 2.0, 500: 2.5, 5_000: 3.0}
ROUNDS = 7


def chain(nodes: int, shape: tuple[int, int]) -> str:
    """A program whose graph has about `nodes` nodes."""
    return CHAIN.format(size=shape[0] * shape[1], shape=shape, count=max(1, (nodes - 2) // 2))


def run_plain(source: str) -> None:
    exec(compile(source, "<plain>", "exec"), {"__name__": "__main__"})


def run_traced(source: str, jacobian_cells: int) -> None:
    request = TraceRequest(source=source, options=Options(limits=Limits(jacobian_cells=jacobian_cells)))
    limits = ResolvedLimits(jacobian_cells=jacobian_cells, jacobian_cells_total=16 * jacobian_cells)
    trace_program(request, lambda _event: None, limits)


def seconds(runs: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Median seconds of processor time of each, measured in turn so that a busy machine is busy for all."""
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.process_time()
            run()
            found[name].append(time.process_time() - start)
    return {name: statistics.median(times) for name, times in found.items()}


def main() -> None:
    """Prints the table."""
    torch.set_num_threads(1)
    print("Tracing against plain exec (local Jacobians on demand; + J: with them)")  # noqa: T201
    print(f"{'nodes':>6} {'shape':>8} {'plain':>10} {'traced':>10} {'ratio':>6} {'goal':>5} {'+ J':>10}")  # noqa: T201
    with contextlib.redirect_stdout(io.StringIO()):
        run_traced(chain(5, (2, 2)), 4_096)
    for shape, nodes_max in (((4, 4), 5_000), ((64, 64), 50)):
        for nodes, goal in ((nodes, goal) for nodes, goal in GOALS.items() if nodes <= nodes_max):
            source = chain(nodes, shape)
            times = seconds(
                {
                    "plain": lambda source=source: run_plain(source),
                    "traced": lambda source=source: run_traced(source, 0),
                    "jacobians": lambda source=source: run_traced(source, 4_096),
                },
                ROUNDS if nodes < 500 else 2,
            )
            ratio = times["traced"] / times["plain"]
            print(  # noqa: T201
                f"{nodes:>6} {shape[0]}x{shape[1]:<5} {times['plain'] * 1e3:>8.2f}ms {times['traced'] * 1e3:>8.2f}ms "
                f"{ratio:>6.1f} {goal:>5} {(times['jacobians'] - times['traced']) * 1e3:>8.2f}ms"
            )


if __name__ == "__main__":
    main()
