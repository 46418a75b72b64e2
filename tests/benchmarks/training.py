"""Training loops beside plain torch: a pass that is not recorded, and the loop as a person runs it.

Processor time of one process, medians of rounds in which all take turns; the program's text is compiled and run each
time. "Not recorded" asks for the last pass only, so that all others run as they are.
"""

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from gradwalk.protocol.requests import Options, ResolvedLimits, TraceRequest
from gradwalk.tracer.run import Run
from tests.tracer.test_loops import LEGENDRE
from tests.twin import run_plain

ROUNDS = 3
NET = """\
X = torch.randn(EXAMPLES, 8)
Y = X[:, :1].sin() + X[:, 1:2] * X[:, 2:3]
net = nn.Sequential(nn.Linear(8, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(EPOCHS):
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(X), Y)
    loss.backward()
    opt.step()
"""


def net(examples: int, width: int, epochs: int) -> str:
    """The text of a loop over a perceptron."""
    return NET.replace("EXAMPLES", str(examples)).replace("WIDTH", str(width)).replace("EPOCHS", str(epochs))


PROGRAMS = {
    "Legendre, 200 numbers": (LEGENDRE, 2000),
    "perceptron, width 32": (net(200, 32, 1000), 1000),
    "perceptron, width 256": (net(256, 256, 150), 150),
}


def seconds(work: Callable[[], object]) -> float:
    """Of the processor."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def trace(source: str, **options: Any) -> None:
    """Traces a program; its events go nowhere."""
    request = TraceRequest(source=source, options=Options(**options))
    Run(request, lambda _event: None, ResolvedLimits()).play()


def main() -> None:
    """Prints the table."""
    torch.set_num_threads(1)
    trace("torch.ones(1, requires_grad=True).sum().backward()")
    print(f"{'loop':<28}{'passes':>8}{'plain s':>10}{'not recorded, x':>18}{'as it is run, x':>18}")
    for name, (source, passes) in PROGRAMS.items():
        rows: list[tuple[float, float, float]] = []
        for _ in range(ROUNDS):
            plain = seconds(partial(run_plain, source))
            unrecorded = seconds(partial(trace, source, passes=[passes - 1]))
            rows.append((plain, unrecorded / plain, seconds(partial(trace, source)) / plain))
        plain, unrecorded, whole = map(statistics.median, zip(*rows, strict=True))
        print(f"{name:<28}{passes:>8}{plain:>10.2f}{unrecorded:>18.2f}{whole:>18.2f}")


if __name__ == "__main__":
    main()
