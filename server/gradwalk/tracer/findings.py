"""What stands out in the numbers of a pass, said once it is over.

first_non_finite   the first value (going forward), and the first gradient (going backward), that holds NaN or an
                   infinity although nothing that went into it does. The infinities of a mask are no such value as long
                   as something takes them away.
overflow           a value that became infinite because its dtype ends: finite operands of an operation without poles.
vanishing          a leaf's gradient whose norm is below `FAINTER` times the largest norm on its way, not counting
                   what cancelling terms took; or a saturated
                   activation, a staircase or a product in float16 that returned exactly 0 for a gradient that was not.
exploding          a leaf's gradient whose norm is above `LOUDER` times that of the v that its way began with.
dead_relu          a relu of several entries whose whole operand is 0 or less: nothing before it learns.
wrong_backward     a custom backward that is not the derivative of its forward, by finite differences.
cut_derivative     see `second_derivatives`.

A leaf's way is followed back along the largest contribution at each node. Norms are Euclidean, over all entries. All
of it is read off what was recorded, so the same trace has the same findings.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from gradwalk.protocol.events import Contribution, Finding, FindingKind
from gradwalk.protocol.facts import Fact, code, fact
from gradwalk.protocol.graph import Node
from gradwalk.protocol.values import TensorValue
from gradwalk.tracer.finding import entries, finding, measured, name_of, name_with_operands
from gradwalk.tracer.forward_findings import LISTED, dead_relus, forward_findings
from gradwalk.tracer.magnitudes import norm_of, numbers_of, tensors, trouble_of
from gradwalk.tracer.second_derivatives import Cut
from gradwalk.tracer.text import called

FAINTER: Final = 1e-4
LOUDER: Final = 1e4
CANCELS: Final = 1e-2
"""What is left of the sum of the terms' magnitudes, where terms are said to cancel: such a gradient is 0 in theory."""
_NORMS_KEPT: Final = 4_096

_SUMMING: Final = frozenset(
    {"add", "addmm", "addmv", "baddbmm", "bmm", "convolution", "expand", "mm", "mv", "native_batch_norm",
     "native_group_norm", "native_layer_norm", "sub"}
)  # fmt: skip
"""Operations whose gradients are sums of many terms, or lose a mean."""
_NORMALIZING: Final = frozenset({"native_batch_norm", "native_group_norm", "native_layer_norm"})
_SATURATING: Final = frozenset({"sigmoid", "softmax", "tanh"})
_OVER_AN_AXIS: Final = frozenset({"log_softmax", "softmax"})
_STAIRCASES: Final = frozenset({"ceil", "floor", "round", "sign", "trunc"})
_SCALING: Final = frozenset({"div", "mean", "mul"})
_NEARLY_ALL: Final = 0.8
"""Of a decrease, by its logarithm: where one step has that much of it, the chain is not to blame."""


class _Step(NamedTuple):
    """What is kept of a step."""

    node: str
    norm: float
    """Of its grad_outputs."""
    before: int | None
    """The step that handed it the largest contribution."""
    cancelled: float
    """What is left of the terms that were added on the way from there, where they nearly cancelled; else 1."""


class _End(NamedTuple):
    """Of the way from the start of the pass to a step."""

    start: float
    """The norm it began with."""
    top: float
    """The largest norm on it."""
    is_start: bool
    """The way is this one step."""
    cancelled: float
    """What cancelling terms have taken of the norm since it was largest."""


class Findings:
    """Takes note of each step; serves one run, whose nodes are looked at once."""

    def __init__(self) -> None:
        self._passes: dict[int, _PassNotes] = {}
        self._seen: set[str] = set()
        self._wrong: set[tuple[str, int]] = set()
        """Of backwards that were told to be wrong: op and argnum."""
        self._steep: set[tuple[str, ...]] = set()
        """Of gradients that were told to vanish or explode, as `_steepness_key` has them."""

    def note(self, event: Mapping[str, Any], described: Node) -> None:
        """A step of a pass, as it is told."""
        self._passes.setdefault(event["pass"], _PassNotes()).note(event, described)

    def conclude(
        self, pass_index: int, nodes: Iterable[Node], cuts: Sequence[Cut], writers: Mapping[str, str]
    ) -> list[Finding]:
        """The findings of a pass that is over, and whose nodes are these; `writers` are as in `forward_findings`."""
        notes = self._passes.pop(pass_index, None) or _PassNotes()
        nodes = [*nodes]
        new = [node for node in nodes if node["id"] not in self._seen]
        self._seen.update(node["id"] for node in new)
        by_id = {node["id"]: node for node in nodes}
        found = notes.locate(forward_findings(new, writers))
        wrong = {key: one for key, one in notes.wrong_backwards.items() if key not in self._wrong}
        self._wrong.update(wrong)
        found += wrong.values()
        # In a loop each pass would say the same.
        of_gradients = [one for one in notes.of_gradients() if _steepness_key(one) not in self._steep]
        self._steep.update(_steepness_key(one) for one in of_gradients if one["kind"] in ("vanishing", "exploding"))
        found += of_gradients
        found += notes.locate(dead_relus(new))
        for cut in cuts:
            one = finding("cut_derivative", by_id[cut.node], notes.steps_of.get(cut.node), cut.fact, cut.saved_at)
            if cut.used_at is not None:
                one["used_at"] = cut.used_at
            found.append(one)
        return found


class _PassNotes:
    """One pass, as far as findings need it."""

    def __init__(self) -> None:
        self.steps: dict[int, _Step] = {}
        self.steps_of: dict[str, int] = {}
        self._nodes: dict[str, Node] = {}
        self._first: Finding | None = None
        self._is_first_told = False
        """A gradient that is not finite came earlier, of a node whose value is not finite either."""
        self._lost: list[Finding] = []
        self.wrong_backwards: dict[tuple[str, int], Finding] = {}
        """By op and argnum."""
        self._leaves: list[int] = []
        self._cancelled: dict[tuple[int | None, str], float] = {}
        """By step and edge, what is left of the terms of a product, where that is little."""
        self._norms: dict[int, tuple[TensorValue, float]] = {}
        """By identity, which the value kept beside it makes sure of."""

    def note(self, event: Mapping[str, Any], described: Node) -> None:
        """A step, in the order of the engine."""
        index, identity = event["index"], described["id"]
        received = tensors(event["grad_outputs"])
        norms = [self._norm(value) for value in received]
        norm = norms[0] if len(norms) == 1 else math.hypot(*norms)
        source = self._largest_source(event["contributions"])
        before = None if source is None else source["from_step"]
        edge = "" if source is None else source["edge"]
        left = self._left_of_sum(norm, event["contributions"]) * self._cancelled.pop((before, edge), 1.0)
        self.steps[index] = _Step(identity, norm, before, left)
        self.steps_of[identity] = index
        self._nodes[identity] = described
        if described["kind"] == "accumulate_grad":
            self._leaves.append(index)
            return
        if described["kind"] == "custom" and not any("was" in one for one in described["saved"]):
            self._note_differences(event, described)
        returned = [self._norm(value) for value in tensors(event["grad_inputs"])]
        if returned and min(returned) < CANCELS * norm:
            self._note_cancelled(event, described, norm)
        if self._first is None and not math.isfinite(sum(returned) + norm):
            self._look_closer(event, described, received)
        if norm > 0 and returned and not any(returned) and len(self._lost) < LISTED:
            what = _why_lost(described, norm, received)
            if what is not None:
                self._lost.append(finding("vanishing", described, index, what))

    def _note_differences(self, event: Mapping[str, Any], described: Node) -> None:
        for jacobian in event["local_jacobians"]:
            differences = jacobian.get("differences", {})
            key = described["op"], jacobian["argnum"]
            if differences.get("verdict") == "differs" and key not in self.wrong_backwards:
                span = described.get("backward_span")
                call, name = f"{key[0]}.backward", called(described["inputs"][key[1]])
                backward = code(call) if span is None else fact("call-in-line", call=call, line=str(span["line"]))
                what = fact("finding-wrong-backward", backward=backward, name=name, why=differences["because"])
                self.wrong_backwards[key] = finding("wrong_backward", described, event["index"], what, span)

    def _norm(self, value: TensorValue) -> float:
        """Of a value that comes by as a grad_input, as a contribution and as a grad_output."""
        known = self._norms.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        norm = norm_of(value)
        if len(self._norms) >= _NORMS_KEPT:
            self._norms.clear()
        self._norms[id(value)] = value, norm
        return norm

    def _largest_source(self, contributions: Sequence[Contribution]) -> Contribution | None:
        """The largest contribution."""
        if len(contributions) == 1:
            return None if "missing" in contributions[0]["value"] else contributions[0]
        source, largest = None, None
        for one in contributions:
            value = one["value"]
            if "missing" in value:
                continue
            norm = self._norm(value)
            if largest is None or norm > largest:
                source, largest = one, norm
        return source

    def _left_of_sum(self, norm: float, contributions: Sequence[Contribution]) -> float:
        """What a sum of contributions has of the sum of their norms, where that is little."""
        if len(contributions) == 1:
            return 1.0
        terms = sum(self._norm(one["value"]) for one in contributions if "missing" not in one["value"])
        return norm / terms if 0 < norm < CANCELS * terms else 1.0

    def _note_cancelled(self, event: Mapping[str, Any], described: Node, norm: float) -> None:
        """Products v times J that are small because their terms cancel, by the edge that they go along."""
        for operand in described["inputs"]:
            argnum = operand["argnum"]
            returned: Any = event["grad_inputs"][argnum] if argnum < len(event["grad_inputs"]) else {"missing": ""}
            if "edge" not in operand or "missing" in returned or not 0 < self._norm(returned) < CANCELS * norm:
                continue
            left = _left_of_product(event, described, argnum, self._norm(returned), norm)
            if left < CANCELS:
                self._cancelled[event["index"], operand["edge"]] = left

    def locate(self, findings: list[Finding]) -> list[Finding]:
        """Findings about nodes, with the step in which each node ran."""
        for one in findings:
            one["step"] = self.steps_of.get(one["node"] or "")
        return findings

    def of_gradients(self) -> list[Finding]:
        """What the gradients of the whole pass show."""
        found = [] if self._first is None else [self._first]
        ends = self._ends() if self._leaves else {}
        faintest = self._extreme("vanishing", ends, lambda norm, end: norm / (end.top * end.cancelled), FAINTER)
        loudest = self._extreme("exploding", ends, lambda norm, end: end.start / norm, 1 / LOUDER)
        return found + [one for one in (faintest, loudest) if one is not None] + self._lost

    def _look_closer(self, event: Mapping[str, Any], described: Node, received: list[TensorValue]) -> None:
        """The first gradient that is no number, and whether this node made it."""
        if any(map(trouble_of, received)):
            arrived = [one for one in event["contributions"] if "missing" not in one["value"]]
            node = name_of(described)
            if any(trouble_of(one["value"]) for one in arrived if one["edge"] == "seed"):
                what = fact("finding-seed", node=node)
            elif any(trouble_of(one["value"]) for one in arrived):
                return
            elif event.get("hooks"):
                what = fact("finding-hook", node=node)
            else:
                what = fact("finding-sum", node=node)
            self._first = finding("first_non_finite", described, event["index"], what)
            return
        if any(trouble_of(one["value"]) for one in described["outputs"] if one["value"] is not None):
            # Said where its value was computed.
            self._is_first_told = True
            return
        for argnum, value in enumerate(event["grad_inputs"]):
            trouble = None if "missing" in value else trouble_of(value)
            if trouble is None:
                continue
            node, name = name_with_operands(described), called(described["inputs"][argnum])
            what = fact("finding-gradient", node=node, name=name, entries=entries(trouble))
            if described["op"].strip("_") == "sqrt":
                what = fact("finding-gradient-sqrt", node=node, name=name, entries=entries(trouble))
            if self._is_first_told:
                what = fact("finding-gradient-too", node=node, name=name, entries=entries(trouble))
            self._first = finding("first_non_finite", described, event["index"], what)
            return

    def _way(self, index: int) -> list[int]:
        """From the start of the pass to a step."""
        way, at = [], index
        while at is not None and at in self.steps:
            way.append(at)
            following = self.steps[at].before
            # Whatever a step says of itself, a way only leads backwards: it must end.
            if following is None or following >= at:
                break
            at = following
        return way[::-1]

    def _ends(self) -> dict[int, _End]:
        """What the way to each step met: told from the step before it, so that many long ways cost one walk."""
        ends: dict[int, _End] = {}
        for at, (_, norm, before, left) in self.steps.items():
            # Whatever a step says of itself, a way only leads backwards.
            known = ends.get(before) if before is not None and before < at else None
            if known is None:
                ends[at] = _End(norm, norm, is_start=True, cancelled=1.0)
            elif norm > known.top:
                ends[at] = _End(known.start, norm, is_start=False, cancelled=1.0)
            else:
                ends[at] = _End(known.start, known.top, is_start=False, cancelled=known.cancelled * left)
        return ends

    def _extreme(
        self, kind: FindingKind, ends: Mapping[int, _End], ratio_of: Callable[[float, _End], float], limit: float
    ) -> Finding | None:
        worst: tuple[float, int] | None = None
        for leaf in self._leaves:
            norm, end = self.steps[leaf].norm, ends[leaf]
            beginning = end.top if kind == "vanishing" else end.start
            if end.is_start or not (0 < norm < math.inf and 0 < beginning < math.inf):
                continue
            ratio = ratio_of(norm, end)
            if ratio < limit and (worst is None or ratio < worst[0]):
                worst = (ratio, leaf)
        if worst is None:
            return None
        norm, end = self.steps[worst[1]].norm, ends[worst[1]]
        ratio = norm / end.top if kind == "vanishing" else end.start / norm
        return self._tell_extreme(kind, ratio, self._way(worst[1]))

    def _tell_extreme(self, kind: FindingKind, ratio: float, way: list[int]) -> Finding:
        changes = [self._change(before, after) for before, after in zip(way, way[1:], strict=False)]
        steepest = min(range(len(changes)), key=changes.__getitem__) if kind == "vanishing" else max(
            range(len(changes)), key=changes.__getitem__
        )  # fmt: skip
        culprit = self._nodes[self.steps[way[steepest]].node]
        what = self._steepness(kind, ratio, way, changes[steepest], culprit)
        return finding(kind, culprit, way[steepest], what)

    def _steepness(self, kind: FindingKind, ratio: float, way: list[int], change: float, culprit: Node) -> Fact:
        """How the gradient of a leaf came to its size: in one step, nearly so, or along a chain."""
        last, steps, node = self.steps[way[-1]], len(way) - 1, name_of(culprit)
        leaf = self._nodes[last.node]
        name, norm, times = leaf.get("leaf", leaf["label"]), measured(last.norm), measured(1 / ratio)
        reaches = (
            fact("finding-faint", name=name, norm=norm, times=times)
            if kind == "vanishing"
            else fact("finding-loud", name=name, norm=norm, times=times)
        )
        if kind == "vanishing" and steps > 1 and change < ratio**_NEARLY_ALL:
            return fact("finding-vanishing-at", reaches=reaches, node=node, change=measured(change))
        if kind == "vanishing" and steps == 1:
            return fact("finding-vanishing-alone", reaches=reaches, node=node)
        if steps == 1:
            return fact("finding-exploding-alone", reaches=reaches, node=node)
        average, strongest = measured(ratio ** ((1 if kind == "vanishing" else -1) / steps)), measured(change)
        if kind == "vanishing":
            return fact(
                "finding-vanishing", reaches=reaches, count=steps, average=average, strongest=strongest, node=node
            )
        return fact("finding-exploding", reaches=reaches, count=steps, average=average, strongest=strongest, node=node)

    def _change(self, before: int, after: int) -> float:
        start = self.steps[before].norm
        return self.steps[after].norm / start if start > 0 else math.inf


def _steepness_key(one: Finding) -> tuple[str, str, str]:
    """What two findings about the size of a gradient have in common where they say nearly the same."""
    operands: Any = one["fact"].get("operands", {})
    reaches = operands.get("reaches")
    leaf = "" if reaches is None else str(reaches["operands"]["name"])
    return one["kind"] if reaches else one["fact"]["kind"], leaf, str(one["span"])


def _why_lost(described: Node, norm: float, received: Sequence[TensorValue]) -> Fact | None:
    """Why a node returned exactly 0 for a gradient that was not, where it could be meant otherwise."""
    op, node = described["op"].strip("_"), name_of(described)
    if op in _OVER_AN_AXIS and _is_of_one_entry(described):
        return fact("finding-one-class", node=node)
    if op in _SATURATING and (op != "softmax" or _is_one_hot(described)):
        return fact("finding-saturated", node=node, norm=measured(norm))
    if op in _STAIRCASES:
        return fact("finding-staircase", node=node)
    if op in _SCALING and all(value["dtype"] == "float16" for value in received):
        return fact("finding-underflow", node=node, norm=measured(norm))
    return None


def _is_of_one_entry(described: Node) -> bool:
    """Whether a softmax has one entry to share everything among, in each row."""
    results = {
        number for one in described["outputs"] if one["value"] is not None for number in numbers_of(one["value"])
    }
    return results == ({1.0} if described["op"].strip("_") == "softmax" else {0.0})


def _is_one_hot(described: Node) -> bool:
    """Whether a softmax saved nothing but zeros and ones. Else the same v for all of a row cancels, as its sum is 1."""
    saved = [number for one in described["saved"] if one["value"] is not None for number in numbers_of(one["value"])]
    return bool(saved) and all(number in (0.0, 1.0) for number in saved)


def _left_of_product(event: Mapping[str, Any], described: Node, argnum: int, returned: float, norm: float) -> float:
    """The norm of v times J beside that of |v| times |J|; 1 where nothing is known of the terms."""
    factor = _normalizing_factor(described) if argnum == 0 else None
    if factor is not None:
        return returned / (norm * factor)
    for one in event["local_jacobians"]:
        if one["argnum"] == argnum and "data" in one["value"]:
            v = event["grad_outputs"][one["output_nr"]]
            if "data" in v and len(event["local_jacobians"]) == len(described["inputs"]):
                matrix = np.abs(np.array(one["value"]["data"], np.float64)).reshape(len(numbers_of(v)), -1)
                return returned / (
                    float(np.linalg.norm(np.abs(np.array(numbers_of(v), np.float64)) @ matrix)) or returned
                )
    if described["op"].strip("_") not in _SUMMING:
        return 1.0
    others = [one["value"] for one in described["inputs"] if one["argnum"] != argnum and one["value"] is not None]
    # In a product of matrices, small factors make a small result, too.
    sizes = [norm_of(one) / math.sqrt(max(1, math.prod(one["shape"]))) for one in others]
    return returned / (norm * min([1.0, *(size for size in sizes if size > 0)]))


def _normalizing_factor(described: Node) -> float | None:
    """The factor on v in a normalisation's vjp, before v's mean and its part along the result are taken away.

    They are taken away inside the Jacobian, so its entries say nothing of the terms. None for other operations.
    """
    if described["op"].strip("_") not in _NORMALIZING:
        return None
    saved: dict[str, Any] = {one["name"]: one["value"] for one in described["saved"]}
    deviation, weight = saved.get("result2"), saved.get("weight")
    if deviation is None or not math.prod(deviation.get("shape", ())):
        # In evaluation the mean and the deviation are constants.
        return None
    scales: list[Any] = [one for one in (deviation, weight) if one is not None]
    factor = math.prod(norm_of(one) / math.sqrt(math.prod(one["shape"])) for one in scales)
    return factor if 0 < factor < math.inf else None
