"""What stands out in the values of a forward pass: the first that is not finite, overflows, dead relus."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import torch

from gradwalk.protocol.events import Finding
from gradwalk.protocol.facts import Fact, Filling, Shape, fact, in_turn
from gradwalk.protocol.graph import Node, Operand
from gradwalk.protocol.values import TensorValue
from gradwalk.tracer.finding import entries, finding, measured, name_of, name_with_operands, operation_of
from gradwalk.tracer.magnitudes import Trouble, smallest_magnitude, trouble_of

ENTRIES_OF_A_LAYER: Final = 2
LISTED: Final = 8
"""Findings of one kind."""

_WITHOUT_POLES: Final = frozenset(
    {"add", "addmm", "addmv", "baddbmm", "bmm", "cosh", "cumprod", "cumsum", "dot", "exp", "exp2", "expm1", "mm", "mul",
     "mv", "pow", "prod", "sinh", "square", "sub", "sum", "_to_copy", "to_copy"}
)  # fmt: skip
_PUTTING: Final = frozenset(
    {"cat", "constant_pad_nd", "copy", "fill", "fill_diagonal", "index_copy", "index_fill", "index_put", "masked_fill",
     "masked_scatter", "scatter", "select_scatter", "setitem", "slice_scatter", "stack", "where"}
)  # fmt: skip
"""Operations that put given values somewhere and compute none."""
_REASONS: Final = {
    "sqrt": fact("finding-sqrt"),
    "rsqrt": fact("finding-rsqrt"),
    "log": fact("finding-log"),
    "reciprocal": fact("finding-reciprocal"),
    "acos": fact("finding-arc"),
    "asin": fact("finding-arc"),
    "log_softmax": fact("finding-softmax"),
    "softmax": fact("finding-softmax"),
    "pow": fact("finding-pow"),
}
"""Why an operation gives no number, where that is well known."""


def forward_findings(nodes: Iterable[Node], writers: Mapping[str, str]) -> list[Finding]:
    """The first value that is no finite number, and what ran over the end of its dtype, in the program's order.

    `writers` has the calls that wrote into views, by the node: `CopySlices` does not say what was written.
    """
    found: list[Finding] = []
    overflows: list[Finding] = []
    ordered = sorted(nodes, key=lambda node: -1 if node["sequence_nr"] is None else node["sequence_nr"])
    mask = _mask(ordered)
    masks = _Masks(writers)
    for node in masks.left_out(ordered):
        outputs = [one["value"] for one in node["outputs"] if one["value"] is not None]
        troubles = [trouble for trouble in map(trouble_of, outputs) if trouble]
        operands = [one["value"] for one in node["inputs"] if one["value"] is not None]
        if not found:
            found.append(finding("first_non_finite", node, None, _not_finite(node, troubles[0], mask)))
        if troubles[0].infinities and _has_overflown(node, operands) and len(overflows) < LISTED:
            what = _overflow(node, outputs[0])
            # A line may compute the same twice.
            if all(one["fact"] != what for one in overflows):
                overflows.append(finding("overflow", node, None, what))
    return found + overflows


def _mask(nodes: Iterable[Node]) -> Filling | None:
    """A `where` that leaves what is not finite out of its result."""
    for node in nodes:
        given, made = ([one["value"] for one in node[side]] for side in ("inputs", "outputs"))
        if node["op"] == "where" and not any(map(_is_troubled, made)) and any(map(_is_troubled, given)):
            return operation_of(node)
    return None


def _is_troubled(value: TensorValue | None) -> bool:
    return value is not None and bool(trouble_of(value))


def _not_finite(node: Node, trouble: Trouble, mask: Filling | None) -> Fact:
    if node["kind"] == "accumulate_grad":
        return fact("finding-leaf", name=node.get("leaf", ""), entries=entries(trouble))
    made_by, why = name_with_operands(node, operation_of(node)), _reason(node, trouble)
    if mask is not None:
        masked = fact("finding-masked", mask=mask)
        why = masked if why is None else in_turn(why, masked)
        return fact("finding-value-masked", node=made_by, entries=entries(trouble), why=why)
    if why is None:
        return fact("finding-value", node=made_by, entries=entries(trouble))
    return fact("finding-value-why", node=made_by, entries=entries(trouble), why=why)


def _reason(node: Node, trouble: Trouble) -> Fact | None:
    op = node["op"].strip("_")
    if op == "div":
        return fact("finding-div-nan") if trouble.nans else fact("finding-div")
    return _REASONS.get(op)


def _overflow(node: Node, value: TensorValue) -> Fact:
    limit = torch.finfo(getattr(torch, value["dtype"])).max
    return fact("finding-overflow", node=name_with_operands(node), dtype=value["dtype"], limit=measured(limit))


class _Masks:
    """Infinities that were put somewhere, not computed, such as those of a causal mask: a softmax takes them away."""

    def __init__(self, writers: Mapping[str, str]) -> None:
        self._writers = writers
        self._meant: dict[int, tuple[TensorValue, Node]] = {}
        """By identity of a value, which is kept beside it: who put its infinities there."""

    def left_out(self, nodes: Sequence[Node]) -> Iterator[Node]:
        """The nodes that make numbers that are not finite of such as are, or of what a mask put there.

        An infinity that a mask put there and nothing takes away is no mask: its node comes last.
        """
        used: set[int] = set()
        for node in nodes:
            used.update(id(one["value"]) for one in node["inputs"])
            outputs = [one["value"] for one in node["outputs"] if one["value"] is not None]
            troubles = [trouble for trouble in map(trouble_of, outputs) if trouble]
            if not troubles:
                continue
            troubled = [one for one in node["inputs"] if one["value"] is not None and trouble_of(one["value"])]
            sources = [self._source(one, node) for one in troubled]
            if None in sources:
                continue
            is_put = bool(sources) or self._writers.get(node["id"], node["op"]).strip("_") in _PUTTING
            if is_put and not any(trouble.nans for trouble in troubles):
                source = next((one for one in sources if one is not None), node)
                self._meant.update((id(value), (value, source)) for value in outputs if trouble_of(value))
            else:
                yield node
        lasting = {source["id"]: source for identity, (_, source) in self._meant.items() if identity not in used}
        yield from lasting.values()

    def _source(self, operand: Operand, node: Node) -> Node | None:
        """Who put the infinities of an operand there; None where they were computed."""
        value = operand["value"]
        known = self._meant.get(id(value))
        if known is not None:
            return known[1]
        trouble = None if value is None else trouble_of(value)
        is_constant = "edge" not in operand and trouble is not None and not trouble.nans
        return node if is_constant else None


def _has_overflown(node: Node, operands: Sequence[TensorValue]) -> bool:
    op = node["op"].lstrip("_").rstrip("_")
    if op not in _WITHOUT_POLES or not operands or any(one["value"] is None for one in node["inputs"]):
        return False
    # A negative power of 0 is a pole.
    return op != "pow" or all(smallest_magnitude(value) > 0 for value in operands[:1])


def dead_relus(nodes: Iterable[Node]) -> list[Finding]:
    """Relus whose whole operand is 0 or less; the last one listed counts the others."""
    ordered = sorted(nodes, key=lambda one: one["sequence_nr"] or 0)
    dead = [node for node in ordered if node["op"].rstrip("_") == "relu" and _is_dead(node)]
    found = [finding("dead_relu", node, None, _dead_relu(node)) for node in dead[:LISTED]]
    if len(dead) > LISTED:
        node = dead[LISTED - 1]
        what = fact("finding-dead-relu-more", node=name_of(node), shape=_shape(node), count=len(dead) - LISTED)
        found[-1]["fact"] = what
    return found


def _dead_relu(node: Node) -> Fact:
    return fact("finding-dead-relu", node=name_of(node), shape=_shape(node))


def _shape(node: Node) -> Shape:
    return {"shape": next((one["value"]["shape"] for one in node["outputs"] if one["value"] is not None), [])}


def _is_dead(node: Node) -> bool:
    """Of several entries: a single one is 0 for every second input, and learns from the others."""
    value = next((one["value"] for one in node["inputs"] if one["value"] is not None), None)
    if value is not None and "summary" in value:
        top = value["summary"]["max"]
        return not trouble_of(value) and isinstance(top, int | float) and top <= 0
    # A relu in place has overwritten its operand; its result says the same.
    value = value if value is not None else next((one["value"] for one in node["outputs"]), None)
    if value is None or len(value.get("data", ())) < ENTRIES_OF_A_LAYER:
        return False
    return all(isinstance(one, int | float) and one <= 0 for one in value["data"])
