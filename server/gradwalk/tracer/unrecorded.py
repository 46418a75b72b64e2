"""Passes that are not recorded, in a few numbers each: what they started from, how long each leaf's gradient was, and
whether the leaves were written to and their gradients cleared before.

What is read here costs every turn of a loop, so it is little: a number, two counters and a norm per leaf.
"""

import weakref
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, Final

import torch

from gradwalk.protocol.events import Between, UnrecordedCall
from gradwalk.protocol.events import Call as CallName
from gradwalk.protocol.graph import Span
from gradwalk.protocol.numbers import Real
from gradwalk.tracer import originals
from gradwalk.tracer.decimals import shortest_float32_scalar, spell_non_finite
from gradwalk.tracer.frames import Place
from gradwalk.tracer.passes import Pass
from gradwalk.tracer.places import Places

LEAVES_MAX: Final = 16
"""Whose norms are taken, and which are looked at for writes."""
ENTRIES_MAX: Final = 1_000_000
"""Of all gradients whose norms are taken."""
BATCH: Final = 256
_DIGITS: Final = 6
_norms: Final = torch._foreach_norm
_no_grad: Final = torch.no_grad


class _Call:
    """A place that starts passes."""

    def __init__(self, call: CallName, place: Place | None) -> None:
        self.call = call
        self.place = place
        self.output: str | None = None
        self.leaves: list[tuple[str, weakref.ref[torch.Tensor]]] = []


class LeafState:
    """A leaf after the latest pass that led to it."""

    __slots__ = ("grad_version", "leaf", "number", "version")

    def __init__(self, leaf: torch.Tensor, grad: torch.Tensor | None, number: int) -> None:
        self.leaf = weakref.ref(leaf)
        self.note(leaf, grad, number)

    def note(self, leaf: torch.Tensor, grad: torch.Tensor | None, number: int) -> None:
        """`number` is the pass's, among all that ran."""
        self.number = number
        self.version = leaf._version
        self.grad_version = None if grad is None else grad._version


class Unrecorded:
    """Of one run: hears of every pass, tells of those that were not recorded."""

    def __init__(self, places: Places, send: Callable[[dict[str, Any]], None]) -> None:
        self._places = places
        self._send = send
        self._calls: dict[object, _Call] = {}
        self._states: dict[int, LeafState] = {}
        """By the `id` of a leaf."""
        self._first = 0
        self._of: list[_Call] = []
        self._started_from: list[Real | None] = []
        self._norms: list[tuple[Sequence[int], Sequence[torch.Tensor]] | None] = []
        """Per pass, the positions of the leaves that have a gradient, and its norms."""
        self._between: dict[Between, list[int]] = {"step": [], "zero_grad": []}

    def between(self) -> list[Between]:
        """What was done to the leaves since the pass before."""
        is_stepped = is_cleared = False
        gone = []
        for key, state in self._states.items():
            leaf = state.leaf()
            if leaf is None:
                gone.append(key)
                continue
            is_stepped = is_stepped or leaf._version != state.version
            if not is_cleared and state.grad_version is not None:
                grad = leaf.grad
                is_cleared = grad is None or (grad._version != state.grad_version and not grad.count_nonzero())
        for key in gone:
            del self._states[key]
        found: list[Between] = []
        if is_stepped:
            found.append("step")
        if is_cleared:
            found.append("zero_grad")
        return found

    def state_of(self, leaf: torch.Tensor) -> LeafState | None:
        """The leaf after the latest pass that led to it, where that is known."""
        state = self._states.get(id(leaf))
        return state if state is not None and state.leaf() is leaf else None

    def is_new(self, one: Pass) -> bool:
        """Whether no pass has started where this one starts."""
        return _key(one) not in self._calls

    def learn(self, one: Pass, leaves: Sequence[tuple[str, torch.Tensor]]) -> None:
        """These are the leaves that passes from this place lead to."""
        call = self._call(one)
        call.output = one.name
        if sum(leaf.numel() for _, leaf in leaves) <= ENTRIES_MAX:
            call.leaves = [(name, weakref.ref(leaf)) for name, leaf in leaves[:LEAVES_MAX]]

    def note_recorded(self, one: Pass, leaves: Sequence[tuple[str, torch.Tensor]]) -> None:
        """A recorded pass is over."""
        self.learn(one, leaves)
        for _, leaf in leaves[:LEAVES_MAX]:
            self._note_state(leaf, leaf.grad, one.number)

    def note(self, one: Pass, outputs: Sequence[Any]) -> Callable[[], None]:
        """A pass that is not recorded begins; what this gives is called at its end."""
        if len(self._of) >= BATCH:
            self.flush()
        call = self._call(one)
        if not self._of:
            self._first = one.number
        for kind in self.between():
            self._between[kind].append(one.number)
        self._of.append(call)
        self._started_from.append(_number_in(outputs))
        self._norms.append(None)
        at = len(self._norms) - 1
        norms = self._norms

        def end() -> None:
            if one.call != "grad" and call.leaves:
                norms[at] = self._read_gradients(call, one.number)

        return end

    def _call(self, one: Pass) -> _Call:
        key = _key(one)
        found = self._calls.get(key)
        if found is None:
            found = self._calls[key] = _Call(one.call, one.place)
        return found

    def _note_state(self, leaf: torch.Tensor, grad: torch.Tensor | None, number: int) -> None:
        state = self.state_of(leaf)
        if state is None:
            self._states[id(leaf)] = LeafState(leaf, grad, number)
        else:
            state.note(leaf, grad, number)

    def _read_gradients(self, one: _Call, number: int) -> tuple[list[int], Sequence[torch.Tensor]]:
        positions: list[int] = []
        gradients: list[torch.Tensor] = []
        for position, (_, known) in enumerate(one.leaves):
            leaf = known()
            if leaf is None:
                continue
            grad = leaf.grad
            self._note_state(leaf, grad, number)
            if grad is not None and grad.layout is torch.strided:
                positions.append(position)
                gradients.append(grad)
        with _no_grad():
            return positions, _norms(gradients, 2, torch.float64) if gradients else ()

    def flush(self) -> None:
        """Tells of the passes since the last time."""
        if not self._of:
            return
        calls = list(dict.fromkeys(self._of))
        told: dict[str, Any] = {
            "seq": 0,
            "type": "unrecorded",
            "first": self._first,
            "calls": [self._told(one) for one in calls],
            "of": [calls.index(one) for one in self._of],
            "started_from": self._started_from,
            "norms": self._read_norms(),
            "between": self._between,
        }
        self._of, self._started_from, self._norms = [], [], []
        self._between = {"step": [], "zero_grad": []}
        self._send(told)

    def _told(self, one: _Call) -> UnrecordedCall:
        span: Span | None = self._places.span(one.place)
        return {"call": one.call, "span": span, "output": one.output, "leaves": [name for name, _ in one.leaves]}

    def _read_norms(self) -> list[list[Real | None]]:
        """Per pass, one for each leaf of its call; all are read in one go."""
        tensors = [tensor for read in self._norms if read is not None for tensor in read[1]]
        numbers = iter(torch.stack(tensors).tolist() if tensors else ())
        found: list[list[Real | None]] = []
        for one, read in zip(self._of, self._norms, strict=True):
            of_pass: list[Real | None] = [None] * len(one.leaves)
            for position in () if read is None else read[0]:
                of_pass[position] = _rounded(next(numbers))
            found.append(of_pass)
        return found


def _key(one: Pass) -> object:
    return one.call if one.place is None else (one.call, id(one.place[0]), one.place[1])


def _number_in(outputs: Sequence[Any]) -> Real | None:
    """The number that a pass starts from, where it is a single real one."""
    if len(outputs) != 1:
        return None
    output = outputs[0]
    if not isinstance(output, originals.Tensor) or originals.is_functorch_wrapped(output) or output.numel() != 1:
        return None
    try:
        number: Any = originals.detach(output).item()
    except RuntimeError:
        return None
    if not isinstance(number, float):
        return None
    return shortest_float32_scalar(number) if output.dtype == torch.float32 else spell_non_finite(number)


def _rounded(number: float) -> Real:
    return float(f"{number:.{_DIGITS}g}") if isfinite(number) else spell_non_finite(number)
