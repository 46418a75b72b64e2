"""The backward that the program did not make: from its last expression, or its last differentiable variable."""

import ast
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from gradwalk.protocol.events import Problem
from gradwalk.protocol.facts import Filling, Shape, code, fact
from gradwalk.protocol.problems import problem
from gradwalk.tracer.forward_mode import reopened, tell_calls, tell_tangents
from gradwalk.tracer.inputs import InputError, make_tensor
from gradwalk.tracer.originals import grad_fn_of, is_leaf
from gradwalk.tracer.recorder import Recorder
from gradwalk.tracer.source import FILENAME, Program


def conclude(program: Program, recorder: Recorder, namespace: dict[str, Any], result: Any, grad_output: Any) -> None:
    """Runs the backward pass of the program's output, or says why there is none.

    Where tangents ran forward, it is the pass of the function that they ran through.

    Raises:
        InputError: `grad_output` does not fit the output.
    """
    output = find_output(program, namespace, result)
    if output is not None:
        _start_pass(recorder, output, grad_output)
        return
    wanting = _leaves_that_require_grad(program, namespace)
    calls = [] if wanting else program.forward_calls(namespace)
    if not calls:
        recorder.stream.send_problem(_nothing_differentiable(program, recorder, namespace, result, wanting))
        return
    spans = [program.span(call.position) for call in calls]
    targets = [() if span is None else program.target_of(span) for span in spans]
    named = tell_calls(calls)
    tangents = tell_tangents([*zip(calls, targets, strict=True)], namespace, recorder.values.value_of)
    with reopened(calls[0], targets[0], namespace, FILENAME) as found:
        if found is None:
            forward = fact("problem-forward-mode", calls=named)
            if tangents:
                forward = fact("problem-forward-mode-tangents", calls=named, tangents=tangents)
            recorder.stream.send_problem(problem("not_differentiable", forward, span=spans[0]))
            return
        note = fact("note-forward-mode", calls=named)
        if tangents:
            note = fact("note-forward-mode-tangents", calls=named, tangents=tangents)
        recorder.notes.append(note)
        recorder.passes.tangents = found.tangents
        _start_pass(recorder, found.output, grad_output)


def _start_pass(recorder: Recorder, output: torch.Tensor, grad_output: Any) -> None:
    seed = external_gradient(output, grad_output)
    recorder.passes.implicit = True
    try:
        if seed.dim() == output.dim() + 1:
            leaves = recorder.leaves_of(output)
            torch.autograd.grad(output, leaves, seed, is_grads_batched=True, allow_unused=True)
        else:
            torch.autograd.backward([output], [seed])
    finally:
        recorder.passes.implicit = False


def find_output(program: Program, namespace: Mapping[str, Any], result: Any) -> torch.Tensor | None:
    """The last expression's value if it is differentiable, else the last assigned variable that is."""
    if _is_differentiable(result):
        return result  # type: ignore[no-any-return]
    if isinstance(result, (tuple, list)):
        for one in result:
            if _is_differentiable(one):
                return one  # type: ignore[no-any-return]
    for name in reversed(program.assigned_names):
        value = namespace.get(name)
        if isinstance(value, torch.Tensor) and _is_differentiable(value) and grad_fn_of(value) is not None:
            return value
    return None


def external_gradient(output: torch.Tensor, grad_output: Any) -> torch.Tensor:
    """The v to start from: as asked for, else ones. It may have one more axis in front: m stacked v's.

    Raises:
        InputError: numbers of another shape.
    """
    if grad_output is None:
        return torch.ones_like(output, memory_format=torch.preserve_format)
    seed = make_tensor("grad_output", grad_output, output.dtype, requires_grad=False)
    if seed.shape != output.shape and seed.shape[1:] != output.shape:
        got, expected = Shape(shape=[*seed.shape]), Shape(shape=[*output.shape])
        if output.dim() == 0:
            raise InputError(fact("problem-input-seed-scalar", got=got, expected=expected))
        sizes = ", ".join(map(str, output.shape))
        raise InputError(fact("problem-input-seed-shape", got=got, expected=expected, sizes=sizes))
    return seed


def chosen_gradient(output: torch.Tensor, grad_output: Any) -> torch.Tensor:
    """The v in the place of one that the program gives itself: of the output's shape and device.

    Raises:
        InputError: numbers of another shape.
    """
    seed = make_tensor("grad_output", grad_output, output.dtype, requires_grad=False).to(output.device)
    if seed.shape != output.shape:
        got, expected = Shape(shape=[*seed.shape]), Shape(shape=[*output.shape])
        raise InputError(fact("problem-input-seed-own", got=got, expected=expected))
    return seed


def _leaves_that_require_grad(program: Program, namespace: Mapping[str, Any]) -> list[str]:
    return [
        name
        for name in program.assigned_names
        if isinstance(value := namespace.get(name), torch.Tensor) and value.requires_grad and is_leaf(value)
    ]


def _nothing_differentiable(
    program: Program, recorder: Recorder, namespace: Mapping[str, Any], result: Any, wanting: Sequence[str]
) -> Problem:
    """Why no backward pass can start."""
    tensors = {name: value for name in program.assigned_names if isinstance(value := namespace.get(name), torch.Tensor)}
    last = result if isinstance(result, torch.Tensor) else next(reversed(tensors.values()), None)
    span, addition = None, None
    if wanting:
        names: list[Filling] = [code(name) for name in wanting]
        found = fact("problem-nothing-required", names=names)
        if recorder.log.cuts.found:
            cut = recorder.log.cuts.found[-1]
            span = recorder.places.span(cut.place)
            found = fact("problem-nothing-cut", names=names, call=recorder.places.called(cut.call, cut.place))
    elif last is not None and not (last.is_floating_point() or last.is_complex()):
        found = fact("problem-nothing-real", dtype=str(last.dtype).removeprefix("torch."))
    elif uncalled := program.uncalled():
        name, call, span = uncalled
        found = fact("problem-nothing-called", name=name, call=call)
        if all(node.id in namespace for node in ast.walk(ast.parse(call)) if isinstance(node, ast.Name)):
            addition = call
    elif not tensors and any(isinstance(value, np.ndarray) for value in namespace.values()):
        found = fact("problem-nothing-numpy")
    elif tensors or last is not None:
        found = fact("problem-nothing-recorded")
    else:
        found = fact("problem-nothing-made")
    told = problem("not_differentiable", found, span=span)
    if addition is not None:
        told["addition"] = addition
    return told


def _is_differentiable(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad
