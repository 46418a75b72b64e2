"""One local Jacobian on demand: the program is run again, which gives the same steps, and one node is looked at."""

from collections.abc import Callable
from typing import Any

from gradwalk.protocol.events import Event, LocalJacobian
from gradwalk.protocol.requests import ResolvedLimits, TraceRequest
from gradwalk.tracer.jacobian import JacobianBudget, local_jacobians
from gradwalk.tracer.language import Language
from gradwalk.tracer.recorder import Recorder
from gradwalk.tracer.run import Run
from gradwalk.tracer.walk import Node


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

    def look(at: int, node: Node, grad_outputs: Any, grad_inputs: Any) -> None:
        if at == index:
            budget = JacobianBudget(limits.jacobian_cells, limits.jacobian_cells)
            found.extend(local_jacobians(node, grad_outputs, grad_inputs, budget, in_replay=True))

    _replay(request, limits, language, look)
    return [one for one in found if one["argnum"] == argnum]


def _replay(
    request: TraceRequest,
    limits: ResolvedLimits,
    language: Language | None,
    look: Callable[[int, Node, Any, Any], None],
) -> None:
    def prepare(recorder: Recorder) -> None:
        recorder.look_at_step = look

    Run(request, _discard, limits, language, prepare).play()


def _discard(_event: Event) -> None:
    return None
