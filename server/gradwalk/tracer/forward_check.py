"""The Jacobian that a node's backward computes, beside finite differences of its forward."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import torch

from gradwalk.protocol.answers import GradcheckReport
from gradwalk.protocol.events import LocalJacobian
from gradwalk.protocol.facts import Fact, fact
from gradwalk.tracer.gradcheck import entries_in, report, unavailable
from gradwalk.tracer.reevaluation import CannotRepeat, Forward, wider

SAME_OUTPUT: Final = 5e-2
"""How far the output in double precision may be from the program's own, relative to its largest entry."""


def compare_with_forward(
    forward: Forward, jacobian: LocalJacobian, output_shape: Sequence[int], cells_max: int
) -> GradcheckReport:
    """One local Jacobian beside finite differences.

    Args:
        forward: of the node.
        jacobian: for one operand and one output.
        output_shape: of that output, as the node knows it.
        cells_max: up to how many entries are compared one by one.
    """
    argnum, slot = jacobian["argnum"], jacobian["output_nr"]
    name, value = forward.names[argnum], jacobian["value"]
    if "missing" in value or "data" not in value:
        cells = entries_in(jacobian["output_shape"]) * entries_in(jacobian["input_shape"])
        because = (
            fact("check-large-jacobian", entries=f"{cells:,}", most=f"{cells_max:,}")
            if cells > cells_max
            else fact("check-no-jacobian")
        )
        return unavailable(name, argnum, slot, because)
    shape = (entries_in(jacobian["output_shape"]), entries_in(jacobian["input_shape"]))
    analytic = np.array([float(number) for number in value["data"]], np.float64).reshape(shape)  # type: ignore[arg-type]
    others = list(forward.operands)

    def function(operand: torch.Tensor) -> torch.Tensor:
        outputs = forward.run([operand if at == argnum else wider(one) for at, one in enumerate(others)])
        found = outputs[slot] if slot < len(outputs) else None
        if found is None or tuple(found.shape) != tuple(output_shape):
            raise CannotRepeat(fact("check-other-output"))
        return found

    try:
        if not _is_same(forward.run_again()[slot], function(wider(forward.operands[argnum]))):
            raise CannotRepeat(fact("check-other-numbers"))
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
        return unavailable(name, argnum, slot, why_not(error))


def _is_same(own: torch.Tensor | None, double: torch.Tensor) -> bool:
    """Whether the outputs in the program's dtype and in double precision are the same but for rounding."""
    if own is None:
        return False
    exact = double.to(own.dtype)
    finite = exact[exact.isfinite()].abs()
    largest = float(finite.max()) if finite.numel() else 0.0
    return torch.allclose(own, exact, rtol=SAME_OUTPUT, atol=SAME_OUTPUT * largest, equal_nan=True)


def why_not(error: Exception) -> Fact:
    """Why a forward cannot be compared with."""
    if isinstance(error, CannotRepeat):
        return error.why
    return fact("check-raised", error=type(error).__name__, text=str(error).partition("\n")[0][:200])
