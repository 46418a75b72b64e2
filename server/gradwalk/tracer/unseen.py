"""Forward values that no call handed out, because one call of torch built several nodes in C++.

`F.linear` is a transpose and a product; `einsum` is a dozen views around a `bmm`. What stays inside is known all the
same where it is the same numbers as a neighbour's: in another order or shape, copied, picked, cast, or times a number.
Forward from operands, backward from results. All of it is exact, so it is what the run computed, bit for bit; a value
that would have to be computed anew in floating point stays unknown, and its node says so.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import torch

from gradwalk.protocol.facts import fact
from gradwalk.protocol.graph import Edge, Node
from gradwalk.protocol.values import TensorValue
from gradwalk.tracer.values import ValueTable

NOTE: Final = fact("note-unseen")
NOT_KEPT: Final = fact("note-not-kept")
"""Where there was no program to watch, only the graph that it left."""

_RESHAPES: Final = frozenset(
    {"_reshape_alias", "_unsafe_view", "alias", "clone", "flatten", "lift_fresh", "reshape", "squeeze", "unsafe_view",
     "unsqueeze", "view", "view_as"}
)  # fmt: skip
_EXACT_POWERS: Final = frozenset({1, 2, 3})
_Index = np.ndarray[Any, np.dtype[np.int64]]


def fill_unseen(
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    shapes: Mapping[str, Sequence[int]],
    values: ValueTable,
    left_over: Mapping[str, TensorValue] | None = None,
) -> None:
    """Completes operands and outputs in place.

    Args:
        nodes: newly described.
        edges: of the graph.
        shapes: of each node's output, for nodes that have one.
        values: where what is computed is put down.
        left_over: of each node's output, for nodes that have one, what is said where it is not kept; None where a
            program was watched.
    """
    wanting = [node for node in nodes if _lacks(node)]
    if not wanting:
        return
    by_id = {node["id"]: node for node in nodes}
    producers = {edge["id"]: (by_id.get(edge["from"]["node"]), edge["from"]["output_nr"]) for edge in edges}
    oldest_first = sorted(wanting, key=lambda node: -1 if node["sequence_nr"] is None else node["sequence_nr"])
    for node in oldest_first:
        _take_operands(node, producers)
        if node["id"] in shapes and node["outputs"][0]["value"] is None and node["inputs"]:
            node["outputs"][0]["value"] = _forward(node, shapes[node["id"]], values)
    for node in sorted(nodes, key=lambda node: -1 if node["sequence_nr"] is None else -node["sequence_nr"]):
        _give_operands(node, producers)
    for node in oldest_first if left_over is not None else ():
        for one in node["outputs"]:
            one["value"] = one["value"] or (left_over or {}).get(node["id"])
    for node in oldest_first:
        _take_operands(node, producers)
        if any(one["value"] is None for one in node["outputs"]) and node["kind"] == "op" and "note" not in node:
            node["note"] = NOTE


def _lacks(node: Node) -> bool:
    return any(one["value"] is None for one in node["outputs"]) or any(
        operand["value"] is None and "edge" in operand for operand in node["inputs"]
    )


def _take_operands(node: Node, producers: Mapping[str, tuple[Node | None, int]]) -> None:
    """An operand is what its producer gave."""
    for operand in node["inputs"]:
        producer, slot = producers.get(operand.get("edge", ""), (None, 0))
        if operand["value"] is None and producer is not None and slot < len(producer["outputs"]):
            operand["value"] = producer["outputs"][slot]["value"]


def _give_operands(node: Node, producers: Mapping[str, tuple[Node | None, int]]) -> None:
    """A producer gave what its consumer had; where that is not known, what the consumer made of it may tell."""
    for operand in node["inputs"]:
        producer, slot = producers.get(operand.get("edge", ""), (None, 0))
        if producer is None or slot >= len(producer["outputs"]):
            continue
        given = producer["outputs"][slot]
        if operand["value"] is None and given["value"] is None and operand["argnum"] == 0:
            operand["value"] = _backward(node)
        if given["value"] is None:
            given["value"] = operand["value"]


def _forward(node: Node, shape: Sequence[int], values: ValueTable) -> TensorValue | None:
    """The output of a node with one, from its first operand."""
    operand = node["inputs"][0]["value"]
    if operand is None or "data" not in operand:
        return None
    if len(node["inputs"]) == 1 and (node["op"] in _RESHAPES or _is_picking(node)):
        try:
            places = _places(node, operand["shape"], shape)
        except (IndexError, TypeError, ValueError):
            return None
        return None if places is None else _picked(operand, places)
    number = _saved(node, "other" if node["op"] == "mul" else "exponent")
    if len(node["inputs"]) > 1 or not isinstance(number, int | float) or not operand["dtype"].startswith("float"):
        return None
    dtype = getattr(torch, operand["dtype"])
    numbers = torch.tensor([float(entry) for entry in operand["data"]], dtype=dtype)  # type: ignore[arg-type]
    if node["op"] == "mul" and list(shape) == operand["shape"]:
        return values.value_of((numbers * number).reshape(operand["shape"]))
    if node["op"] == "pow" and number in _EXACT_POWERS:
        return values.value_of((numbers**number).reshape(operand["shape"]))
    return None


def _is_picking(node: Node) -> bool:
    return node["op"] in ("expand", "permute", "select", "slice", "t", "transpose")


def _places(node: Node, given: Sequence[int], shape: Sequence[int]) -> _Index | None:
    """Which entry of the operand each entry of the output is; None where that does not fit."""
    index: _Index = np.arange(int(np.prod(given))).reshape(given)
    match node["op"]:
        case "t":
            index = index.T
        case "transpose":
            index = index.swapaxes(_saved(node, "dim0"), _saved(node, "dim1"))
        case "permute":
            index = index.transpose(_saved(node, "dims"))
        case "expand":
            index = np.broadcast_to(index, shape)
        case "select":
            index = index.take(_saved(node, "index"), _saved(node, "dim"))
        case "slice":
            bounds = (_saved(node, "start"), _saved(node, "end"), _saved(node, "step"))
            axis = _saved(node, "dim")
            index = index[(slice(None),) * (axis % index.ndim) + (slice(*bounds),)]
        case _:
            index = index.reshape(shape)
    return index if list(index.shape) == list(shape) else None


def _picked(operand: TensorValue, places: _Index) -> TensorValue:
    data = operand["data"]
    value: TensorValue = {
        "shape": [*places.shape],
        "dtype": operand["dtype"],
        "data": [data[place] for place in places.reshape(-1).tolist()],
    }
    return value


def _backward(node: Node) -> TensorValue | None:
    """The operand of a node that only gave its entries other places, from its output."""
    if len(node["inputs"]) != 1 or len(node["outputs"]) != 1:
        return None
    output = node["outputs"][0]["value"]
    if output is None or "data" not in output or not (node["op"] in _RESHAPES or _is_picking(node)):
        return None
    shape = _saved(node, "self_sym_sizes") or _saved(node, "self_sizes")
    if node["op"] in ("t", "transpose", "permute"):
        shape = _shape_before(node, output["shape"])
    if node["op"] in ("alias", "clone"):
        shape = output["shape"]
    if node["op"] == "unsqueeze":
        axis = _saved(node, "dim")
        shape = [size for at, size in enumerate(output["shape"]) if at != axis % len(output["shape"])]
    if not isinstance(shape, list) or int(np.prod(shape)) != len(output["data"]):
        return None
    try:
        places = _places(node, shape, output["shape"])
    except (IndexError, TypeError, ValueError):
        return None
    if places is None:
        return None
    back = np.empty(places.size, np.int64)
    back[places.reshape(-1)] = np.arange(places.size)
    if not np.array_equal(np.sort(places.reshape(-1)), np.arange(places.size)):
        return None
    return _picked(output, back.reshape(shape))


def _shape_before(node: Node, shape: Sequence[int]) -> list[int] | None:
    index = np.arange(len(shape))
    match node["op"]:
        case "t":
            index = index[::-1]
        case "transpose":
            first, second = _saved(node, "dim0"), _saved(node, "dim1")
            index[[first, second]] = index[[second, first]]
        case _:
            index = np.argsort(np.array(_saved(node, "dims")) % len(shape))
    return [shape[at] for at in index.tolist()]


def _saved(node: Node, name: str) -> Any:
    """A tensor's value, or an option."""
    return next((one.get("option", one["value"]) for one in node["saved"] if one["name"] == name), None)


def shapes_of(records: Iterable[Any]) -> dict[str, tuple[int, ...]]:
    """The shape of the output of each node that has one."""
    return {record.id: record.sides[0].shape for record in records if len(record.sides) == 1}


def not_kept(records: Iterable[Any]) -> dict[str, TensorValue]:
    """What is known of the output of each node that has one: its shape and dtype."""
    return {
        record.id: {
            "shape": [*record.sides[0].shape],
            "dtype": str(record.sides[0].dtype).removeprefix("torch."),
            "unavailable": NOT_KEPT,
        }
        for record in records
        if len(record.sides) == 1
    }
