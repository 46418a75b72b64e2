"""What a trace must satisfy, judged by plain torch hooks on an untraced twin of the same computation.

Nothing here uses the tracer's own code: the twin is walked through `next_functions`, watched with
`register_prehook` and `register_hook`, and compared with the document number by number.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.autograd.graph import Node

from gradwalk.protocol.merging import merge

Tensors = Sequence[torch.Tensor]
NON_FINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class Nonconformity(AssertionError):
    """The document says something that torch does not."""


@dataclass
class TwinStep:
    """One executed node of the untraced twin."""

    node: Node
    grad_outputs: tuple[torch.Tensor | None, ...]
    grad_inputs: tuple[torch.Tensor | None, ...] = ()


@dataclass
class Twin:
    """What plain hooks saw: the graph before the pass, and every step in the engine's order."""

    order: list[Node]
    names: list[str]
    edges: list[tuple[int, int, int, int]]
    """(producer, output_nr, consumer, argnum) by position in `order`, consumer by consumer."""
    steps: list[TwinStep] = field(default_factory=list)


def tensor_of(value: dict[str, Any] | None) -> torch.Tensor | None:
    """The tensor that a protocol value spells, or None where the gradient is missing."""
    if value is None or "missing" in value:
        return None
    if "data" not in value:
        raise Nonconformity("a value was summarised; raise the element limit of this check")
    dtype = getattr(torch, value["dtype"])
    numbers = [_number(entry) for entry in value["data"]]
    return torch.tensor(numbers, dtype=dtype).reshape(value["shape"])


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


def watch_backward(outputs: Tensors, grad_outputs: Sequence[torch.Tensor | None], call: Callable[[], Any]) -> Twin:
    """Runs `call` (one backward over `outputs`) with plain hooks on every reachable node."""
    twin = walk([output.grad_fn if output.grad_fn is not None else _accumulator(output) for output in outputs])
    open_steps: dict[Node, TwinStep] = {}
    handles = []

    def before(node: Node) -> Callable[[Any], None]:
        def hook(grads: tuple[torch.Tensor | None, ...]) -> None:
            open_steps[node] = TwinStep(node, tuple(None if g is None else dense(g) for g in grads))

        return hook

    def after(node: Node) -> Callable[[Any, Any], None]:
        def hook(grad_inputs: Any, grad_outputs: Any) -> None:
            step = open_steps.pop(node)
            step.grad_inputs = tuple(None if g is None else dense(g) for g in grad_inputs)
            twin.steps.append(step)

        return hook

    for node in twin.order:
        handles += [node.register_prehook(before(node)), node.register_hook(after(node))]
    try:
        call()
    finally:
        for handle in handles:
            handle.remove()
    return twin


def walk(starts: Sequence[Node | None]) -> Twin:
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
    return Twin(order, [node.name() for node in order], edges)


def _accumulator(leaf: torch.Tensor) -> Node:
    return torch.autograd.graph.get_gradient_edge(leaf).node


def check_pass(document: dict[str, Any], twin: Twin, pass_index: int = 0) -> None:
    """One pass of a document against its twin: topology, order, every gradient, every contribution.

    Raises:
        Nonconformity: with the first thing that differs.
    """
    events = [event for event in merge(document["events"]) if event.get("pass") == pass_index]
    started = next(event for event in events if event["type"] == "pass_started")
    steps = [event for event in events if event["type"] == "step"]
    ids = check_topology(started, twin)
    if len(steps) != len(twin.steps):
        raise Nonconformity(f"{len(steps)} steps recorded, the engine ran {len(twin.steps)}")
    place = {node: position for position, node in enumerate(twin.order)}
    for step, expected in zip(steps, twin.steps, strict=True):
        if step["node"] != ids[place[expected.node]]:
            raise Nonconformity(f"step {step['index']} is {step['node']}, the engine ran {expected.node.name()}")
        compare(step["grad_outputs"], expected.grad_outputs, f"grad_outputs of step {step['index']}")
        compare(step["grad_inputs"], _padded(expected, step), f"grad_inputs of step {step['index']}")
    check_contributions(started, steps)
    check_jacobians(steps)


def _padded(expected: TwinStep, step: dict[str, Any]) -> tuple[torch.Tensor | None, ...]:
    """What the engine passes on: a tensor on an edge that leads nowhere is dropped by it."""
    edges = expected.node.next_functions
    kept = [g if edge is not None else None for g, (edge, _) in zip(expected.grad_inputs, edges, strict=False)]
    return tuple(kept) + (None,) * (len(step["grad_inputs"]) - len(kept))


def compare(ours: list[Any], theirs: Sequence[torch.Tensor | None], what: str) -> None:
    """Raises Nonconformity where a recorded list of gradients differs from torch's."""
    if len(ours) != len(theirs):
        raise Nonconformity(f"{what}: {len(ours)} entries, torch has {len(theirs)}")
    for position, (value, tensor) in enumerate(zip(ours, theirs, strict=True)):
        if not same(tensor_of(value), tensor):
            raise Nonconformity(f"{what}[{position}]: {value} is not {tensor}")


def check_topology(started: dict[str, Any], twin: Twin) -> list[str]:
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
    if [_plain(name) for name in names] != [_plain(name) for name in twin.names]:
        raise Nonconformity(f"nodes {names} are not torch's {twin.names}")
    edges = [
        (place[edge["from"]["node"]], edge["from"]["output_nr"], place[node_id], edge["to"]["argnum"])
        for node_id in order
        for edge in incoming[node_id]
    ]
    if edges != twin.edges:
        raise Nonconformity(f"edges {edges} are not torch's {twin.edges}")
    return order


def _plain(name: str) -> str:
    return name.rpartition("::")[2]


def check_contributions(started: dict[str, Any], steps: list[dict[str, Any]]) -> None:
    """Summands in order of arrival add up to the grad_output bit for bit, and each is what its producer returned."""
    edges = {edge["id"]: edge for edge in started["graph"]["edges"]}
    returned = {step["node"]: step for step in steps}
    for step in steps:
        hooked = {change["output_nr"]: change["before"] for change in step.get("hooks", [])}
        for output_nr, received in enumerate(step["grad_outputs"]):
            arrived = [c for c in step["contributions"] if c["output_nr"] == output_nr]
            for contribution in arrived:
                _check_origin(contribution, edges, returned, step)
            total = None
            for summand in filter(lambda t: t is not None, (tensor_of(c["value"]) for c in arrived)):
                total = summand if total is None else total + summand
            expected = tensor_of(hooked.get(output_nr, received))
            if not same(total, expected):
                raise Nonconformity(f"contributions of step {step['index']} sum to {total}, received {expected}")
        _check_all_arrived(started, step, returned)


def _check_origin(contribution: dict[str, Any], edges: Any, returned: Any, step: dict[str, Any]) -> None:
    if contribution["edge"] == "seed":
        return
    edge = edges[contribution["edge"]]
    if edge["from"] != {"node": step["node"], "output_nr": contribution["output_nr"]}:
        raise Nonconformity(f"a contribution of step {step['index']} came along an edge of another slot")
    producer = returned[edge["to"]["node"]]
    if producer["index"] != contribution["from_step"]:
        raise Nonconformity(f"a contribution of step {step['index']} names the wrong step")
    if not same(tensor_of(contribution["value"]), tensor_of(producer["grad_inputs"][edge["to"]["argnum"]])):
        raise Nonconformity(f"a contribution of step {step['index']} is not what its producer returned")


def _check_all_arrived(started: dict[str, Any], step: dict[str, Any], returned: dict[str, Any]) -> None:
    out_edges = [e for e in started["graph"]["edges"] if e["from"]["node"] == step["node"]]
    giving = {
        e["id"]
        for e in out_edges
        if e["to"]["node"] in returned
        and tensor_of(returned[e["to"]["node"]]["grad_inputs"][e["to"]["argnum"]]) is not None
    }
    told = {c["edge"] for c in step["contributions"] if c["edge"] != "seed" and tensor_of(c["value"]) is not None}
    if giving != told:
        raise Nonconformity(f"step {step['index']} was given {sorted(giving)}, the trace tells of {sorted(told)}")
    seeds = [o for o in started["outputs"] if o["node"] == step["node"] and tensor_of(o["seed"]) is not None]
    if len(seeds) != sum(1 for c in step["contributions"] if c["edge"] == "seed"):
        raise Nonconformity(f"step {step['index']} does not tell of every seed")


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
            if any("checked" not in j and _is_infinite_somewhere(j) for j in parts):
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


def _is_infinite_somewhere(jacobian: dict[str, Any]) -> bool:
    return not bool(torch.isfinite(tensor_of(jacobian["value"])).all())


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
    flat = matrix.double().reshape(v.numel(), math.prod(jacobian["input_shape"]))
    if not through_zeros:
        terms = v.double().reshape(-1, 1) * flat
        return terms.masked_fill(flat == 0, 0).sum(0).reshape(jacobian["input_shape"])
    return (v.double().reshape(-1) @ flat).reshape(jacobian["input_shape"])
