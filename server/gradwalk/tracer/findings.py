"""What stands out in the numbers of a pass, said once it is over.

first_non_finite   the first value (going forward), and the first gradient (going backward), that holds NaN or an
                   infinity although nothing that went into it does.
overflow           a value that became infinite because its dtype ends: finite operands of an operation without poles.
vanishing          a leaf's gradient whose norm is below `FAINTER` times the largest norm on its way; or a saturated
                   activation that returned exactly 0 for a gradient that was not.
exploding          a leaf's gradient whose norm is above `LOUDER` times that of the v that its way began with.
dead_relu          a relu whose whole operand is 0 or less: every slope is 0, so nothing before it learns.
wrong_backward     a custom backward that is not the derivative of its forward, by finite differences.
cut_derivative     see `second_derivatives`.

A leaf's way is followed back along the largest contribution at each node. Norms are Euclidean, over all entries. All
of it is read off what was recorded, so the same trace has the same findings.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import torch

from gradwalk.protocol.events import Contribution, Finding, FindingKind
from gradwalk.protocol.graph import Node, Span
from gradwalk.protocol.values import TensorValue
from gradwalk.tracer.second_derivatives import Cut
from gradwalk.tracer.spelling import spell_number, spell_shape

FAINTER: Final = 1e-4
LOUDER: Final = 1e4
LISTED: Final = 8
_NORMS_KEPT: Final = 4_096
"""Findings of one kind."""

_WITHOUT_POLES: Final = frozenset(
    {"add", "addmm", "addmv", "baddbmm", "bmm", "cosh", "cumprod", "cumsum", "dot", "exp", "exp2", "expm1", "mm", "mul",
     "mv", "pow", "prod", "sinh", "square", "sub", "sum", "_to_copy", "to_copy"}
)  # fmt: skip
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


class _End(NamedTuple):
    """Of the way from the start of the pass to a step."""

    start: float
    """The norm it began with."""
    top: float
    """The largest norm on it."""
    is_start: bool
    """The way is this one step."""


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
        self._norms: dict[int, tuple[TensorValue, float]] = {}
        """By identity, which the value kept beside it makes sure of."""

    def note(self, event: Mapping[str, Any], described: Node) -> None:
        """A step, in the order of the engine."""
        index, identity = event["index"], described["id"]
        received = _tensors(event["grad_outputs"])
        norms = [self._norm(value) for value in received]
        norm = norms[0] if len(norms) == 1 else math.hypot(*norms)
        self.steps[index] = _Step(identity, norm, self._largest_source(event["contributions"]))
        self.steps_of[identity] = index
        self._nodes[identity] = described
        if described["kind"] == "accumulate_grad":
            self._leaves.append(index)
            return
        if described["kind"] == "custom":
            self._note_differences(event, described)
        returned = [self._norm(value) for value in _tensors(event["grad_inputs"])]
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

    def _largest_source(self, contributions: Sequence[Contribution]) -> int | None:
        """The step that handed over the largest contribution."""
        if len(contributions) == 1:
            return None if "missing" in contributions[0]["value"] else contributions[0]["from_step"]
        source, largest = None, None
        for one in contributions:
            value = one["value"]
            if "missing" in value:
                continue
            norm = self._norm(value)
            if largest is None or norm > largest:
                source, largest = one["from_step"], norm
        return source

    def locate(self, findings: list[Finding]) -> list[Finding]:
        """Findings about nodes, with the step in which each node ran."""
        for one in findings:
            one["step"] = self.steps_of.get(one["node"] or "")
        return findings

    def of_gradients(self) -> list[Finding]:
        """What the gradients of the whole pass show."""
        found = [] if self._first is None else [self._first]
        ends = self._ends() if self._leaves else {}
        faintest = self._extreme("vanishing", ends, lambda norm, end: norm / end.top, FAINTER)
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
                f"{_said(received)}, what it returns for `{operand['name']}` has {_trouble(value)}. "
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
        for at, (_, norm, before) in self.steps.items():
            # Whatever a step says of itself, a way only leads backwards.
            known = ends.get(before) if before is not None and before < at else None
            if known is None:
                ends[at] = _End(norm, norm, is_start=True)
            else:
                ends[at] = _End(known.start, norm if norm > known.top else known.top, is_start=False)
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
        return None if worst is None else self._spell_extreme(kind, worst[0], self._way(worst[1]))

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


def _forward_findings(nodes: Iterable[Node]) -> list[Finding]:
    """The first value that is no finite number, and what ran over the end of its dtype, in the program's order."""
    found: list[Finding] = []
    overflows: list[Finding] = []
    ordered = sorted(nodes, key=lambda node: -1 if node["sequence_nr"] is None else node["sequence_nr"])
    for node in ordered:
        outputs = [one["value"] for one in node["outputs"] if one["value"] is not None]
        troubles = [trouble for trouble in map(_trouble, outputs) if trouble]
        if not troubles:
            continue
        operands = [one["value"] for one in node["inputs"] if one["value"] is not None]
        if any(map(_trouble, operands)):
            continue
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
    value = next((one["value"] for one in node["inputs"] if one["value"] is not None), None)
    if value is not None and "summary" in value:
        top = value["summary"]["max"]
        return not _trouble(value) and isinstance(top, int | float) and top <= 0
    # A relu in place has overwritten its operand; its result says the same.
    value = value if value is not None else next((one["value"] for one in node["outputs"]), None)
    if value is None or not value.get("data"):
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
    said = [f"`{one['name']}` = {short}" for one in node["inputs"] if (short := _short(one["value"]))]
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
