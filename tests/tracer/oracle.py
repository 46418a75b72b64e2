"""What plain torch says about a program: an untraced twin run, with hooks that know nothing of gradwalk."""

import json
import random
import warnings
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.autograd.graph import get_gradient_edge

from gradwalk.protocol.document import join_document
from gradwalk.protocol.merging import merge
from gradwalk.protocol.requests import Options, ResolvedLimits, TraceRequest
from gradwalk.protocol.wire import Writer, read_events
from gradwalk.tracer.run import Run

PRELUDE = "import torch, math\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


class Twin(NamedTuple):
    """An untraced run."""

    namespace: dict[str, Any]
    error: BaseException | None
    steps: list[tuple[str, list[Any], list[Any]]]
    """Per executed node: name, grad_outputs, grad_inputs; empty unless asked for."""
    random_states: tuple[Any, ...]


def seed() -> None:
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)


def random_states() -> tuple[Any, ...]:
    return torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist()


def run_plain(source: str) -> Twin:
    """The program by itself."""
    seed()
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(PRELUDE, namespace)
    error = None
    try:
        with torch.compiler.set_stance("force_eager"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(source, "<twin>", "exec"), namespace)
    except BaseException as raised:  # noqa: BLE001 (compared, whatever it is)
        error = raised
    return Twin(namespace, error, [], random_states())


def run_hooked(source: str) -> Twin:
    """The program with a hook on every node of every pass, in torch's own way."""
    steps: list[tuple[str, list[Any], list[Any]]] = []
    original = torch.autograd.graph._engine_run_backward
    depth: list[int] = []

    def hooked(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        nodes: dict[Any, None] = {}
        pending = [one.node if hasattr(one, "node") else one.grad_fn or get_gradient_edge(one).node for one in outputs]
        while pending:
            node = pending.pop()
            if node is not None and node not in nodes:
                nodes[node] = None
                pending += [following for following, _ in node.next_functions]
        handles = []
        before: dict[str, list[Any]] = {}
        level = len(depth)
        for number, node in enumerate(nodes):

            def pre(grad_outputs: Any, number: int = number) -> None:
                before[number] = [copied(one) for one in grad_outputs]

            def post(grad_inputs: Any, grad_outputs: Any, number: int = number, name: str = node.name()) -> None:
                if len(depth) == level + 1 and number in before:
                    steps.append((name, before.pop(number), [copied(one) for one in grad_inputs]))

            handles += [node.register_prehook(pre), node.register_hook(post)]
        depth.append(level)
        try:
            return original(outputs, *args, **kwargs)
        finally:
            depth.pop()
            for handle in handles:
                handle.remove()

    torch.autograd._engine_run_backward = torch.autograd.graph._engine_run_backward = hooked
    try:
        twin = run_plain(source)
    finally:
        torch.autograd._engine_run_backward = torch.autograd.graph._engine_run_backward = original
    return twin._replace(steps=steps)


def copied(gradient: torch.Tensor | None) -> torch.Tensor | None:
    if gradient is None:
        return None
    if torch._C._functorch.is_legacy_batchedtensor(gradient):
        level = torch._C._vmapmode_increment_nesting() - 1
        torch._C._vmapmode_decrement_nesting()
        return torch._remove_batch_dim(gradient, level, 2, 0).detach().clone()
    while torch._C._functorch.is_functorch_wrapped_tensor(gradient):
        gradient = torch._C._functorch.get_unwrapped(gradient)
    return gradient.detach().clone()


class Traced(NamedTuple):
    """A traced run."""

    events: list[Any]
    """Put together."""
    run: Run
    random_states: tuple[Any, ...]
    document: bytes
    """As it is kept."""

    def of(self, kind: str) -> list[Any]:
        """The events of one type."""
        return [event for event in self.events if event["type"] == kind]

    def nodes(self) -> dict[str, Any]:
        """Every node by its id, as last described."""
        return {node["id"]: node for event in self.of("pass_started") for node in event["graph"]["nodes"]}


def run_traced(source: str, limits: ResolvedLimits | None = None, **options: Any) -> Traced:
    """The program traced, its events as they come off the wire."""
    events: list[Any] = []
    run = Run(TraceRequest(source=source, options=Options(**options)), events.append, limits or ResolvedLimits())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run.play()
    states = random_states()
    if run.recorder is not None and run.recorder.failure is not None:
        raise run.recorder.failure
    writer = Writer()
    written = [writer.write(event) for event in events]
    events = read_events(map(json.loads, written))
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "started"
    assert events[-1]["type"] == "finished"
    return Traced(merge(events), run, states, join_document(written))


def tensor_of(value: Any) -> torch.Tensor:
    """A value of the format, read as every reader does."""
    numbers = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}

    def read(entry: Any) -> Any:
        if isinstance(entry, list):
            return complex(read(entry[0]), read(entry[1]))
        return numbers.get(entry, entry) if isinstance(entry, str) else entry

    dtype = getattr(torch, value["dtype"])
    return torch.tensor([read(one) for one in value["data"]], dtype=dtype).reshape(value["shape"])


def assert_same(value: Any, expected: torch.Tensor | None, what: str) -> None:
    """A recorded gradient equals what torch handed out, bit for bit."""
    if expected is None:
        assert "missing" in value, f"{what}: {value} where the engine has nothing"
        return
    assert "missing" not in value, f"{what}: {value} where the engine has {expected}"
    dense = expected.to_dense() if expected.layout != torch.strided else expected
    found = tensor_of(value)
    assert found.dtype == dense.dtype, what
    assert list(found.shape) == list(dense.shape), what
    assert torch.equal(found.resolve_conj(), dense.resolve_conj()) or torch.allclose(
        found, dense.resolve_conj(), rtol=0, atol=0, equal_nan=True
    ), f"{what}: {found} is not {dense}"
