"""The traces of the examples, and of operations whose Jacobians differ in structure, made in this process.

`python -m tests.examples.traced FOLDER` writes all of them, for the front end's tests.
"""

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.protocol.document import assemble_document, encode
from gradwalk.protocol.events import Event
from gradwalk.protocol.requests import SERVER_LIMITS, TraceRequest
from gradwalk.protocol.wire import write_document
from gradwalk.tracer.run import trace_program

STRUCTURES = """\
import torch
import torch.nn.functional as F

image = torch.arange(32.0).reshape(1, 2, 4, 4).sin().requires_grad_()
kernel = torch.tensor([[[[1.0, -1.0], [2.0, 0.5]], [[0.5, 0.0], [-2.0, 1.0]]]], requires_grad=True)
y = F.conv2d(image, kernel, stride=2, padding=1)
F.max_pool2d(y, 3).sum().backward()

scores = torch.tensor([[2.0, 1.0, 0.1], [0.5, 2.5, 0.3]], requires_grad=True)
F.cross_entropy(scores, torch.tensor([0, 2])).backward()

a = torch.arange(12.0).reshape(2, 2, 3).cos().requires_grad_()
b = torch.arange(12.0).reshape(2, 3, 2).sin().requires_grad_()
m = torch.tensor([[1.0, 2.0], [0.5, -1.0]], requires_grad=True)
u = torch.tensor([3.0, -2.0], requires_grad=True)
weight = torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]], requires_grad=True)
y = F.linear(torch.bmm(a, b), weight)
(y * y).sum().backward()
(torch.mv(m, u) ** 2).sum().backward()
(torch.outer(u, m[0]) ** 2).sum().backward()

x = torch.tensor([[1.0, 5.0, 2.0], [4.0, 3.0, 6.0]], requires_grad=True)
v = torch.tensor([1.0, 2.0, 3.0])
(x.T[1] * torch.tensor([1.0, 2.0])).sum().backward()
(x.gather(1, torch.tensor([[0, 0, 2], [1, 0, 1]])) * v).sum().backward()
(x.max(dim=1).values * torch.tensor([1.0, 2.0])).sum().backward()
(x.flip(0).reshape(3, 2)[torch.tensor([2, 0, 2])] * torch.tensor([1.0, 2.0])).sum().backward()
(torch.relu(x - 3).mean(dim=0) * v).sum().backward()

((m @ a) ** 2).sum().backward()
((a.reshape(2, 1, 2, 3) @ b) ** 2).sum().backward()

z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
(z * z.conj() + torch.fft.fft(z)).abs().sum().backward()
"""
"""Operations that the examples have not, for the front end's tests of products."""

REQUESTS = {
    **{one.slug: {"source": one.source, "options": one.options} for one in EXAMPLES},
    "structures": {"source": STRUCTURES},
}
"""By the name of the trace."""


@cache
def trace_example(name: str) -> dict[str, Any]:
    """The document as the server would make it; once per example, so do not change it."""
    events: list[Event] = []
    trace_program(TraceRequest.model_validate(REQUESTS[name]), events.append, SERVER_LIMITS)
    return dict(assemble_document(events))


def write_trace(name: str, folder: Path) -> None:
    """As a server would send it, with a line per event."""
    document = json.loads(write_document(trace_example(name)))
    header = encode({key: value for key, value in document.items() if key != "events"}).decode()
    events = ",\n".join(encode(event).decode() for event in document["events"])
    (folder / f"{name}.json").write_text(f'{header[:-1]},"events":[\n{events}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    for each in REQUESTS:
        write_trace(each, Path(sys.argv[1]))
