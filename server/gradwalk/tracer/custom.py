"""Custom `autograd.Function`s: which call made the node, what its forward's arguments are called, what it saves."""

import ast
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from types import FrameType
from typing import Any, Final

import torch
from torch.autograd.function import BackwardCFunction, once_differentiable

from gradwalk.protocol.graph import Span
from gradwalk.protocol.values import TensorValue
from gradwalk.tracer.arguments import tensors_in
from gradwalk.tracer.calls import CallLog
from gradwalk.tracer.frames import snippet_place
from gradwalk.tracer.originals import (
    PROGRAM_FILES,
    Tensor,
    clone,
    detach,
    frame_at,
    grad_fn_of,
    innermost,
    is_functorch_wrapped,
    is_grad_enabled,
    sequence_number,
    without_torch_function,
)
from gradwalk.tracer.patches import replaced
from gradwalk.tracer.source import Program

ENTRIES_KEPT: Final = 65_536
"""Of the tensors that a Function got, together."""
_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_CONSTANTS: Final = (int, float, complex, str, type(None), torch.dtype)


@contextmanager
def seen_functions(log: CallLog, on_failure: Callable[[Exception], None]) -> Iterator[None]:
    """Inside, calls of `autograd.Function`s, which no function mode sees, are entered as well."""
    original = torch.autograd.Function.__dict__["apply"]
    run_backward: Any = BackwardCFunction.apply

    def apply(cls: type, *args: Any, **kwargs: Any) -> Any:
        if not log.is_listening:
            return original.__get__(None, cls)(*args, **kwargs)
        low = sequence_number()
        is_users = is_users_function(cls)
        operations: list[Any] = []
        given, bound = None, _positional(cls, args, kwargs)
        if is_users:
            given = small_copies(bound)
            log.inner.append(operations)
            # Under no_grad the program itself leaves the graph.
            place = snippet_place(frame_at(1)) if is_grad_enabled() else None
            log.forwards.append((cls.__name__, place, bound))
        try:
            result = original.__get__(None, cls)(*args, **kwargs)
        finally:
            if is_users:
                log.inner.pop()
                log.forwards.pop()
        try:
            if sequence_number() != low:
                call = log.note(cls.__name__, bound, result, low, frame_at(1))
                call.function, call.parameters = cls, forward_parameters(cls, bound)
                call.given, call.operations, call.held = given, operations, _held(log, result)
                log.note_constant_outputs(call, result)
            _follow(log, cls, bound, result, frame_at(1))
        except Exception as error:  # noqa: BLE001 (our own fault must not become the program's)
            on_failure(error)
        return result

    def apply_backward(node: Any, *args: Any) -> Any:
        result = run_backward(node, *args)
        if not log.is_listening:
            return result
        log.given = (node, args)
        log.returned = (node, result if isinstance(result, tuple) else (result,))
        return result

    # Messages of torch name it.
    named = update_wrapper(apply, original.__func__)
    of_classes = replaced(lambda: torch.autograd.Function, "apply", classmethod(named))
    with of_classes, replaced(lambda: BackwardCFunction, "apply", apply_backward):
        yield


def _positional(function: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of a call in the order of forward's, as the node has them."""
    if not kwargs:
        return args
    forward: Any = getattr(function, "forward", None)
    context = () if _is_context_apart(function) else (None,)
    try:
        return inspect.signature(forward).bind(*context, *args, **kwargs).args[len(context) :]
    except (TypeError, ValueError):
        return (*args, *kwargs.values())


def _is_context_apart(function: type) -> bool:
    return getattr(function, "setup_context", None) is not torch.autograd.Function.setup_context


def _follow(log: CallLog, function: type, args: tuple[Any, ...], result: Any, frame: FrameType) -> None:
    """Enters what a Function kept out of the graph; lists and dicts are neither arguments nor outputs to autograd."""
    cuts = log.cuts
    if result is None and is_users_function(function):
        log.without_result = function
    if is_grad_enabled():
        name, place = function.__name__, snippet_place(frame)
        if isinstance(result, list | dict):
            cuts.note_of_function("listed", name, place, args)
        if not any(isinstance(one, Tensor) and one.requires_grad for one in args):
            cuts.note_of_function("inside", name, place, tensors_in(args))
    cuts.follow(function, args, tuple(result.values()) if isinstance(result, dict) else result, None, frame)


def _held(log: CallLog, result: Any) -> dict[str, tuple[int, TensorValue]]:
    """The tensors that the ctx of a call with this result has as attributes."""
    nodes = [grad_fn_of(one) for one in tensors_in((result,))]
    held: dict[str, Any] = next((vars(node) for node in nodes if hasattr(type(node), "_forward_cls")), {})
    tensors = {name: one for name, one in held.items() if isinstance(one, Tensor)}
    return {name: (log.identities.of(one), log.values.value_of(one)) for name, one in tensors.items()}


def small_copies(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Copies of the arguments of a Function; None where they are large, or no plain tensors and constants."""
    with without_torch_function():
        entries = 0
        for one in args:
            if isinstance(one, Tensor):
                if one.layout is not torch.strided or is_functorch_wrapped(one) or one.is_quantized:
                    return None
                entries += one.numel()
            elif not all(isinstance(each, _CONSTANTS) for each in (one if isinstance(one, tuple) else (one,))):
                return None
        if entries > ENTRIES_KEPT:
            return None
        return tuple(clone(detach(one)) if isinstance(one, Tensor) else one for one in args)


def is_users_function(function: type) -> bool:
    """True for a Function whose forward is written in the program."""
    forward = getattr(function, "forward", None)
    # Torch's `custom_fwd` wraps it.
    code = getattr(innermost(forward) if callable(forward) else forward, "__code__", None)
    return code is not None and code.co_filename in PROGRAM_FILES


def is_once_differentiable(function: type) -> bool:
    """True for a Function whose backward is decorated with torch's `once_differentiable`."""
    code = getattr(getattr(function, "backward", None), "__code__", None)
    return code is not None and code.co_qualname.startswith(once_differentiable.__name__ + ".")


def forward_parameters(function: type, args: tuple[Any, ...]) -> list[str]:
    """The names of forward's *tensor* arguments, in the order of `next_functions`."""
    names = parameter_names(function, len(args))
    found = []
    for name, argument in zip(names, args, strict=False):
        if isinstance(argument, Tensor):
            found.append(name)
    return found


def parameter_names(function: type, count: int) -> list[str]:
    """The names of all of forward's arguments without ctx, `count` of them."""
    forward: Any = getattr(function, "forward", None)
    try:
        parameters = list(inspect.signature(forward).parameters.values())
    except (TypeError, ValueError):
        return [f"input{position}" for position in range(count)]
    if not _is_context_apart(function):
        parameters = parameters[1:]
    names: list[str] = []
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}[{i}]" for i in range(count - len(names))]
        else:
            names.append(parameter.name)
    names += [f"input{position}" for position in range(len(names), count)]
    return names[:count]


def grad_output_name(function: type, output: int) -> str:
    """What its backward calls the gradient of an output."""
    backward: Any = getattr(function, "backward", None)
    try:
        _, *names = [one for one in inspect.signature(backward).parameters.values() if one.kind in _POSITIONAL]
    except (TypeError, ValueError):
        return "grad_output"
    return names[output].name if output < len(names) else "grad_output"


class FunctionTexts:
    """Where the program's text defines methods of its Functions, and what they save."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._definitions: dict[int, ast.FunctionDef] | None = None

    def span(self, method: Any) -> Span | None:
        """Where a method is written."""
        definition = self._definition(method)
        if definition is None or definition.end_lineno is None or definition.end_col_offset is None:
            return None
        place = (definition.lineno, definition.end_lineno, definition.col_offset, definition.end_col_offset)
        return self._program.span(place)

    def saved_names(self, function: type, count: int | None = None) -> list[str]:
        """The names in `ctx.save_for_backward(a, b)`; none where several calls, with `count` names each, differ."""
        given = {
            tuple(one.id if isinstance(one, ast.Name) else ast.unparse(one)[:24] for one in call.args)
            for call in self._saves(function)
            if count in (None, len(call.args))
        }
        return [*given.pop()] if len(given) == 1 else []

    def save_span(self, function: type, name: str) -> Span | None:
        """Where `ctx.save_for_backward` is called, or for a name such as `ctx.y` where that is assigned."""
        if name.startswith("ctx."):
            found: ast.AST | None = next(
                (node for node in self._statements(function)
                 if isinstance(node, ast.Assign)
                 and any(isinstance(one, ast.Attribute) and one.attr == name[4:] for one in node.targets)),
                None,
            )  # fmt: skip
        else:
            found = next(self._saves(function), None)
        if not isinstance(found, ast.Call | ast.Assign) or found.end_lineno is None or found.end_col_offset is None:
            return None
        return self._program.span((found.lineno, found.end_lineno, found.col_offset, found.end_col_offset))

    def _saves(self, function: type) -> Iterator[ast.Call]:
        for node in self._statements(function):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "save_for_backward":
                yield node

    def _statements(self, function: type) -> Iterator[ast.AST]:
        """Everything in setup_context and forward."""
        for method in ("setup_context", "forward"):
            definition = self._definition(getattr(function, method, None))
            if definition is not None:
                yield from ast.walk(definition)

    def _definition(self, method: Any) -> ast.FunctionDef | None:
        method = innermost(method) if callable(method) else method
        code = getattr(method, "__code__", None)
        if code is None or code.co_filename not in PROGRAM_FILES:
            return None
        if self._definitions is None:
            self._definitions = {}
            for node in ast.walk(ast.parse(self._program.text)):
                if isinstance(node, ast.FunctionDef):
                    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                    self._definitions[first] = node
        return self._definitions.get(code.co_firstlineno)
