"""A node's forward, run again: the call that built it is caught in a replay, and repeated with other operands.

A custom Function is repeated by its own `apply`. A built-in call may build several nodes (`F.linear` is a transpose
and an addmm), so the call is run once more below autograd, where each operation is seen while its node is being
built; that one operation is what is repeated. All of it happens on copies, in double precision.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from gradwalk.formulas.derivatives import derivative_line, operand_names
from gradwalk.protocol.facts import Fact, fact
from gradwalk.tracer import originals
from gradwalk.tracer.custom import parameter_names
from gradwalk.tracer.originals import Tensor, sequence_number
from gradwalk.tracer.patches import around_functions

_WIDER: Final = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex32: torch.complex128,
    torch.complex64: torch.complex128,
}
_get_rng_state, _set_rng_state = torch.get_rng_state, torch.set_rng_state


class CannotRepeat(Exception):  # noqa: N818 (said in an answer)
    """Why a program, or a node's forward by itself, cannot be run again to be compared with."""

    def __init__(self, why: Fact) -> None:
        super().__init__(why["kind"])
        self.why = why


class Forward(NamedTuple):
    """One node's forward as a function of its differentiable operands."""

    names: Sequence[str]
    operands: list[torch.Tensor]
    """In the order of `next_functions`, with the values of the run."""
    run: Callable[[Sequence[torch.Tensor]], list[torch.Tensor | None]]
    """Operands in double precision to outputs by `output_nr`, None for what is no floating-point tensor."""
    run_again: Callable[[], list[torch.Tensor | None]]
    """The outputs once more in the program's own dtypes."""


class CaughtCall(NamedTuple):
    """A call of the program, with copies of its arguments as they were before it."""

    function: Any
    """A torch function, or a subclass of `autograd.Function`."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    low: int
    """The sequence number of the first node it built."""
    random_state: torch.Tensor


class Catcher(TorchFunctionMode):
    """Catches the innermost call that builds the node with one sequence number.

    Use `catching` before the recorder's own mode is entered, so that it sees the calls inside opened composites.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sequence: int | None = None
        """Of the node in question; nothing is caught while it is None."""
        self.caught: CaughtCall | None = None

    @contextmanager
    def catching(self) -> Iterator[None]:
        """Catches inside, Functions as well as torch's own calls."""
        with around_functions(self._catch), self:
            yield

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return self._catch(func, func, args, kwargs or {})

    def _catch(self, function: Any, run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        low = sequence_number()
        if self.sequence is None or self.caught is not None or low > self.sequence:
            return run(*args, **kwargs)
        state = _get_rng_state()
        with originals.without_torch_function():
            copied_args, copied_kwargs = tree_map(_copied, (args, kwargs))
        result = run(*args, **kwargs)
        if self.caught is None and low <= self.sequence < sequence_number():
            self.caught = CaughtCall(function, copied_args, copied_kwargs, low, state)
        return result


def forward_of(node: Any, catcher: Catcher) -> Forward:
    """The forward of a live node whose call was caught.

    Raises:
        CannotRepeat: the call was not seen, or this node is not the whole of any operation that can be repeated.
    """
    call = catcher.caught
    if call is None or catcher.sequence is None:
        raise CannotRepeat(fact("check-no-call", op=node.name()))
    if isinstance(call.function, type):
        return _custom_forward(node, call)
    return _operation_forward(node, call, catcher.sequence)


def _custom_forward(node: Any, call: CaughtCall) -> Forward:
    positions = [position for position, argument in enumerate(call.args) if isinstance(argument, Tensor)]
    if len(positions) != len(node.next_functions):
        raise CannotRepeat(fact("check-other-tensors"))

    def run(operands: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
        given = [wider(argument) for argument in call.args]
        for position, operand in zip(positions, operands, strict=True):
            given[position] = operand
        with in_double():
            return only_wide(apply(given))

    def apply(given: Sequence[Any]) -> list[torch.Tensor | None]:
        with _repeated(call), torch.enable_grad():
            # Not leaves, so that a forward may write into them; requiring grad, so that ctx says what it said.
            flowing = [
                one.detach().requires_grad_(call.args[at].requires_grad).clone() if at in positions else one
                for at, one in enumerate(given)
            ]
            returned = call.function.apply(*flowing, **call.kwargs)
        return floating(returned)

    names = parameter_names(call.function, len(call.args))
    operands = [call.args[position] for position in positions]
    return Forward([names[position] for position in positions], operands, run, lambda: apply(call.args))


def _operation_forward(node: Any, call: CaughtCall, sequence: int) -> Forward:
    name = node.name().removeprefix("torch::autograd::")
    entry = derivative_line(name)
    if entry is None:
        raise CannotRepeat(fact("check-no-operation", op=name))
    operation, args, kwargs = _isolated(call, sequence, entry.op)
    names = operand_names(name, len(node.next_functions))
    parameters = [argument.name for argument in operation._schema.arguments]
    slots = [_slot_of(one, parameters, args, kwargs) for one in names]

    def run(operands: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
        positional = [list(one) if isinstance(one, (list, tuple)) else one for one in tree_map(wider, args)]
        named = tree_map(wider, kwargs)
        for (position, member), operand in zip(slots, operands, strict=True):
            holder: Any = positional if isinstance(position, int) else named
            if member is None:
                holder[position] = operand
            else:
                holder[position] = [*holder[position]]
                holder[position][member] = operand
        return only_wide(repeat(positional, named))

    def repeat(positional: Sequence[Any], named: dict[str, Any]) -> list[torch.Tensor | None]:
        with _repeated(call), torch.no_grad():
            # Indices and the like are no outputs of a node.
            return [one for one in floating(operation(*positional, **named)) if one is not None]

    def run_again() -> list[torch.Tensor | None]:
        return repeat(*tree_map(_copied, (args, kwargs)))

    return Forward(names, [_at(slot, args, kwargs) for slot in slots], run, run_again)


class _Isolation(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Below autograd: the operation that runs while the node in question is the latest one built."""

    def __init__(self, sequence: int, op: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._sequence = sequence
        # With a mode below autograd, torch spells this view in its other way.
        self._op = "view" if op == "_reshape_alias" else op.rstrip("_")
        self.found: tuple[Any, tuple[Any, ...], dict[str, Any]] | None = None

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if self.found is None and sequence_number() - 1 == self._sequence:
            name = func._schema.name.partition("::")[2]
            if name.rstrip("_") == self._op:
                self.found = (func, *tree_map(_copied, (args, kwargs)))
        return func(*args, **kwargs)


def _isolated(call: CaughtCall, sequence: int, op: str) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The operation that built one node of a call."""
    low = sequence_number()
    isolation = _Isolation(low + sequence - call.low, op)
    args, kwargs = tree_map(_copied, (call.args, call.kwargs))
    # A write into a leaf is refused, into a copy of it not. A copy takes a sequence number, so count anew.
    with torch.enable_grad(), originals.without_torch_function(), _repeated(call):
        args, kwargs = tree_map(_as_intermediate, (args, kwargs))
        isolation._sequence += sequence_number() - low
        with isolation:
            call.function(*args, **kwargs)
    if isolation.found is None:
        raise CannotRepeat(fact("check-several-nodes", op=op))
    return isolation.found


@contextmanager
def in_double() -> Iterator[None]:
    """Inside, what a forward makes without a dtype is of double precision, as its operands are."""
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(default)


@contextmanager
def _repeated(call: CaughtCall) -> Iterator[None]:
    """With the random numbers of the first time."""
    state = _get_rng_state()
    _set_rng_state(call.random_state)
    try:
        yield
    finally:
        _set_rng_state(state)


_Slot = tuple[int | str, int | None]
"""Position or keyword of an argument, and the member where it is a list."""


def _slot_of(name: str, parameters: Sequence[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Slot:
    base, bracket, member = name.partition("[")
    tensors = [position for position, argument in enumerate(args) if isinstance(argument, Tensor)]
    if base not in parameters and len(tensors) == 1:
        return tensors[0], None
    if base not in parameters:
        raise CannotRepeat(fact("check-unclear", name=name))
    position = parameters.index(base)
    key: int | str = position if position < len(args) else base
    slot = (key, int(member.rstrip("]")) if bracket else None)
    try:
        found = _at(slot, args, kwargs)
    except (LookupError, TypeError) as error:
        raise CannotRepeat(fact("check-not-given", name=name)) from error
    if not isinstance(found, Tensor):
        raise CannotRepeat(fact("check-no-tensor", name=name))
    return slot


def _at(slot: _Slot, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    position, member = slot
    found = args[position] if isinstance(position, int) else kwargs[position]
    return found if member is None else found[member]


def _copied(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    copy = originals.clone(originals.detach(value))
    return copy.requires_grad_(value.requires_grad) if value.requires_grad else copy


def _as_intermediate(value: Any) -> Any:
    return originals.clone(value) if isinstance(value, Tensor) and value.requires_grad else value


def wider(value: Any) -> Any:
    """A copy: floating-point tensors, and requests for a floating-point dtype, in double precision."""
    if isinstance(value, Tensor):
        copy = originals.clone(originals.detach(value))
        dtype = _WIDER.get(value.dtype)
        return copy if dtype is None else copy.to(dtype)
    return _WIDER.get(value, value) if isinstance(value, torch.dtype) else value


def floating(returned: Any) -> list[torch.Tensor | None]:
    """What a forward returned, by output; None for what is no floating-point tensor."""
    outputs = returned if isinstance(returned, (tuple, list)) else (returned,)
    return [originals.detach(one) if is_differentiable(one) else None for one in outputs]


def only_wide(outputs: list[torch.Tensor | None]) -> list[torch.Tensor | None]:
    """The outputs, if all are in double precision.

    Raises:
        CannotRepeat: one is not.
    """
    for one in outputs:
        if one is not None and one.dtype in _WIDER:
            raise CannotRepeat(fact("check-coarse", dtype=str(one.dtype).removeprefix("torch.")))
    return outputs


def is_differentiable(value: Any) -> bool:
    """Whether it is a tensor of a dtype that has gradients."""
    return isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex())
