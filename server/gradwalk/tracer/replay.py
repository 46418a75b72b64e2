"""One step on demand: the program is run again, which gives the same steps, and one node is looked at."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import torch

from gradwalk.formulas.derivatives import operand_names
from gradwalk.protocol.answers import GradcheckReport
from gradwalk.protocol.events import Event, LocalJacobian
from gradwalk.protocol.requests import ResolvedLimits, TraceRequest
from gradwalk.tracer.gradcheck import entries_in, report, unavailable
from gradwalk.tracer.jacobian import JacobianBudget, local_jacobians
from gradwalk.tracer.language import Language
from gradwalk.tracer.originals import sequence_number
from gradwalk.tracer.recorder import LookAtStep, Recorder
from gradwalk.tracer.reevaluation import CannotRepeat, Catcher, Forward, forward_of, wider
from gradwalk.tracer.run import Run
from gradwalk.tracer.walk import Node

SAME_OUTPUT: Final = 5e-2
"""How far the output in double precision may be from the program's own, relative to its largest entry."""


def jacobian_of_step(
    request: TraceRequest,
    index: int,
    argnum: int,
    limits: ResolvedLimits,
    language: Language | None = None,
) -> list[LocalJacobian]:
    """The local Jacobians of one step for one operand, one for each output of its node.

    Empty when the program has no such step, or nothing flows to that operand.
    """
    found: list[LocalJacobian] = []
    is_there = False

    def look(at: int, node: Node, grad_outputs: Any, grad_inputs: Any, flowing: Sequence[bool] | None) -> None:
        nonlocal is_there
        # Asked once more, a backward that runs passes of its own makes steps that would count on from here.
        if at == index and not is_there:
            is_there = True
            budget = JacobianBudget(limits.jacobian_cells, limits.jacobian_cells)
            found.extend(local_jacobians(node, grad_outputs, grad_inputs, budget, flowing=flowing, in_replay=True))

    _replay(request, limits, language, look)
    return [one for one in found if one["argnum"] == argnum]


def gradcheck_of_step(
    request: TraceRequest,
    index: int,
    argnum: int,
    limits: ResolvedLimits,
    language: Language | None = None,
) -> list[GradcheckReport]:
    """The local Jacobians of one step for one operand beside finite differences of the node's own forward.

    One report for each output of the node that a gradient arrived at. Empty when the program has no such step, or
    nothing flows to that operand. The program runs twice: to find the node, and to catch the call that built it.
    """
    found: list[int] = []
    reports: list[GradcheckReport] = []
    catcher = Catcher()
    start = 0
    is_there = False

    def note_start() -> None:
        nonlocal start
        start = sequence_number()
        if found:
            catcher.sequence = start + found[0]

    def find(at: int, node: Node, *_gradients: Any) -> None:
        if at == index:
            found.append(node._sequence_nr() - start)

    def check(at: int, node: Node, grad_outputs: Any, _grad_inputs: Any, flowing: Sequence[bool] | None) -> None:
        nonlocal is_there
        if at == index and not is_there:
            is_there = True
            budget = JacobianBudget(limits.jacobian_cells, limits.jacobian_cells)
            jacobians = local_jacobians(node, grad_outputs, None, budget, flowing=flowing, in_replay=True)
            reports.extend(_reports(node, [one for one in jacobians if one["argnum"] == argnum], limits, catcher))

    _replay(request, limits, language, find, note_start)
    if found:
        with catcher:
            _replay(request, limits, language, check, note_start)
    return reports


def _reports(
    node: Node, jacobians: Sequence[LocalJacobian], limits: ResolvedLimits, catcher: Catcher
) -> list[GradcheckReport]:
    if not jacobians:
        return []
    try:
        forward = forward_of(node, catcher)
    except Exception as error:  # noqa: BLE001 (the program's own code runs again, with whatever it raises)
        name = operand_names(node.name(), len(node.next_functions))[jacobians[0]["argnum"]]
        return [unavailable(name, one["argnum"], one["output_nr"], _words(error)) for one in jacobians]
    return [_report(node, forward, one, limits) for one in jacobians]


def _report(node: Node, forward: Forward, jacobian: LocalJacobian, limits: ResolvedLimits) -> GradcheckReport:
    argnum, slot = jacobian["argnum"], jacobian["output_nr"]
    name, value = forward.names[argnum], jacobian["value"]
    if "missing" in value or "data" not in value:
        cells = entries_in(jacobian["output_shape"]) * entries_in(jacobian["input_shape"])
        because = (
            f"This Jacobian has {cells:,} entries; up to {limits.jacobian_cells:,} are compared one by one."
            if cells > limits.jacobian_cells
            else "This node's Jacobian cannot be had by itself, so there is nothing to compare."
        )
        return unavailable(name, argnum, slot, because)
    shape = (entries_in(jacobian["output_shape"]), entries_in(jacobian["input_shape"]))
    analytic = np.array([float(number) for number in value["data"]], np.float64).reshape(shape)  # type: ignore[arg-type]
    output = node._input_metadata[slot]
    others = list(forward.operands)

    def function(operand: torch.Tensor) -> torch.Tensor:
        outputs = forward.run([operand if at == argnum else wider(one) for at, one in enumerate(others)])
        found = outputs[slot] if slot < len(outputs) else None
        if found is None or tuple(found.shape) != tuple(output.shape):
            raise CannotRepeat("Run again by itself, this operation does not give the output that the node has.")
        return found

    try:
        if not _is_same(forward.run_again()[slot], function(wider(forward.operands[argnum]))):
            raise CannotRepeat("In double precision this operation gives something else: its random numbers differ.")
        return report(
            function,
            forward.operands[argnum],
            analytic,
            name=name,
            argnum=argnum,
            output_nr=slot,
            output_shape=jacobian["output_shape"],
            input_shape=jacobian["input_shape"],
        )
    except Exception as error:  # noqa: BLE001 (the program's own forward, at values it has not seen)
        return unavailable(name, argnum, slot, _words(error))


def _is_same(own: torch.Tensor | None, double: torch.Tensor) -> bool:
    """Whether the outputs in the program's dtype and in double precision are the same but for rounding."""
    if own is None:
        return False
    exact = double.to(own.dtype)
    finite = exact[exact.isfinite()].abs()
    largest = float(finite.max()) if finite.numel() else 0.0
    return torch.allclose(own, exact, rtol=SAME_OUTPUT, atol=SAME_OUTPUT * largest, equal_nan=True)


def _words(error: Exception) -> str:
    if isinstance(error, CannotRepeat):
        return str(error)
    first = str(error).partition("\n")[0][:200]
    return f"Run again with its operands in double precision, the forward raised {type(error).__name__}: {first}"


def _replay(
    request: TraceRequest,
    limits: ResolvedLimits,
    language: Language | None,
    look: LookAtStep,
    note_start: Callable[[], None] | None = None,
) -> None:
    def prepare(recorder: Recorder) -> None:
        recorder.look_at_step = look
        if note_start is not None:
            note_start()

    Run(request, _discard, limits, language, prepare).play()


def _discard(_event: Event) -> None:
    return None
