"""What stands out in the numbers of a pass, said once it is over.

first_non_finite   the first value (going forward), and the first gradient (going backward), that holds NaN or an
                   infinity although nothing that went into it does. The infinities of a mask are no such value as long
                   as something takes them away.
overflow           a value that became infinite because its dtype ends: finite operands of an operation without poles.
vanishing          a leaf's gradient whose norm is below `FAINTER` times the largest norm on its way, not counting
                   what cancelling terms took; or a saturated
                   activation that returned exactly 0 for a gradient that was not.
exploding          a leaf's gradient whose norm is above `LOUDER` times that of the v that its way began with.
dead_relu          a relu of several entries whose whole operand is 0 or less: nothing before it learns.
wrong_backward     a custom backward that is not the derivative of its forward, by finite differences.
cut_derivative     see `second_derivatives`.

A leaf's way is followed back along the largest contribution at each node. Norms are Euclidean, over all entries. All
of it is read off what was recorded, so the same trace has the same findings.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import torch

from gradwalk.protocol.events import Contribution, Finding, FindingKind
from gradwalk.protocol.graph import Node, Operand, Span
from gradwalk.protocol.values import TensorValue
from gradwalk.tracer.second_derivatives import Cut
from gradwalk.tracer.spelling import spell_number, spell_shape
from gradwalk.tracer.text import called

FAINTER: Final = 1e-4
LOUDER: Final = 1e4
ENTRIES_OF_A_LAYER: Final = 2
LISTED: Final = 8
CANCELS: Final = 1e-2
"""What is left of the sum of the terms' magnitudes, where terms are said to cancel: such a gradient is 0 in theory."""
_NORMS_KEPT: Final = 4_096
"""Findings of one kind."""

_WITHOUT_POLES: Final = frozenset(
    {"add", "addmm", "addmv", "baddbmm", "bmm", "cosh", "cumprod", "cumsum", "dot", "exp", "exp2", "expm1", "mm", "mul",
     "mv", "pow", "prod", "sinh", "square", "sub", "sum", "_to_copy", "to_copy"}
)  # fmt: skip
_PUTTING: Final = frozenset(
    {"cat", "constant_pad_nd", "copy", "fill", "index_copy", "index_fill", "index_put", "masked_fill", "masked_scatter",
     "scatter", "select_scatter", "slice_scatter", "stack", "where"}
)  # fmt: skip
"""Operations that put given values somewhere and compute none."""
_SUMMING: Final = frozenset(
    {"add", "addmm", "addmv", "baddbmm", "bmm", "convolution", "expand", "mm", "mv", "native_batch_norm",
     "native_group_norm", "native_layer_norm", "sub"}
)  # fmt: skip
"""Operations whose gradients are sums of many terms, or lose a mean."""
_SATURATING: Final = frozenset({"sigmoid", "softmax", "tanh"})


_VANISHES: Final = (
    "vanishes",
    "smaller than at its largest",
    "Slopes below 1 are multiplied along the chain; relu, residual connections, normalisation or a better "
    "initialisation keep them near 1.",
)
_NEARLY_ALL: Final = 0.8
"""Of a decrease, by its logarithm: where one step has that much of it, the chain is not to blame."""
_ONE_STEP_VANISHES: Final = (
    "There a slope is nearly 0, or the terms of a sum cancel, as they do before a normalisation: "
    "that may well be right."
)
_EXPLODES: Final = (
    "explodes",
    "larger than the v it began with",
    "Slopes above 1 are multiplied along the chain; smaller weights, normalisation or gradient clipping keep them in "
    "bounds.",
)


class _Trouble(NamedTuple):
    """Entries of a value that are no numbers."""

    nans: int
    infinities: int

    def __str__(self) -> str:
        parts = [f"{self.nans} NaN" if self.nans else "", f"{self.infinities} infinite" if self.infinities else ""]
        noun = "entry" if self.nans + self.infinities == 1 else "entries"
        return f"{' and '.join(part for part in parts if part)} {noun}"


_PLAIN_NUMBERS: Final = frozenset({float, int, bool})
"""Of a value written out, what is not finite is a text."""
_FINE: Final = _Trouble(0, 0)


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

    def note(self, event: Mapping[str, Any], described: Node) -> None:
        """A step of a pass, as it is told."""
        self._passes.setdefault(event["pass"], _PassNotes()).note(event, described)

    def conclude(self, pass_index: int, nodes: Iterable[Node], cuts: Sequence[Cut]) -> list[Finding]:
        """The findings of a pass that is over, and whose nodes are these."""
        notes = self._passes.pop(pass_index, None) or _PassNotes()
        nodes = [*nodes]
        new = [node for node in nodes if node["id"] not in self._seen]
        self._seen.update(node["id"] for node in new)
        by_id = {node["id"]: node for node in nodes}
        found = notes.locate(_forward_findings(new))
        wrong = {key: one for key, one in notes.wrong_backwards.items() if key not in self._wrong}
        self._wrong.update(wrong)
        found += wrong.values()
        found += notes.of_gradients()
        found += notes.locate(_dead_relus(new))
        for cut in cuts:
            one = _finding("cut_derivative", by_id[cut.node], notes.steps_of.get(cut.node), cut.message)
            one["span"] = cut.saved_at or one["span"]
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
        self._saturated: list[Finding] = []
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
        received = _tensors(event["grad_outputs"])
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
        if described["kind"] == "custom":
            self._note_differences(event, described)
        returned = [self._norm(value) for value in _tensors(event["grad_inputs"])]
        if returned and min(returned) < CANCELS * norm:
            self._note_cancelled(event, described, norm)
        if self._first is None and not math.isfinite(sum(returned) + norm):
            self._look_closer(event, described, received)
        is_saturated = norm > 0 and returned and not any(returned)
        if is_saturated and described["op"].lstrip("_") in _SATURATING and len(self._saturated) < LISTED:
            message = (
                f"{_where(described)} received a gradient of norm {spell_number(norm)} and returned exactly 0: it is "
                "saturated, its slope is too small for the dtype. Nothing before it gets a gradient. Keep its operand "
                "near 0 (smaller weights, normalised inputs)."
            )
            self._saturated.append(_finding("vanishing", described, index, message))

    def _note_differences(self, event: Mapping[str, Any], described: Node) -> None:
        for jacobian in event["local_jacobians"]:
            differences = jacobian.get("differences", {})
            key = described["op"], jacobian["argnum"]
            if differences.get("verdict") == "differs" and key not in self.wrong_backwards:
                span = described.get("backward_span")
                line = "" if span is None else f" (line {span['line']})"
                message = f"{key[0]}.backward{line} is not the derivative of its forward: {differences['because']}"
                found = _finding("wrong_backward", described, event["index"], message)
                self.wrong_backwards[key] = {**found, "span": span or found["span"]}

    def _norm(self, value: TensorValue) -> float:
        """Of a value that comes by as a grad_input, as a contribution and as a grad_output."""
        known = self._norms.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        norm = _norm(value)
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
        return found + [one for one in (faintest, loudest) if one is not None] + self._saturated

    def _look_closer(self, event: Mapping[str, Any], described: Node, received: list[TensorValue]) -> None:
        """The first gradient that is no number, and whether this node made it."""
        if any(map(_trouble, received)):
            arrived = [one for one in event["contributions"] if "missing" not in one["value"]]
            where = _where(described)
            if any(_trouble(one["value"]) for one in arrived if one["edge"] == "seed"):
                message = f"The external gradient v that {where} starts from is no finite number itself."
            elif any(_trouble(one["value"]) for one in arrived):
                return
            elif event.get("hooks"):
                message = f"A hook put a gradient that is no finite number in front of {where}."
            else:
                message = f"The contributions at {where} are finite, but their sum is not: it ran over its dtype's end."
            self._first = _finding("first_non_finite", described, event["index"], message)
            return
        if any(_trouble(one["value"]) for one in described["outputs"] if one["value"] is not None):
            # Said where its value was computed.
            return
        for argnum, value in enumerate(event["grad_inputs"]):
            if "missing" in value or not _trouble(value):
                continue
            operand = described["inputs"][argnum]
            message = (
                f"The first gradient that is no finite number is made by {_where(described)}: its grad_output is finite"
                f"{_said(received)}, what it returns for `{called(operand)}` has {_trouble(value)}. "
                f"{_operands_said(described)}It has no finite slope there; every step after this one inherits that."
            )
            self._first = _finding("first_non_finite", described, event["index"], message)
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
        return self._spell_extreme(kind, ratio, self._way(worst[1]))

    def _spell_extreme(self, kind: FindingKind, ratio: float, way: list[int]) -> Finding:
        leaf = self._nodes[self.steps[way[-1]].node]
        changes = [self._change(before, after) for before, after in zip(way, way[1:], strict=False)]
        steepest = min(range(len(changes)), key=changes.__getitem__) if kind == "vanishing" else max(
            range(len(changes)), key=changes.__getitem__
        )  # fmt: skip
        culprit = self._nodes[self.steps[way[steepest]].node]
        steps = len(way) - 1
        average = ratio ** (1 / steps) if kind == "vanishing" else ratio ** (-1 / steps)
        verb, times, cure = _VANISHES if kind == "vanishing" else _EXPLODES
        if steps == 1:
            chain = f"{_where(culprit)} does it alone."
        elif kind == "vanishing" and changes[steepest] < ratio**_NEARLY_ALL:
            change = spell_number(changes[steepest])
            chain = f"Nearly all of that is one step: {_where(culprit)} returns {change} times what it got."
            cure = _ONE_STEP_VANISHES
        else:
            chain = (
                f"Over {steps} steps that is a factor of {spell_number(average)} each on average; the strongest, "
                f"{spell_number(changes[steepest])}, is {_where(culprit)}."
            )
        message = (
            f"The gradient {verb}: it reaches `{leaf.get('leaf', leaf['label'])}` with norm "
            f"{spell_number(self.steps[way[-1]].norm)}, {spell_number(1 / ratio)} times {times}. {chain} {cure}"
        )
        return _finding(kind, culprit, way[steepest], message)

    def _change(self, before: int, after: int) -> float:
        start = self.steps[before].norm
        return self.steps[after].norm / start if start > 0 else math.inf


def _left_of_product(event: Mapping[str, Any], described: Node, argnum: int, returned: float, norm: float) -> float:
    """The norm of v times J beside that of |v| times |J|; 1 where nothing is known of the terms."""
    for one in event["local_jacobians"]:
        if one["argnum"] == argnum and "data" in one["value"]:
            v = event["grad_outputs"][one["output_nr"]]
            if "data" in v and len(event["local_jacobians"]) == len(described["inputs"]):
                matrix = np.abs(np.array(one["value"]["data"], np.float64)).reshape(len(_numbers(v)), -1)
                return returned / (
                    float(np.linalg.norm(np.abs(np.array(_numbers(v), np.float64)) @ matrix)) or returned
                )
    if described["op"].strip("_") not in _SUMMING:
        return 1.0
    others = [one["value"] for one in described["inputs"] if one["argnum"] != argnum and one["value"] is not None]
    # In a product of matrices, small factors make a small result, too.
    sizes = [_norm(one) / math.sqrt(max(1, math.prod(one["shape"]))) for one in others]
    return returned / (norm * min([1.0, *(size for size in sizes if size > 0)]))


def _forward_findings(nodes: Iterable[Node]) -> list[Finding]:
    """The first value that is no finite number, and what ran over the end of its dtype, in the program's order."""
    found: list[Finding] = []
    overflows: list[Finding] = []
    ordered = sorted(nodes, key=lambda node: -1 if node["sequence_nr"] is None else node["sequence_nr"])
    masks = _Masks()
    for node in masks.left_out(ordered):
        outputs = [one["value"] for one in node["outputs"] if one["value"] is not None]
        troubles = [trouble for trouble in map(_trouble, outputs) if trouble]
        operands = [one["value"] for one in node["inputs"] if one["value"] is not None]
        if node["kind"] == "accumulate_grad":
            message = f"The leaf `{node.get('leaf', '')}` holds {troubles[0]} before anything is computed."
        else:
            message = (
                f"The first value that is no finite number is made by {_where(node)}: its result has {troubles[0]}. "
                f"{_operands_said(node)}{_reason(node, troubles[0])}"
            )
        if not found:
            found.append(_finding("first_non_finite", node, None, message))
        if troubles[0].infinities and _has_overflown(node, operands) and len(overflows) < LISTED:
            overflows.append(_finding("overflow", node, None, _overflow_words(node, outputs[0])))
    return found + overflows


class _Masks:
    """Infinities that were put somewhere, not computed, such as those of a causal mask: a softmax takes them away."""

    def __init__(self) -> None:
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
            troubles = [trouble for trouble in map(_trouble, outputs) if trouble]
            if not troubles:
                continue
            troubled = [one for one in node["inputs"] if one["value"] is not None and _trouble(one["value"])]
            sources = [self._source(one, node) for one in troubled]
            if None in sources:
                continue
            is_put = bool(sources) or node["op"].strip("_") in _PUTTING
            if is_put and not any(trouble.nans for trouble in troubles):
                source = next((one for one in sources if one is not None), node)
                self._meant.update((id(value), (value, source)) for value in outputs if _trouble(value))
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
        trouble = None if value is None else _trouble(value)
        is_constant = "edge" not in operand and trouble is not None and not trouble.nans
        return node if is_constant else None


def _has_overflown(node: Node, operands: Sequence[TensorValue]) -> bool:
    op = node["op"].lstrip("_").rstrip("_")
    if op not in _WITHOUT_POLES or not operands or any(one["value"] is None for one in node["inputs"]):
        return False
    # A negative power of 0 is a pole.
    return op != "pow" or all(_smallest_magnitude(value) > 0 for value in operands[:1])


def _overflow_words(node: Node, value: TensorValue) -> str:
    limit = torch.finfo(getattr(torch, value["dtype"])).max
    return (
        f"{_where(node)} ran over the end of {value['dtype']}, whose largest number is {spell_number(limit)}: its "
        f"operands are finite, its result is infinite. {_operands_said(node)}Use a wider dtype, or rearrange the "
        "formula (logsumexp, log_softmax, subtracting the maximum first)."
    )


def _dead_relus(nodes: Iterable[Node]) -> list[Finding]:
    found: list[Finding] = []
    more = 0
    for node in sorted(nodes, key=lambda one: one["sequence_nr"] or 0):
        if node["op"].rstrip("_") != "relu" or not _is_dead(node):
            continue
        if len(found) == LISTED:
            more += 1
            continue
        shape = next((one["value"]["shape"] for one in node["outputs"] if one["value"] is not None), [])
        message = (
            f"{_where(node)} is dead here: its whole operand of shape {spell_shape(shape)} is 0 or less, so its result "
            "and all its slopes are 0, and nothing before it gets a gradient through it. A smaller learning rate, "
            "another initialisation or leaky_relu avoids it."
        )
        found.append(_finding("dead_relu", node, None, message))
    if more:
        found[-1]["message"] += f" {more} more like this one."
    return found


def _is_dead(node: Node) -> bool:
    """Of several entries: a single one is 0 for every second input, and learns from the others."""
    value = next((one["value"] for one in node["inputs"] if one["value"] is not None), None)
    if value is not None and "summary" in value:
        top = value["summary"]["max"]
        return not _trouble(value) and isinstance(top, int | float) and top <= 0
    # A relu in place has overwritten its operand; its result says the same.
    value = value if value is not None else next((one["value"] for one in node["outputs"]), None)
    if value is None or len(value.get("data", ())) < ENTRIES_OF_A_LAYER:
        return False
    return all(isinstance(one, int | float) and one <= 0 for one in value["data"])


def _reason(node: Node, trouble: _Trouble) -> str:
    """Why this operation gives no number, where that is well known."""
    op = node["op"].strip("_")
    if op == "div":
        return "0 / 0 is NaN, anything else / 0 is infinite." if trouble.nans else "A division by 0 is infinite."
    known = {
        "sqrt": "The square root of a negative number is NaN.",
        "rsqrt": "1 / sqrt(x) is infinite at 0 and NaN below.",
        "log": "log(0) is -infinity, and NaN below 0: add a small number, or use log1p.",
        "reciprocal": "1 / 0 is infinite.",
        "acos": "acos needs -1 to 1.",
        "asin": "asin needs -1 to 1.",
        "log_softmax": "A row that is -infinity throughout has no softmax.",
        "softmax": "A row that is -infinity throughout has no softmax.",
        "pow": "A negative number has no real fractional power, and 0 has no negative one.",
    }
    return known.get(op, "")


def _finding(kind: FindingKind, node: Node, step: int | None, message: str) -> Finding:
    span: Span | None = node["span"]
    return {
        "kind": kind,
        "node": node["id"],
        "step": step,
        "span": span,
        "group": node["group"],
        "message": message.strip(),
    }


def _where(node: Node) -> str:
    span = node["span"]
    return node["name"] if span is None else f"{node['name']} (line {span['line']})"


def _operands_said(node: Node) -> str:
    said = [f"`{called(one)}` = {short}" for one in node["inputs"] if (short := _short(one["value"]))]
    return f"Here {', '.join(said)}. " if said else ""


def _said(received: Sequence[TensorValue]) -> str:
    short = _short(received[0]) if len(received) == 1 else ""
    return f" ({short})" if short else ""


def _short(value: TensorValue | None) -> str:
    data = None if value is None else value.get("data")
    if value is None or not data:
        return ""
    if len(data) == 1:
        return spell_number(data[0])
    if len(data) <= 4 and len(value["shape"]) == 1:
        return f"[{', '.join(map(spell_number, data))}]"
    return ""


def _tensors(gradients: Iterable[Any]) -> list[TensorValue]:
    return [one for one in gradients if "missing" not in one]


def _numbers(value: TensorValue) -> list[Any]:
    """Its entries, complex ones as two."""
    flat: list[Any] = []
    for entry in value.get("data", ()):
        if isinstance(entry, list):
            flat += entry
        else:
            flat.append(entry)
    return flat


def _trouble(value: TensorValue) -> _Trouble | None:
    """The entries that are no finite numbers; None where all are. Ragged values are padded with NaN."""
    if value.get("layout", "").startswith("nested"):
        return None
    if "summary" in value:
        found = _Trouble(value["summary"]["nans"], value["summary"]["infs"])
        return None if found == _FINE else found
    data: Any = value.get("data", ())
    if _PLAIN_NUMBERS.issuperset(map(type, data)):
        return None
    texts = [entry for entry in _numbers(value) if isinstance(entry, str)]
    if not texts:
        return None
    nans = texts.count("NaN")
    return _Trouble(nans, len(texts) - nans)


def _norm(value: TensorValue) -> float:
    """Euclidean; NaN where an entry is no finite number."""
    if "summary" in value:
        norm = value["summary"]["norm"]
        return math.nan if _trouble(value) or isinstance(norm, str) else float(norm)
    data: Any = value.get("data", ())
    try:
        return math.hypot(*data)
    except TypeError:
        numbers = _numbers(value)
        return math.nan if any(isinstance(one, str) for one in numbers) else math.hypot(*numbers)


def _smallest_magnitude(value: TensorValue) -> float:
    if "summary" in value:
        return 0.0 if value["summary"]["zeros"] else math.ulp(0.0)
    return min((abs(one) for one in _numbers(value) if not isinstance(one, str)), default=0.0)
