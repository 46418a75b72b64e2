"""The forward pass: which call made which node, where in the program, from which values.

A node's sequence number is the next number of its thread. So a call owns the nodes whose numbers lie
between the counter before it and the counter after it; no bookkeeping on tensors is needed, and
what C++ builds inside one call (`F.linear` is two nodes) is found by itself.
"""

import types
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import get_ident
from types import FrameType
from typing import Any, Final

import torch
from torch.overrides import TorchFunctionMode

from gradwalk.protocol.graph import GroupKind
from gradwalk.protocol.values import TensorValue
from gradwalk.tracer.arguments import tensors_in, written
from gradwalk.tracer.call_options import Options, options_of
from gradwalk.tracer.chains import Chains
from gradwalk.tracer.cuts import CutLog
from gradwalk.tracer.frames import Place, calls_directly, function_frame, snippet_frame, snippet_place
from gradwalk.tracer.identities import Identities
from gradwalk.tracer.interruption import INTERRUPTION
from gradwalk.tracer.opened import openable_body
from gradwalk.tracer.originals import (
    PROGRAM_FILES,
    Tensor,
    asked_for,
    can_have_gradient,
    frame_at,
    grad_fn_of,
    is_grad_enabled,
    sequence_number,
    version_of,
    without_torch_function,
)
from gradwalk.tracer.transforms import argument_name
from gradwalk.tracer.values import ValueTable, storage_address

_PLAIN_TYPES: Final = frozenset({torch.Tensor, torch.nn.Parameter, torch.nn.Buffer})


class Scope:
    """A stretch of the forward pass that becomes a group: a module call, a user's function, an opened composite.

    The scope of a running function of the program is kept in its frame's `f_trace`, which Python leaves alone while
    nothing traces: so one *call* is one scope, and nothing has to be told when it returns. Should a debugger look
    there after all, the scope answers as a trace function that does nothing.
    """

    __slots__ = ("base", "kind", "label", "module", "number", "parent", "place", "runs")

    def __init__(self, parent: "Scope | None", kind: GroupKind, label: str, place: Place | None) -> None:
        self.parent = parent
        self.kind = kind
        self.label = label
        self.place = place
        self.base: Scope | None = None
        """The scope of the function that was running when this one was opened."""
        self.module: weakref.ref[torch.nn.Module] | None = None
        """The nn.Module that was called."""
        self.runs = False
        """True once the module's own forward was met."""
        self.number: int | None = None
        """Of its group, once it was written out."""

    def __call__(self, _frame: FrameType, _event: str, _argument: Any) -> "Scope":
        return self


@dataclass(slots=True, eq=False)
class Call:
    """One call that built nodes."""

    scope: Scope | None
    label: str
    place: Place | None
    low: int
    high: int
    results: list[tuple[int, int]] = field(default_factory=list)
    """(sequence number, output_nr) of the differentiable results, in order."""
    arguments: list[tuple[int, bool, TensorValue]] = field(default_factory=list)
    """Identity, requires_grad and value of the tensors without grad_fn among the arguments, in order."""
    number: TensorValue | None = None
    """Only for an operation on a tensor and a plain number: the number, as the tensor that torch makes of it."""
    is_direct: bool = False
    """Whether the program's text at `place` is this call, not one that makes it."""
    count: int = 0
    """How many arguments there were, those by keyword last."""
    positions: tuple[int, ...] = ()
    """Which of them are tensors."""
    real_positions: tuple[int, ...] = ()
    """Which of these can have a gradient: masks and indices are no operands."""
    constants: dict[int, TensorValue] = field(default_factory=dict)
    """By position, the plain numbers and the tensors without grad_fn among the arguments; empty where tensors alone
    tell which is which: no masks, no indices, no numbers beside two other arguments."""
    options: Options = field(default_factory=dict)
    """What else a formula of the whole call needs."""
    parameters: list[str] | None = None
    """Only for a custom Function: the names of the forward's tensor arguments, in order."""
    function: type | None = None
    """Only for a custom Function: its class."""
    given: tuple[Any, ...] | None = None
    """Only for a custom Function of the program with small tensors: copies of its arguments, from before it ran."""
    held: dict[str, tuple[int, TensorValue]] = field(default_factory=dict)
    """Only for a custom Function: the tensors that ctx had as attributes when forward was over, identity and value."""
    operations: "list[InnerCall]" = field(default_factory=list)
    """Only for a custom Function: what its forward did."""
    as_scope: Scope | None = None
    """The group that this call becomes when it built more than one node."""


@dataclass(slots=True, eq=False)
class InnerCall:
    """One operation that ran inside a custom Function."""

    label: str
    place: Place | None
    inputs: list[TensorValue | None]
    outputs: list[TensorValue | None] = field(default_factory=list)


class CallLog:
    """What the forward pass left: scopes, calls by sequence number, values by (sequence number, output_nr)."""

    def __init__(self, values: ValueTable, kept_calls: int) -> None:
        self.values = values
        self.identities = Identities()
        self.is_listening = True
        """False while nothing listens to the forward pass."""
        self.by_sequence: dict[int, Call] = {}
        self.outputs: dict[tuple[int, int], TensorValue] = {}
        self.written: dict[tuple[int, int], tuple[Place, int | None]] = {}
        """By (sequence number, output_nr): the place whose value that is, and its index where there are several."""
        self.scope: Scope | None = None
        """The innermost open module call or composite."""
        self._opened: list[Scope] = []
        self.forwards: list[tuple[str, Place | None, tuple[Any, ...]]] = []
        """Of the custom Functions whose forward is running: its class, the call and its arguments."""
        self.inner: list[list[InnerCall]] = []
        """Innermost last: where operations inside a custom Function are listed."""
        self.chains = Chains()
        self.cuts = CutLog(self.identities)
        self.hooks: dict[object, Place | None] = {}
        """Where a tensor hook was registered; key (sequence number, output_nr) or the leaf's identity."""
        self._arguments: dict[int, str] = {}
        """Identity of a leaf that a transform made -> what the function calls the argument it stands for."""
        self._parameters: dict[int, str] = {}
        """Identity of a parameter -> its name in the first module that was called with it."""
        self.made: dict[int, tuple[str, Place]] = {}
        """Identity of a tensor that was made of numbers -> the call that made it, by name and place."""
        self.given_axis: set[int] = set()
        """Identities of tensors without a history that the program gave another axis: `t[:, None]`."""
        self._leaf_places: dict[int, Place] = {}
        """Identity of a leaf -> the call that made it."""
        self.changes: list[tuple[int, int, Place | None, str]] = []
        """In-place writes: storage address, version after, place, label."""
        self.without_result: type | None = None
        """The Function of the program whose forward last returned None."""
        self.given: tuple[Any, tuple[Any, ...]] | None = None
        """The node of a Function whose backward began last, and what that got."""
        self.returned: tuple[Any, tuple[Any, ...]] | None = None
        """The node of a Function whose backward ran last, and what that returned."""
        self._kept_calls = kept_calls
        self._thread = get_ident()

    @property
    def is_own_thread(self) -> bool:
        """False on threads that the program started: their sequence numbers begin at 0 again."""
        return get_ident() == self._thread

    def materialized(self, node: Any) -> set[int]:
        """At which outputs the backward of this node's Function got a tensor; empty for other nodes."""
        given, self.given = self.given, None
        if given is None or given[0] is not node:
            return set()
        return {slot for slot, gradient in enumerate(given[1]) if isinstance(gradient, Tensor)}

    def take_returned(self, node: Any, targets: Sequence[tuple[Any, int, Any]]) -> dict[int, torch.Tensor]:
        """By grad_input, what the backward of this node's Function returned just now; nothing for other nodes."""
        returned, self.returned = self.returned, None
        if returned is None or returned[0] is not node:
            return {}
        needed = [position for position, is_needed in enumerate(node.needs_input_grad) if is_needed]
        flowing = [argnum for argnum, (receiver, _, _) in enumerate(targets) if receiver is not None]
        if len(needed) != len(flowing):
            return {}
        pairs = zip(flowing, needed, strict=True)
        return {
            argnum: one for argnum, at in pairs if at < len(returned[1]) and isinstance(one := returned[1][at], Tensor)
        }

    def open(self, kind: GroupKind, label: str, frame: FrameType | None) -> Scope:
        """Enters a scope from the call that is running in or above `frame`."""
        inner = snippet_frame(frame)
        base = self._function_scope(inner)
        scope = Scope(self._innermost(base), kind, label, snippet_place(inner))
        scope.base = base
        self.scope = scope
        self._opened.append(scope)
        return scope

    def _innermost(self, function: Scope | None) -> Scope | None:
        """The open module or composite, where it was opened by the running function, else that function's scope."""
        opened = self.scope
        return opened if opened is not None and opened.base is function else function

    def _function_scope(self, frame: FrameType | None) -> Scope | None:
        """The scope of the innermost running function of the program, made when first asked for."""
        frame = function_frame(frame)
        if frame is None:
            return None
        known: Any = frame.f_trace
        if type(known) is Scope:
            return known
        caller = self._function_scope(frame.f_back)
        opened = self._innermost(caller)
        code = frame.f_code
        if code.co_name == "forward" and opened is not None and opened.module is not None and not opened.runs:
            # The module's own box is there already.
            opened.runs = True
            scope = opened
        else:
            scope = Scope(opened, "function", code.co_name.strip("<>"), snippet_place(frame.f_back))
        if known is None:
            frame.f_trace = scope
        return scope

    def close(self, scope: Scope) -> None:
        """Leaves `scope` and whatever was left open inside it."""
        opened = self._opened
        while opened:
            if opened.pop() is scope:
                break
        self.scope = opened[-1] if opened else None

    def note(self, label: str, arguments: Sequence[Any], result: Any, low: int, frame: FrameType | None) -> Call:
        """Enters a call that built the nodes from `low` up to now, made in or above `frame`."""
        is_direct = calls_directly(frame, label)
        frame = snippet_frame(frame)
        place = snippet_place(frame)
        call = Call(self._innermost(self._function_scope(frame)), label, place, low, sequence_number())
        by_sequence = self.by_sequence
        for number in range(low, call.high):
            if number not in by_sequence:
                by_sequence[number] = call
        self._note_arguments(call, arguments)
        if by_sequence.get(low) is call:
            # A function of Python that was opened owns no node: the call inside it does.
            call.options = options_of(label, arguments)
        is_write = result is None
        if is_write:
            result = next(tensors_in(arguments), None)
        call.is_direct = is_direct and not self._is_inside(place)
        if is_direct:
            self.note_value(result, place, is_write)
        for tensor in tensors_in((result,)):
            self._note_output(tensor, call)
            if call.high - low > 1 and tensor._base is not None:
                self._note_output(tensor._base, None)
        if len(by_sequence) > self._kept_calls:
            self._forget_oldest()
        return call

    def _note_arguments(self, call: Call, arguments: Sequence[Any]) -> None:
        value_of = self.values.value_of
        call.count = len(arguments)
        call.positions = tuple(position for position, one in enumerate(arguments) if isinstance(one, Tensor))
        call.real_positions = tuple(one for one in call.positions if can_have_gradient(arguments[one]))
        for tensor in tensors_in(arguments):
            if grad_fn_of(tensor) is None:
                call.arguments.append((self.identities.of(tensor), tensor.requires_grad, value_of(tensor)))
        if call.high - call.low != 1:
            return
        if len(arguments) != _OPERANDS or call.positions != call.real_positions:
            self._note_constants(call, arguments)
            return
        left, number = arguments
        # In `cat([a, b], 0)` the number is a dim.
        if type(number) in _WRAPPED and not isinstance(left, list | tuple):
            call.number = value_of(_tensor(number, dtype=_WRAPPED[type(number)]))

    def _note_constants(self, call: Call, arguments: Sequence[Any]) -> None:
        has_numbers = any(type(one) in _WRAPPED for one in arguments)
        if not has_numbers and call.positions == call.real_positions:
            return
        for position, one in enumerate(arguments):
            if type(one) in _WRAPPED:
                call.constants[position] = self.values.value_of(_tensor(one, dtype=_WRAPPED[type(one)]))
            elif isinstance(one, Tensor) and grad_fn_of(one) is None:
                call.constants[position] = self.values.value_of(one)

    def note_value(self, result: Any, place: Place | None, is_write: bool = False) -> None:
        """What is at `place` in the program gave `result`, or wrote into it."""
        if place is None or self._is_inside(place):
            return
        several = isinstance(result, (list, tuple))
        for position, one in enumerate(result if several else (result,)):
            if isinstance(one, Tensor) and (node := grad_fn_of(one)) is not None:
                found = WRITE if is_write else position if several else None
                self.written[node._sequence_nr(), one.output_nr] = place, found

    def _is_inside(self, place: Place | None) -> bool:
        """Whether a call at `place` has a scope that is still open."""
        return self.scope is not None and self.scope.place == place

    def note_argument(self, leaf: torch.Tensor, name: str) -> None:
        """A transform made a leaf from an argument of its function."""
        self._arguments[self.identities.of(leaf)] = name

    def argument_name(self, leaf: torch.Tensor) -> str | None:
        """What the function of a transform calls the argument that this leaf stands for; None for other leaves."""
        return self._arguments.get(self.identities.of(leaf))

    def note_parameters(self, name: str, module: torch.nn.Module) -> None:
        """A module that is called `name` here was called."""
        # It may be half made, or answer in ways of its own: it is no more than a name.
        with suppress(Exception):
            for path, parameter in torch.nn.Module.named_parameters(module):
                if isinstance(parameter, Tensor):
                    self._parameters.setdefault(self.identities.of(parameter), f"{name}.{path}")

    def parameter_name(self, leaf: torch.Tensor) -> str | None:
        """The name of a parameter in the module that was called with it first; None for other leaves."""
        return self._parameters.get(self.identities.of(leaf))

    def note_leaf(self, leaf: torch.Tensor, place: Place | None) -> None:
        """A call at `place` made a leaf."""
        if place is None:
            self._leaf_places.pop(self.identities.of(leaf), None)
        else:
            self._leaf_places[self.identities.of(leaf)] = place

    def leaf_place(self, leaf: torch.Tensor) -> Place | None:
        """The call of the program that made a leaf."""
        return self._leaf_places.get(self.identities.of(leaf))

    def forget_the_dead(self) -> None:
        """Drops what is known of tensors that are gone."""
        alive = self.identities.alive()
        for table in (self.made, self._leaf_places, self._arguments, self._parameters, self.hooks):
            for key in [key for key in table if isinstance(key, int) and key not in alive]:
                del table[key]

    def forget(self, sequence: int) -> None:
        """Drops what is known of a node that was walked and freed."""
        self.by_sequence.pop(sequence, None)

    def _note_output(self, tensor: torch.Tensor, call: Call | None) -> None:
        node = grad_fn_of(tensor)
        if node is None:
            return
        slot = (node._sequence_nr(), tensor.output_nr)
        self.outputs[slot] = self.values.value_of(tensor)
        self.chains.take(node, slot[0])
        if call is not None:
            call.results.append(slot)

    def note_constant_outputs(self, call: Call, result: Any) -> None:
        """Outputs of a custom Function without a history: its node counts them, too."""
        node = next((grad_fn_of(one) for one in tensors_in((result,)) if grad_fn_of(one) is not None), None)
        if node is None or not isinstance(result, tuple):
            return
        sequence = node._sequence_nr()
        for position, one in enumerate(result):
            if isinstance(one, Tensor) and grad_fn_of(one) is None and call.low <= sequence < call.high:
                self.outputs[sequence, position] = self.values.value_of(one)

    def _forget_oldest(self) -> None:
        for sequence in list(self.by_sequence)[: self._kept_calls // 4]:
            del self.by_sequence[sequence]
        for slot in list(self.outputs)[: self._kept_calls // 4]:
            del self.outputs[slot]
            self.written.pop(slot, None)


class CallRecorder(TorchFunctionMode):
    """Sees every torch call of the program and enters those that build nodes."""

    def __init__(self, log: CallLog, on_failure: Callable[[Exception], None]) -> None:
        super().__init__()
        self._log = log
        self._on_failure = on_failure
        self._opened: dict[Any, types.FunctionType | None] = {}

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        log = self._log
        kwargs = kwargs or {}
        if not log.is_listening:
            result = func(*args, **kwargs)
            INTERRUPTION.raise_if_due()
            return result
        try:
            opened = self._opened[func]
        except KeyError:
            asked = asked_for(func, frame_at(1))
            opened = openable_body(asked)
            if asked is func:
                self._opened[func] = opened
            func = asked
        low, target, cut = sequence_number(), None, 0
        if opened is not None and _PLAIN_TYPES.issuperset(types):
            result = self._run_opened(opened, args, kwargs)
        elif log.inner and log.is_own_thread:
            result = self._run_inside(func, args, kwargs, low)
            INTERRUPTION.raise_if_due()
            return result
        else:
            if func is _DETACH_IN_PLACE:
                cut = self._guard(log.cuts.note, func, args[:1], None, frame_at(1))
            target = written(func, args, kwargs)
            result = func(*args, **kwargs)
            if target is not None:
                self._guard(self._note_change, func, *target)
        arguments = (*args, *kwargs.values()) if kwargs else args
        if sequence_number() != low:
            self._guard(log.note, getattr(func, "__name__", "call"), arguments, result, low, frame_at(1))
        else:
            self._guard(self._note_other, func, args, result, frame_at(1))
        self._guard(log.cuts.follow, func, arguments, result, target, frame_at(1), cut)
        INTERRUPTION.raise_if_due()
        return result

    def _guard(self, note: Callable[..., Any], *arguments: Any) -> Any:
        """Our own fault must not become the program's, nor what we read be seen by its `__torch_function__`."""
        try:
            with without_torch_function():
                return note(*arguments)
        except Exception as error:  # noqa: BLE001 (see above)
            self._on_failure(error)
            return None

    def _run_opened(self, body: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs a Python-level torch function so that the calls inside it are seen too."""
        log = self._log
        name = body.__name__
        if name in BACKWARD_CALLS:
            with self:
                return body(*args, **kwargs)
        scope = log.open("composite", name, frame_at(2))
        try:
            with self:
                result = body(*args, **kwargs)
        finally:
            log.close(scope)
        if calls_directly(frame_at(2), name):
            self._guard(log.note_value, result, scope.place)
        return result

    def _run_inside(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], low: int) -> Any:
        """Runs an operation of a custom Function's forward or backward and lists it with its values."""
        log = self._log
        frame = frame_at(2)
        target = written(func, args, kwargs)
        entry = self._guard(self._inner_call, func, (*args, *kwargs.values()), frame)
        result = func(*args, **kwargs)
        if target is not None:
            self._guard(self._note_change, func, *target)
        if entry is not None:
            self._guard(self._end_inner_call, entry, result)
        arguments = (*args, *kwargs.values())
        given, results = [*tensors_in(arguments)], [*tensors_in((result,))]
        cut = 0
        if log.forwards and not is_grad_enabled():
            name, place, own = log.forwards[-1]
            cut = self._guard(log.cuts.note_of_function, "inside", name, place, given, own) or 0
        self._guard(log.cuts.sources.follow, func.__name__, arguments, given, results, target, frame, 0, cut)
        if sequence_number() != low:
            self._guard(log.note, func.__name__, args, result, low, frame)
        elif isinstance(result, Tensor) and result.requires_grad:
            self._guard(self._note_leaf, result, frame)
        return result

    def _inner_call(self, func: Callable[..., Any], arguments: Iterable[Any], frame: FrameType) -> InnerCall | None:
        label: str = getattr(func, "__name__", "call")
        place = snippet_place(frame)
        if label == "__get__" or place is None:
            return None
        return InnerCall(
            label.strip("_"), place, [self._log.values.value_of(tensor) for tensor in tensors_in(arguments)]
        )

    def _end_inner_call(self, entry: InnerCall, result: Any) -> None:
        entry.outputs = [self._log.values.value_of(tensor) for tensor in tensors_in((result,))]
        if entry.outputs and self._log.inner:
            self._log.inner[-1].append(entry)

    def _note_other(self, func: Callable[..., Any], args: tuple[Any, ...], result: Any, frame: FrameType) -> None:
        """What a call that built no node can still tell: a new leaf, a hook, a cut."""
        if isinstance(result, Tensor):
            if func in _MAKERS:
                place = snippet_place(frame)
                if place is not None:
                    self._log.made[self._log.identities.of(result)] = func.__name__, place
            if result.requires_grad:
                self._note_leaf(result, frame)
            elif (
                func.__name__ in _AXIS_MAKERS
                and args
                and result.dim() > args[0].dim()
                and calls_directly(frame, func.__name__)
            ):
                self._log.given_axis.add(self._log.identities.of(result))

    def _note_leaf(self, result: torch.Tensor, frame: FrameType) -> None:
        if grad_fn_of(result) is not None:
            return
        name = None if frame.f_code.co_filename in PROGRAM_FILES else argument_name(result, frame)
        if name is not None:
            self._log.note_argument(result, name)
        if name is not None or self._log.leaf_place(result) is None:
            self._log.note_leaf(result, snippet_place(frame))

    def _note_change(self, func: Callable[..., Any], tensor: torch.Tensor, version: int) -> None:
        changes = self._log.changes
        if version_of(tensor) != version and len(changes) < _CHANGES_KEPT:
            changes.append((storage_address(tensor), version_of(tensor), snippet_place(frame_at(3)), func.__name__))


WRITE: Final = -1
"""The position of a result that a statement wrote into: the statement's text is not what computes it."""
_OPERANDS: Final = 2
_WRAPPED: Final[dict[type, torch.dtype]] = {
    bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128,
}  # fmt: skip
"""What torch makes of a plain number among tensors."""
_AXIS_MAKERS: Final = frozenset({"__getitem__", "unsqueeze"})
_tensor: Final = torch.tensor
_MAKERS: Final = frozenset(
    {torch.tensor, torch.as_tensor, torch.asarray, torch.full, torch.scalar_tensor, torch.from_numpy}
)
_CHANGES_KEPT: Final = 1_000
_DETACH_IN_PLACE = torch.Tensor.detach_
BACKWARD_CALLS: Final = frozenset({"backward", "grad"})
