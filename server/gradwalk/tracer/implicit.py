"""The backward that the program did not make: from its last expression, or its last differentiable variable."""

from collections.abc import Mapping
from typing import Any

import torch

from gradwalk.protocol.events import Problem
from gradwalk.protocol.problems import problem
from gradwalk.tracer.inputs import InputError, make_tensor
from gradwalk.tracer.recorder import Recorder
from gradwalk.tracer.source import Program


def conclude(program: Program, recorder: Recorder, namespace: Mapping[str, Any], result: Any, grad_output: Any) -> None:
    """Runs the backward pass of the program's output, or says why there is none.

    Raises:
        InputError: `grad_output` does not fit the output.
    """
    output = find_output(program, namespace, result)
    if output is None:
        recorder.stream.send_problem(nothing_differentiable(program, recorder, namespace, result))
        return
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
        if _is_differentiable(value) and value.grad_fn is not None:  # type: ignore[union-attr]
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
        raise InputError(
            f"grad_output has shape {list(seed.shape)}, but the output has shape {list(output.shape)}: v holds one "
            f"number per entry of the output. (Shape [m, {', '.join(map(str, output.shape))}] gives m rows at once.)"
        )
    return seed


def nothing_differentiable(program: Program, recorder: Recorder, namespace: Mapping[str, Any], result: Any) -> Problem:
    """Why no backward pass can start."""
    tensors = {name: value for name in program.assigned_names if isinstance(value := namespace.get(name), torch.Tensor)}
    wanting = [name for name, value in tensors.items() if value.requires_grad and value.is_leaf]
    last = result if isinstance(result, torch.Tensor) else next(reversed(tensors.values()), None)
    span = None
    hint = "Create an input with requires_grad=True, for example x = torch.tensor([1., 2.], requires_grad=True)."
    if wanting:
        listed = ", ".join(f"`{name}`" for name in wanting)
        message = f"{listed} requires grad, but the program computes nothing differentiable from it."
        hint = "Compute something from it that stays in torch: detach, no_grad, .item() and whole numbers cut it off."
        if recorder.log.cuts.found:
            cut = recorder.log.cuts.found[-1]
            span = recorder.places.span(cut.place)
            message += f" It is cut off by `{cut.call}`" + ("." if span is None else f" in line {span['line']}.")
    elif last is not None and not (last.is_floating_point() or last.is_complex()):
        message = f"The result holds {str(last.dtype).removeprefix('torch.')} values, which cannot have a gradient."
    elif tensors or last is not None:
        message = "None of the program's tensors requires grad, so PyTorch recorded no history to walk back through."
    else:
        message = "The program makes no tensors, so there is no graph to walk."
    return problem("not_differentiable", "Nothing is differentiable", message, span=span, hint=hint)


def _is_differentiable(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad
