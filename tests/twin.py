"""What plain torch says about a program: an untraced twin run under hooks that know nothing of gradwalk.

Nothing of the first half uses the tracer: a twin is walked through `next_functions` and watched with `register_prehook`
and `register_hook`. The second half traces programs, and compares a trace with its twin number by number.
"""

import contextlib
import io
import json
import math
import random
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch.autograd.graph import Node, get_gradient_edge

from gradwalk.protocol.document import join_document
from gradwalk.protocol.merging import merge
from gradwalk.protocol.requests import Options, ResolvedLimits, TraceRequest
from gradwalk.protocol.wire import Writer, read_events
from gradwalk.tracer.run import Run

PRELUDE = "import torch, math\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
HANDS_OUT_SAVED = hasattr(torch._C._autograd.SavedTensor, "data")
"""Before 2.10 torch hands out neither a saved tensor nor the hooks that pack it: a few things cannot be said."""
NEEDS_SAVED = pytest.mark.skipif(not HANDS_OUT_SAVED, reason="before 2.10 torch does not hand out what is saved")
NON_FINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class Nonconformity(AssertionError):
    """The document says something that torch does not."""


@dataclass
class Step:
    """One executed node, or the one that raised: nothing came back."""

    node: Node
    grad_outputs: tuple[torch.Tensor | None, ...]
    grad_inputs: tuple[torch.Tensor | None, ...] = ()

    name: str = field(init=False)
    is_passed_on: tuple[bool, ...] = field(init=False)
    """By operand: whether its edge leads to a node."""

    def __post_init__(self) -> None:
        # Later the node of a Function that is gone knows neither any more.
        self.name = plain_name(self.node.name())
        self.is_passed_on = tuple(child is not None for child, _ in self.node.next_functions)


@dataclass
class Pass:
    """The graph below one call of the engine, and what hooks saw of it."""

    order: list[Node]
    edges: list[tuple[int, int, int, int]]
    """(producer, output_nr, consumer, argnum) by position in `order`, consumer by consumer."""
    steps: list[Step] = field(default_factory=list)
    leaf_grads: dict[Node, torch.Tensor | None] = field(default_factory=dict)
    """`.grad` of its leaves after it, by AccumulateGrad node."""
    names: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.names = [plain_name(node.name()) for node in self.order]


class Twin(NamedTuple):
    """An untraced run."""

    namespace: dict[str, Any]
    error: BaseException | None
    passes: list[Pass]
    """In the order of their calls; empty unless watched."""
    steps: list[Step]
    """Of all passes, in the order in which nodes returned."""
    random_states: tuple[Any, ...]
    printed: str


def plain_name(name: str) -> str:
    return name.rpartition("::")[2]


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
    printed = io.StringIO()
    try:
        with torch.compiler.set_stance("force_eager"), warnings.catch_warnings(), contextlib.redirect_stdout(printed):
            warnings.simplefilter("ignore")
            exec(compile(source, "<twin>", "exec"), namespace)
    except BaseException as raised:  # noqa: BLE001 (compared, whatever it is)
        error = raised
    return Twin(namespace, error, [], [], random_states(), printed.getvalue())


def run_watched(source: str) -> Twin:
    """The program with a hook on every node of every pass, in torch's own way."""
    with watching() as (passes, steps):
        twin = run_plain(source)
    return twin._replace(passes=passes, steps=steps)


@contextlib.contextmanager
def watching() -> Iterator[tuple[list[Pass], list[Step]]]:
    """The passes of everything that runs inside, in order of their calls, and their steps in order of execution."""
    passes: list[Pass] = []
    steps: list[Step] = []
    depth: list[int] = []
    original = torch.autograd.graph._engine_run_backward

    def run(outputs: Any, *arguments: Any, **options: Any) -> Any:
        one = walk([each.node if hasattr(each, "node") else get_gradient_edge(each).node for each in outputs])
        passes.append(one)
        level = len(depth)
        opened: dict[Node, Step] = {}

        def before(grads: Any, node: Node) -> None:
            opened[node] = Step(node, tuple(map(copied, grads)))

        def after(grads: Any, node: Node) -> None:
            # A pass inside this one may run the same nodes.
            if len(depth) == level + 1 and node in opened:
                step = opened.pop(node)
                step.grad_inputs = tuple(map(copied, grads))
                one.steps.append(step)
                steps.append(step)

        handles = []
        for node in one.order:
            handles.append(node.register_prehook(lambda grads, node=node: before(grads, node)))
            handles.append(node.register_hook(lambda grads, _, node=node: after(grads, node)))
        depth.append(level)
        try:
            return original(outputs, *arguments, **options)
        finally:
            depth.pop()
            # What has begun and not returned raised.
            one.steps.extend(opened.values())
            steps.extend(opened.values())
            for handle in handles:
                handle.remove()
            leaves = [node for node in one.order if hasattr(node, "variable")]
            one.leaf_grads = {node: copied(node.variable.grad) for node in leaves}

    torch.autograd._engine_run_backward = torch.autograd.graph._engine_run_backward = run
    try:
        yield passes, steps
    finally:
        torch.autograd._engine_run_backward = torch.autograd.graph._engine_run_backward = original


def walk(starts: Sequence[Node | None]) -> Pass:
    """The graph from these nodes, numbered in order of discovery, operand by operand."""
    order: list[Node] = []
    place: dict[Node, int] = {}
    waiting = [node for node in reversed(starts) if node is not None]
    while waiting:
        node = waiting.pop()
        if node in place:
            continue
        place[node] = len(order)
        order.append(node)
        waiting.extend(child for child, _ in reversed(node.next_functions) if child is not None)
    edges = [
        (place[child], output_nr, place[node], argnum)
        for node in order
        for argnum, (child, output_nr) in enumerate(node.next_functions)
        if child is not None
    ]
    return Pass(order, edges)


def copied(gradient: torch.Tensor | None) -> torch.Tensor | None:
    """Dense and of its own, all examples of a batch together."""
    if gradient is None:
        return None
    if torch._C._functorch.is_legacy_batchedtensor(gradient):
        level = torch._C._vmapmode_increment_nesting() - 1
        torch._C._vmapmode_decrement_nesting()
        return dense(torch._remove_batch_dim(gradient, level, 2, 0))
    while torch._C._functorch.is_functorch_wrapped_tensor(gradient):
        gradient = torch._C._functorch.get_unwrapped(gradient)
    return dense(gradient)


def tensor_of(value: dict[str, Any] | None) -> torch.Tensor | None:
    """The tensor that a protocol value spells, or None where the gradient is missing."""
    if value is None or "missing" in value:
        return None
    if "data" not in value:
        raise Nonconformity("a value was summarised; raise the element limit of this check")
    numbers = [_number(entry) for entry in value["data"]]
    return torch.tensor(numbers, dtype=getattr(torch, value["dtype"])).reshape(value["shape"])


def _number(entry: Any) -> Any:
    if isinstance(entry, list):
        return complex(*(_number(part) for part in entry))
    return NON_FINITE.get(entry, entry) if isinstance(entry, str) else entry


def same(ours: torch.Tensor | None, theirs: torch.Tensor | None) -> bool:
    """Bit for bit, NaNs by place."""
    if ours is None or theirs is None:
        return ours is None and theirs is None
    theirs = dense(theirs)
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return False
    if ours.is_complex():
        return same(torch.view_as_real(ours), torch.view_as_real(theirs)) if ours.numel() else True
    return bool(((ours == theirs) | ((ours != ours) & (theirs != theirs))).all())


def dense(tensor: torch.Tensor) -> torch.Tensor:
    """Strided, without conjugate or negative bits."""
    plain = tensor.detach()
    if plain.layout != torch.strided:
        plain = plain.to_dense()
    return plain.resolve_conj().resolve_neg().clone()


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


def assert_same(value: Any, expected: torch.Tensor | None, what: str) -> None:
    """A recorded gradient equals what torch handed out, bit for bit."""
    assert same(tensor_of(value), expected), f"{what}: {value} where the engine has {expected}"


def check_pass(events: Sequence[Any], twin: Pass, pass_index: int = 0) -> None:
    """One pass of a trace against its twin: topology, order, every gradient, every contribution, `.grad`.

    Raises:
        Nonconformity: with the first thing that differs.
    """
    events = merge(event for event in events if event.get("pass") == pass_index)
    started = next(event for event in events if event["type"] == "pass_started")
    steps = [event for event in events if event["type"] == "step"]
    ids = check_topology(started, twin)
    if len(steps) != len(twin.steps):
        raise Nonconformity(f"{len(steps)} steps recorded, the engine ran {len(twin.steps)}")
    place = {node: position for position, node in enumerate(twin.order)}
    for step, expected in zip(steps, twin.steps, strict=True):
        if step["node"] != ids[place[expected.node]]:
            raise Nonconformity(f"step {step['index']} is {step['node']}, the engine ran {expected.name}")
        compare(step["grad_outputs"], expected.grad_outputs, f"grad_outputs of step {step['index']}")
        passed_on = _padded(expected, step)
        returned = [_seen_by_hooks(*pair) for pair in zip(step["grad_inputs"], passed_on, strict=True)]
        compare(returned, passed_on, f"grad_inputs of step {step['index']}")
    check_contributions(started, steps)
    check_jacobians(steps)
    leaves = {node["id"]: node.get("leaf") for node in started["graph"]["nodes"]}
    recorded = {one["leaf"]: one["grad"] for event in events for one in event.get("leaf_grads", ())}
    for node_id, node in zip(ids, twin.order, strict=True):
        if leaves[node_id] in recorded:
            compare([recorded[leaves[node_id]]], [twin.leaf_grads[node]], f".grad of {leaves[node_id]}")


def _padded(expected: Step, step: dict[str, Any]) -> tuple[torch.Tensor | None, ...]:
    """What the engine passes on: a tensor on an edge that leads nowhere is dropped by it."""
    pairs = zip(expected.grad_inputs, expected.is_passed_on, strict=False)
    kept = [grad if is_passed_on else None for grad, is_passed_on in pairs]
    return tuple(kept) + (None,) * (len(step["grad_inputs"]) - len(kept))


def _seen_by_hooks(value: Any, seen: torch.Tensor | None) -> Any:
    """Hooks also see what a node returned for an input that the pass does not ask for; the engine drops it."""
    return value if seen is None or value is None else value.get("dropped", value)


def compare(ours: list[Any], theirs: Sequence[torch.Tensor | None], what: str) -> None:
    """Raises Nonconformity where a recorded list of gradients differs from torch's."""
    if len(ours) != len(theirs):
        raise Nonconformity(f"{what}: {len(ours)} entries, torch has {len(theirs)}")
    for position, (value, tensor) in enumerate(zip(ours, theirs, strict=True)):
        if not same(tensor_of(value), tensor):
            raise Nonconformity(f"{what}[{position}]: {value} is not {tensor}")


def check_topology(started: dict[str, Any], twin: Pass) -> list[str]:
    """The recorded graph is the twin's: names, edges, slots, operand order, repeats; gives the ids in that order."""
    graph = started["graph"]
    nodes = {node["id"]: node for node in graph["nodes"]}
    incoming: dict[str, list[dict[str, Any]]] = {node_id: [] for node_id in nodes}
    for edge in graph["edges"]:
        incoming[edge["to"]["node"]].append(edge)
    order: list[str] = []
    seen: set[str] = set()
    waiting = [output["node"] for output in reversed(started["outputs"])]
    while waiting:
        node_id = waiting.pop()
        if node_id in seen:
            continue
        seen.add(node_id)
        order.append(node_id)
        incoming[node_id].sort(key=lambda edge: edge["to"]["argnum"])
        waiting.extend(edge["from"]["node"] for edge in reversed(incoming[node_id]))
    place = {node_id: position for position, node_id in enumerate(order)}
    names = [nodes[node_id]["name"] for node_id in order]
    if [plain_name(name) for name in names] != twin.names:
        raise Nonconformity(f"nodes {names} are not torch's {twin.names}")
    edges = [
        (place[edge["from"]["node"]], edge["from"]["output_nr"], place[node_id], edge["to"]["argnum"])
        for node_id in order
        for edge in incoming[node_id]
    ]
    if edges != twin.edges:
        raise Nonconformity(f"edges {edges} are not torch's {twin.edges}")
    return order


def check_contributions(started: dict[str, Any], steps: list[dict[str, Any]]) -> None:
    """Summands in order of arrival add up to the grad_output bit for bit, and each is what its producer returned."""
    returned = {step["node"]: step for step in steps}
    for step in steps:
        sent: dict[str, Any] = {}
        for edge in started["graph"]["edges"]:
            producer = returned.get(edge["to"]["node"])
            if edge["from"]["node"] == step["node"] and producer is not None:
                value = tensor_of(producer["grad_inputs"][edge["to"]["argnum"]])
                sent[edge["id"]] = edge["from"]["output_nr"], producer["index"], value
        arrived = [(one, tensor_of(one["value"])) for one in step["contributions"]]
        for one, value in arrived:
            output_nr, from_step, expected = sent.get(one["edge"], (one["output_nr"], None, value))
            if (one["output_nr"], one["from_step"]) != (output_nr, from_step) or not same(value, expected):
                raise Nonconformity(f"a contribution of step {step['index']} is not what its producer returned: {one}")
        seeds = [
            one for one in started["outputs"] if one["node"] == step["node"] and tensor_of(one["seed"]) is not None
        ]
        due = [*(edge for edge, (*_, value) in sent.items() if value is not None), *("seed" for _ in seeds)]
        told = [one["edge"] for one, value in arrived if value is not None]
        if sorted(due) != sorted(told):
            raise Nonconformity(f"step {step['index']} was given {due}, the trace tells of {told}")
        # Of several hooks in a row, what the first was given.
        hooked = {change["output_nr"]: change["before"] for change in reversed(step.get("hooks", []))}
        for output_nr, received in enumerate(step["grad_outputs"]):
            summands = [value for one, value in arrived if one["output_nr"] == output_nr and value is not None]
            total = sum(summands[1:], start=summands[0]) if summands else None
            if not same(total, tensor_of(hooked.get(output_nr, received))):
                raise Nonconformity(f"contributions of step {step['index']} sum to {total}, received {received}")


TOLERANCE = {torch.float64: 1e-9, torch.complex128: 1e-9, torch.float32: 1e-4, torch.complex64: 1e-4}


def check_jacobians(steps: list[dict[str, Any]]) -> None:
    """v times every written-out local Jacobian, summed over outputs, is the returned gradient."""
    for step in steps:
        for argnum, returned in enumerate(step["grad_inputs"]):
            expected = tensor_of(returned)
            parts = [j for j in step["local_jacobians"] if j["argnum"] == argnum]
            if expected is None or not parts or any("missing" in j["value"] for j in parts):
                continue
            if any(j["structure"] == "too_large" or is_complex(step, j) for j in parts):
                continue
            if any(j.get("checked") is False for j in parts):
                continue  # the trace itself says that v does not reproduce it; whoever calls counts these
            if any("checked" not in j and not torch.isfinite(tensor_of(j["value"])).all() for j in parts):
                continue  # an infinite slope times the zeros of a one-hot v is NaN: the trace gives no verdict either
            product = sum(_product(step, jacobian) for jacobian in parts)
            if isinstance(product, int):
                continue
            tolerance = TOLERANCE.get(expected.dtype, 5e-2)
            agrees = product.shape == expected.shape and torch.isclose(
                product.double(), expected.double(), rtol=tolerance, atol=tolerance, equal_nan=True
            )
            if not isinstance(agrees, bool):
                # A slope of 0 times NaN is NaN where the engine multiplies, nothing where it leaves the entry out.
                passed = sum(_product(step, jacobian, through_zeros=False) for jacobian in parts)
                agrees |= torch.isclose(
                    passed.double(), expected.double(), rtol=tolerance, atol=tolerance, equal_nan=True
                )
                agrees = bool(agrees.all())
            if not agrees:
                raise Nonconformity(f"v J of step {step['index']} argnum {argnum} is {product}, returned {expected}")


def is_complex(step: dict[str, Any], jacobian: dict[str, Any]) -> bool:
    """Complex steps have no single matrix J with v J = returned: conjugates come in; judged by gradients."""
    values = (step["grad_outputs"][jacobian["output_nr"]], step["grad_inputs"][jacobian["argnum"]], jacobian["value"])
    return any(value.get("dtype", "").startswith("complex") for value in values)


def _product(step: dict[str, Any], jacobian: dict[str, Any], *, through_zeros: bool = True) -> Any:
    v = tensor_of(step["grad_outputs"][jacobian["output_nr"]])
    matrix = tensor_of(jacobian["value"])
    if v is None or matrix is None:
        return 0
    if tuple(matrix.shape) != (*jacobian["output_shape"], *jacobian["input_shape"]):
        raise Nonconformity(f"the Jacobian of step {step['index']} has shape {tuple(matrix.shape)}")
    outputs, inputs = jacobian["output_shape"], jacobian["input_shape"]
    flat = matrix.double().reshape(math.prod(outputs), math.prod(inputs))
    # Several v at once are stacked along axes before those of the output.
    batch = v.shape[: v.dim() - len(outputs)]
    rows = v.double().reshape(math.prod(batch), flat.shape[0])
    product = rows @ flat if through_zeros else (rows[:, :, None] * flat).masked_fill(flat == 0, 0).sum(1)
    return product.reshape([*batch, *inputs])
