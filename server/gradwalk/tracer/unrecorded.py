"""Passes that are not recorded, in a few numbers each: what they started from, how long each leaf's gradient was, and
whether the leaves were written to and their gradients cleared before.

What is read here costs every turn of a loop, so it is little: a number, two counters and a norm per leaf. Small
gradients are only copied, into one tensor; their norms are taken of many passes at once.
"""

import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from math import isfinite
from typing import Any, Final, NamedTuple

import numpy as np
import torch

from gradwalk.protocol.events import Between, UnrecordedCall
from gradwalk.protocol.events import Call as CallName
from gradwalk.protocol.graph import Span
from gradwalk.protocol.numbers import Real
from gradwalk.tracer import originals
from gradwalk.tracer.decimals import shortest_float32, spell_non_finite
from gradwalk.tracer.frames import Place
from gradwalk.tracer.passes import Pass
from gradwalk.tracer.places import Places
from gradwalk.tracer.snapshot import has_numbers

LEAVES_MAX: Final = 16
"""Whose norms are taken, and which are looked at for writes."""
ENTRIES_MAX: Final = 1_000_000
"""Of all gradients whose norms are taken."""
ENTRIES_COPIED: Final = 4_096
"""Of one pass's gradients, where they are copied."""
BATCH: Final = 256
_DIGITS: Final = 6
_norms, _norm, _flatten = torch._foreach_norm, torch.linalg.vector_norm, torch._C._nn.flatten_dense_tensors
_set_grad_enabled, _STRIDED, _FLOAT32 = torch._C._set_grad_enabled, torch.strided, torch.float32
_item, _count_of = torch._C.TensorBase.item, torch._C.TensorBase.numel
_layout_of, _dtype_of = (vars(torch._C.TensorBase)[name].__get__ for name in ("layout", "dtype"))
_WIDE: Final = dict.fromkeys((torch.complex32, torch.complex64, torch.complex128), torch.complex128)


class _Read(NamedTuple):
    """The gradients after one pass."""

    positions: Sequence[int]
    """Of the leaves that have one."""
    sizes: tuple[int, ...]
    """How many entries each has."""
    copied: torch.Tensor | None
    """All entries, one gradient after the other; None where there are many."""
    norms: Sequence[torch.Tensor]
    """Then these."""


class _Output(NamedTuple):
    """The number that a pass starts from."""

    number: float
    is_float32: bool


class _Call:
    """A place that starts passes."""

    def __init__(self, call: CallName, place: Place | None) -> None:
        self.call = call
        self.place = place
        self.output: str | None = None
        self.leaves: list[tuple[str, weakref.ref[torch.Tensor]]] = []
        self.states: list[LeafState] | None = None
        """Of these leaves; None where a pass from here has not ended yet."""


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
        self._outputs: list[_Output | None] = []
        self._read: list[_Read | None] = []
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
            call.states = None

    def note_recorded(self, one: Pass, leaves: Sequence[tuple[str, torch.Tensor]]) -> None:
        """A recorded pass is over."""
        self.learn(one, leaves)
        for _, leaf in leaves[:LEAVES_MAX]:
            self._note_state(leaf, one.number)

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
        self._outputs.append(_number_in(outputs))
        self._read.append(None)
        at = len(self._read) - 1
        read = self._read

        def end() -> None:
            if one.call != "grad" and call.leaves:
                read[at] = self._read_gradients(call, one.number)

        return end

    def _call(self, one: Pass) -> _Call:
        key = _key(one)
        found = self._calls.get(key)
        if found is None:
            found = self._calls[key] = _Call(one.call, one.place)
        return found

    def _note_state(self, leaf: torch.Tensor, number: int) -> LeafState:
        state = self.state_of(leaf)
        if state is None:
            state = self._states[id(leaf)] = LeafState(leaf, leaf.grad, number)
        else:
            state.note(leaf, leaf.grad, number)
        return state

    def _read_gradients(self, call: _Call, number: int) -> _Read:
        if call.states is None:
            leaves = [known() for _, known in call.leaves]
            call.leaves = [one for one, leaf in zip(call.leaves, leaves, strict=True) if leaf is not None]
            call.states = [self._note_state(leaf, number) for leaf in leaves if leaf is not None]
        positions: list[int] = []
        gradients: list[torch.Tensor] = []
        for position, state in enumerate(call.states):
            leaf = state.leaf()
            if leaf is None:
                continue
            grad = leaf.grad
            state.note(leaf, grad, number)
            if grad is not None and _layout_of(grad) is _STRIDED and has_numbers(grad) and _has_memory(grad):
                positions.append(position)
                gradients.append(grad)
        sizes = tuple(map(_count_of, gradients))
        if not sizes:
            return _Read((), (), None, ())
        # What torch.no_grad does, in a tenth of its time.
        was_enabled = originals.is_grad_enabled()
        _set_grad_enabled(False)
        try:
            if sum(sizes) <= ENTRIES_COPIED:
                return _Read(positions, sizes, _flatten(gradients), ())
            return _Read(positions, sizes, None, _norms(gradients, 2, torch.float64))
        finally:
            _set_grad_enabled(was_enabled)

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
            "outputs": _spelled(self._outputs),
            "norms": self._spelled_norms(),
            "between": self._between,
        }
        self._of, self._outputs, self._read = [], [], []
        self._between = {"step": [], "zero_grad": []}
        self._send(told)

    def _told(self, one: _Call) -> UnrecordedCall:
        span: Span | None = self._places.span(one.place)
        return {"call": one.call, "span": span, "output": one.output, "leaves": [name for name, _ in one.leaves]}

    def _spelled_norms(self) -> list[list[Real | None]]:
        """Per pass, one for each leaf of its call."""
        with torch.no_grad():
            found = _norms_of([read for read in self._read if read is not None])
        rounded = iter(_rounded([norm for norms in found for norm in norms]))
        spelled: list[list[Real | None]] = []
        for one, read in zip(self._of, self._read, strict=True):
            of_pass: list[Real | None] = [None] * len(one.leaves)
            for position in () if read is None else read.positions:
                of_pass[position] = next(rounded)
            spelled.append(of_pass)
        return spelled


def _has_memory(tensor: torch.Tensor) -> bool:
    """Not so, as a rule, where the class has a `__torch_dispatch__`, which computes with other tensors."""
    return type(tensor).__torch_dispatch__ is originals.Tensor.__torch_dispatch__


def _norms_of(reads: Sequence[_Read]) -> list[Sequence[float]]:
    """Per pass, the norms of its gradients; all passes with gradients of the same sizes are read in one go."""
    found: list[Sequence[float]] = [()] * len(reads)
    alike: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
    for at, read in enumerate(reads):
        if read.sizes:
            alike[read.sizes, None if read.copied is None else read.copied.dtype].append(at)
    for (sizes, dtype), places in alike.items():
        if dtype is None:
            norms = torch.stack([norm for at in places for norm in reads[at].norms]).reshape(len(places), -1)
        else:
            copies = [copied for at in places if (copied := reads[at].copied) is not None]
            rows = torch.stack(copies).to(_WIDE.get(dtype, torch.float64))
            ends = pairwise(accumulate(sizes, initial=0))
            norms = torch.stack([_norm(rows[:, start:end], dim=1) for start, end in ends], dim=1)
        for at, of_pass in zip(places, norms.tolist(), strict=True):
            found[at] = of_pass
    return found


def _key(one: Pass) -> object:
    return one.call if one.place is None else (one.call, id(one.place[0]), one.place[1])


def _number_in(outputs: Sequence[Any]) -> _Output | None:
    """The number that a pass starts from, where it is a single real one."""
    if len(outputs) != 1:
        return None
    output = outputs[0]
    if not isinstance(output, originals.Tensor) or originals.is_functorch_wrapped(output) or _count_of(output) != 1:
        return None
    try:
        number = _item(output)
    except RuntimeError:
        return None
    return _Output(number, _dtype_of(output) is _FLOAT32) if isinstance(number, float) else None


def _spelled(outputs: Iterable[_Output | None]) -> list[Real | None]:
    known = [*outputs]
    short = iter(shortest_float32(np.array([one.number for one in known if one and one.is_float32], np.float32)))
    return [None if one is None else next(short) if one.is_float32 else spell_non_finite(one.number) for one in known]


def _rounded(numbers: Sequence[float]) -> list[Real]:
    if all(map(isfinite, numbers)):
        return [*map(float, (f"%.{_DIGITS}g " * len(numbers) % tuple(numbers)).split())]
    return [float(f"{one:.{_DIGITS}g}") if isfinite(one) else spell_non_finite(one) for one in numbers]
