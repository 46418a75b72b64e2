"""What a program most likely did not mean, and PyTorch runs without a word.

behind_autograd   a saved tensor holds other values than the forward computed with, though its version did not change.
written_gradient  a custom backward writes into the grad_output that it was given.
no_zero_grad      a leaf's gradient was added to that of an earlier pass, although the leaf was updated in between.
broadcast         (N, 1) against (N,) gave (N, N) on the way to a scalar.
rebuilt           a tensor made anew of numbers that were read out of another one.
loss_input        a loss that takes scores was given probabilities, or one that takes their logarithms something else.
overlooked        a leaf that its module does not count among its parameters, where the program asks for these; or one
                  of a module whose `requires_grad` was set, which is nobody's attribute.
"""

import re
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import torch

from gradwalk.formulas.letters import SUBSCRIPTS
from gradwalk.protocol.events import Finding
from gradwalk.protocol.facts import Fact, Numbers, Shape, fact
from gradwalk.protocol.graph import Node, Span
from gradwalk.protocol.values import TensorValue
from gradwalk.tracer import originals
from gradwalk.tracer.calls import CallLog
from gradwalk.tracer.cuts import Cut
from gradwalk.tracer.finding import finding, measured, name_of, short
from gradwalk.tracer.naming import NamedTensors, Overlooked
from gradwalk.tracer.passes import Pass
from gradwalk.tracer.places import Places
from gradwalk.tracer.source import Program
from gradwalk.tracer.unrecorded import Unrecorded
from gradwalk.tracer.values import storage_address

LISTED: Final = 4
_ENTRIES_COMPARED: Final = 100_000
_SUBSCRIPTS: Final = frozenset(map(chr, SUBSCRIPTS.values()))
_COMPARING: Final = frozenset({"div", "mse_loss", "mul", "rsub", "smooth_l1_loss", "sub", "huber_loss"})
_ABOVE_ZERO: Final = 1e-6
"""What a logarithm of a probability may be by rounding."""
_AXIS_MAKERS: Final = frozenset({"reshape", "unsqueeze", "unsafe_view", "view"})


class SilentMistakes:
    """Looks for them in the passes of one run."""

    def __init__(self, log: CallLog, places: Places, program: Program | None, unrecorded: Unrecorded) -> None:
        self._unrecorded = unrecorded
        self._log = log
        self._places = places
        self._program = program
        self._found: list[Finding] = []
        """Of the pass that is running."""
        self._told: set[tuple[str, str]] = set()
        """Kind and what it is about: each is told once."""
        self._leaves: dict[int, _LeafHistory] = {}
        """By `id` of a leaf."""
        self._stale: list[tuple[str, Node, int, int]] = []
        """Leaves of the running pass that have an older gradient: name, node, step, the older pass."""
        self._fresh = 0
        """Leaves of the running pass that have none."""

    def note_step(self, node: Any, described: Node, index: int) -> None:
        """A step of a built-in node or a custom one: whether it still has what the forward computed with."""
        for saved in described["saved"]:
            then = saved.get("was")
            if then is None:
                continue
            key = "behind_autograd", described["id"]
            if key not in self._told and len(self._found) < LISTED:
                self._told.add(key)
                self._found.append(self._behind(node, described, index, saved, then))
            return

    def note_write(self, described: Node, index: int, before: TensorValue, now: TensorValue, span: Span | None) -> None:
        """A custom backward wrote into what the engine had given it, which other nodes may be given as well."""
        if not self._is_new("written_gradient", described["op"]):
            return
        change = _change(short(before), short(now), None if span is None else str(span["line"]))
        what = fact("finding-written-gradient", backward=f"{described['op']}.backward", change=change)
        self._found.append(finding("written_gradient", described, index, what, span))

    def _behind(self, node: Any, described: Node, index: int, saved: Any, then: TensorValue) -> Finding:
        place = self._write_to(node, saved["name"])
        what = fact(
            "finding-behind-autograd",
            node=described["name"],
            name=saved.get("alias_of") or saved["name"],
            change=_change(short(then), short(saved["value"]), self._places.line(place)),
        )
        return finding("behind_autograd", described, index, what, self._places.span(place))

    def _write_to(self, node: Any, name: str) -> Any:
        try:
            held = name.removeprefix("ctx.")
            address = storage_address(getattr(node, held if held != name else f"_saved_{name}"))
        except (AttributeError, RuntimeError, TypeError):
            return None
        return next((place for where, _, place, _ in reversed(self._log.changes) if where == address), None)

    def note_accumulation(self, leaf: torch.Tensor, before: Any, described: Node, index: int, one: Pass) -> None:
        """`.grad` of a leaf was added to."""
        known = self._leaves.get(id(leaf))
        latest = self._unrecorded.state_of(leaf)
        if latest is not None and (known is None or known.number < latest.number):
            known = _LeafHistory(latest.leaf, latest.number, latest.version, None)
        has_older = before is not None and "missing" not in before and _is_nonzero(before)
        if known is not None and has_older and known.number != one.number and known.is_updated(leaf):
            self._stale.append((described.get("leaf", described["label"]), described, index, known.number))
        elif not has_older and described.get("leaf", "")[-1:] not in _SUBSCRIPTS:
            # A leaf that is made anew in every iteration clears nothing.
            self._fresh += 1
        is_small = leaf.numel() <= _ENTRIES_COMPARED and leaf.layout is torch.strided
        values = originals.clone(originals.detach(leaf)) if is_small else None
        self._leaves[id(leaf)] = _LeafHistory(weakref.ref(leaf), one.number, leaf._version, values)

    def conclude(self, one: Pass, nodes: Sequence[Node], named: NamedTensors) -> list[Finding]:
        """What was found in a pass that is over."""
        found, self._found = self._found, []
        stale, self._stale = self._stale, []
        fresh, self._fresh = self._fresh, 0
        # Where others start anew, as the two nets of a GAN do in turn, these are cleared before they are used.
        if stale and not fresh and self._is_new("no_zero_grad", ""):
            found.append(_no_zero_grad(stale, one))
        made = {id(one["value"]): node for node in nodes for one in node["outputs"] if one["value"] is not None}
        found += self._broadcasts(one, nodes, made)
        found += self._rebuilt(one)
        found += self._loss_inputs(nodes, made)
        found += self._overlooked(one, named)
        return found

    def _is_new(self, kind: str, about: str) -> bool:
        is_new = (kind, about) not in self._told
        self._told.add((kind, about))
        return is_new

    def _broadcasts(self, one: Pass, nodes: Sequence[Node], made: Mapping[int, Node]) -> Iterable[Finding]:
        calls = [entry.record.call for entry in one.nodes.values() if entry.record.call is not None]
        meant = {id(value) for call in calls for number, _, value in call.arguments if number in self._log.given_axis}
        for node in nodes:
            if node["op"].strip("_") not in _COMPARING or len(node["inputs"]) < 2 or not node["outputs"]:
                continue
            values = [one["value"] for one in node["inputs"][:2]]
            output = node["outputs"][0]["value"]
            if output is None or any(value is None for value in values):
                continue
            flat, tall = sorted((value["shape"] for value in values if value is not None), key=len)
            if len(flat) != 1 or flat[0] < 2 or tall != [flat[0], 1] or output["shape"] != [flat[0], flat[0]]:
                continue
            column = next(value for value in values if value is not None and value["shape"] == tall)
            maker = made.get(id(column))
            is_meant = id(column) in meant or (maker is not None and maker["op"].strip("_") in _AXIS_MAKERS)
            is_target = any("edge" not in one for one in node["inputs"][:2])
            if is_target and not is_meant and self._is_new("broadcast", str(node["span"] and node["span"]["line"])):
                shapes: list[Shape] = [{"shape": shape} for shape in (tall, flat, output["shape"])]
                tall_one, flat_one, square = shapes
                what = fact("finding-broadcast", node=name_of(node), tall=tall_one, flat=flat_one, shape=square)
                yield finding("broadcast", node, None, what)

    def _rebuilt(self, one: Pass) -> Iterable[Finding]:
        made = self._log.made
        for entry in one.nodes.values():
            call, described = entry.record.call, entry.record.node
            if call is None or described is None:
                continue
            for identity, _, _ in call.arguments:
                known = made.get(identity)
                source = None if known is None else self._numbers_in(known)
                if source is None:
                    continue
                maker, cut, span = source
                if self._is_new("rebuilt", str(span["line"])):
                    what = fact("finding-rebuilt", call=maker, line=str(span["line"]), numbers=cut.call)
                    yield finding("rebuilt", described, None, what, span)

    def _loss_inputs(self, nodes: Sequence[Node], made: Mapping[int, Node]) -> Iterable[Finding]:
        for node in nodes:
            given = node["inputs"][0]["value"] if node["inputs"] else None
            what = None if given is None else _mistaken_input(node, given, made.get(id(given)))
            if what is not None and self._is_new("loss_input", str(node["span"] and node["span"]["line"])):
                yield finding("loss_input", node, None, what)

    def _overlooked(self, one: Pass, named: NamedTensors) -> Iterable[Finding]:
        program = self._program
        for entry in one.nodes.values():
            leaf, described = id(entry.record.variable), entry.record.node
            known = named.overlooked.get(leaf)
            if known is None or described is None or program is None:
                continue
            is_flag, is_parameter = known.why == "flag", leaf in named.parameters
            is_meant = ".parameters(" in program.text and known.attribute in program.attributes_of_init
            if is_flag == is_parameter and (is_flag or is_meant) and self._is_new("overlooked", str(known)):
                yield finding("overlooked", described, None, _why_overlooked(known, described.get("leaf", "")))

    def _numbers_in(self, made: tuple[str, Any]) -> tuple[str, Cut, Span] | None:
        """The cut whose numbers a call that made a tensor was given, by its text."""
        span = self._places.span(made[1])
        if span is None or self._program is None:
            return None
        text = _text_at(self._program, span)
        for cut in self._log.cuts.found:
            place = self._places.span(cut.place)
            if cut.kind != "numbers" or place is None:
                continue
            names = [name for name in self._program.target_of(place) if name]
            is_inside = (span["line"], span["column"]) <= (place["line"], place["column"]) and (
                place["end_line"], place["end_column"]) <= (span["end_line"], span["end_column"])  # fmt: skip
            if is_inside or any(re.search(rf"\b{re.escape(name)}\b", text) for name in names):
                return made[0], cut, span
        return None


class _LeafHistory(NamedTuple):
    """A leaf as it was when its gradient was last added to."""

    leaf: "weakref.ref[torch.Tensor]"
    number: int
    """Of the pass, among all that ran."""
    version: int
    values: torch.Tensor | None
    """None of a large leaf, and after a pass that was not recorded."""

    def is_updated(self, leaf: torch.Tensor) -> bool:
        if leaf is not self.leaf():
            return False
        if self.values is not None and self.values.shape == leaf.shape:
            return not torch.equal(self.values, originals.detach(leaf))
        return leaf._version != self.version


def _no_zero_grad(stale: Sequence[tuple[str, Node, int, int]], one: Pass) -> Finding:
    name, described, index, older = stale[0]
    first, second, more = str(older + 1), str(one.number + 1), len(stale) - 1
    what = (
        fact("finding-no-zero-grad-more", name=name, older=first, newer=second, count=more)
        if more
        else fact("finding-no-zero-grad", name=name, older=first, newer=second)
    )
    return finding("no_zero_grad", described, index, what, one.span)


def _why_overlooked(known: Overlooked, name: str) -> Fact:
    match known.why:
        case "flag":
            return fact("finding-module-flag", name=name, module=known.module)
        case "list":
            return fact("finding-outside-list", name=name, module=known.module, attribute=known.attribute)
        case "tensor":
            return fact("finding-outside-tensor", name=name, module=known.module, attribute=known.attribute)


def _mistaken_input(node: Node, given: TensorValue, maker: Node | None) -> Fact | None:
    """What is wrong with what a loss was given; `maker` computed it."""
    match node["op"].strip("_"), None if maker is None else maker["op"].strip("_"):
        case "log_softmax", "softmax" if maker is not None:
            return fact("finding-softmax-twice", node=name_of(node), maker=name_of(maker))
        case "binary_cross_entropy_with_logits", "sigmoid" if maker is not None:
            return fact("finding-sigmoid-twice", node=name_of(node), maker=name_of(maker))
        case (("nll_loss_forward" | "nll_loss2d_forward"), _):
            top = _largest(given)
            if top > _ABOVE_ZERO:
                return fact("finding-no-logarithms", node=name_of(node), top=measured(top))
    return None


def _largest(value: TensorValue) -> float:
    """The largest entry, infinities left out; 0 where none is known."""
    entries: Sequence[Any] = [value["summary"]["max"]] if "summary" in value else value.get("data", ())
    return max((one for one in entries if isinstance(one, int | float)), default=0.0)


def _change(was: Numbers | None, now: Numbers | None, line: str | None) -> Fact:
    """What a saved tensor holds now, written by a line or by nobody knows what."""
    if was is None or now is None:
        return fact("finding-changed") if line is None else fact("finding-changed-in-line", line=line)
    if line is None:
        return fact("finding-changed-from", was=was, now=now)
    return fact("finding-changed-from-in-line", was=was, now=now, line=line)


def _is_nonzero(value: TensorValue) -> bool:
    if "summary" in value:
        return value["summary"]["norm"] != 0
    return any(value.get("data", ()))


def _text_at(program: Program, span: Span) -> str:
    lines = program.text.splitlines()[span["line"] - 1 : span["end_line"]]
    return "\n".join(lines)
