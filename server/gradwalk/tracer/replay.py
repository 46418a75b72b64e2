"""On demand: the program is run again, which gives the same steps, and one node or one value is looked at."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from gradwalk.formulas.derivatives import operand_names
from gradwalk.protocol.answers import GradcheckReport
from gradwalk.protocol.events import Event, LocalJacobian
from gradwalk.protocol.requests import ResolvedLimits, TraceRequest
from gradwalk.protocol.values import TensorValue
from gradwalk.tracer.forward_check import compare_with_forward, why_not
from gradwalk.tracer.gradcheck import unavailable
from gradwalk.tracer.jacobian import JacobianBudget, local_jacobians
from gradwalk.tracer.live_nodes import LookAtStep
from gradwalk.tracer.originals import sequence_number
from gradwalk.tracer.recorder import Recorder
from gradwalk.tracer.reevaluation import Catcher, forward_of
from gradwalk.tracer.run import Run
from gradwalk.tracer.schedule import AllRecordedError
from gradwalk.tracer.snapshot import snapshot
from gradwalk.tracer.surroundings import Surroundings
from gradwalk.tracer.walk import Node


def jacobian_of_step(
    request: TraceRequest,
    index: int,
    argnum: int,
    limits: ResolvedLimits,
    surroundings: Surroundings | None = None,
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

    _replay(request, limits, surroundings, look)
    return [one for one in found if one["argnum"] == argnum]


def gradcheck_of_step(
    request: TraceRequest,
    index: int,
    argnum: int,
    limits: ResolvedLimits,
    surroundings: Surroundings | None = None,
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

    _replay(request, limits, surroundings, find, note_start)
    if found:
        with catcher.catching():
            _replay(request, limits, surroundings, check, note_start)
    return reports


def entries_of_value(
    request: TraceRequest,
    value: TensorValue,
    limits: ResolvedLimits,
    surroundings: Surroundings | None = None,
) -> list[TensorValue]:
    """All entries of a value that a trace has as this summary. Empty when the program makes no such value."""
    found: list[TensorValue] = []

    def prepare(recorder: Recorder) -> None:
        def look(tensor: torch.Tensor, summarised: TensorValue) -> None:
            if not found and summarised == value:
                found.append(snapshot(tensor, tensor.numel()))
                raise AllRecordedError

        recorder.values.look_at_summary = look

    Run(request, _discard, limits, surroundings, prepare).play()
    return found


def _reports(
    node: Node, jacobians: Sequence[LocalJacobian], limits: ResolvedLimits, catcher: Catcher
) -> list[GradcheckReport]:
    if not jacobians:
        return []
    try:
        forward = forward_of(node, catcher)
    except Exception as error:  # noqa: BLE001 (the program's own code runs again, with whatever it raises)
        name = operand_names(node.name(), len(node.next_functions))[jacobians[0]["argnum"]]
        return [unavailable(name, one["argnum"], one["output_nr"], why_not(error)) for one in jacobians]
    shapes = [metadata.shape for metadata in node._input_metadata]
    return [compare_with_forward(forward, one, shapes[one["output_nr"]], limits.jacobian_cells) for one in jacobians]


def _replay(
    request: TraceRequest,
    limits: ResolvedLimits,
    surroundings: Surroundings | None,
    look: LookAtStep,
    note_start: Callable[[], None] | None = None,
) -> None:
    def prepare(recorder: Recorder) -> None:
        recorder.live_nodes.look_at_step = look
        if note_start is not None:
            note_start()

    Run(request, _discard, limits, surroundings, prepare).play()


def _discard(_event: Event) -> None:
    return None
