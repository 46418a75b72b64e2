"""The Jacobian that a node's backward computes, beside finite differences of its forward."""

from collections.abc import Sequence
from typing import Any, Final

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
    is_half_read = False

    def function(operand: torch.Tensor) -> torch.Tensor:
        operand = (operand + operand.mH) / 2 if is_half_read else operand
        outputs = forward.run([operand if at == argnum else wider(one) for at, one in enumerate(others)])
        found = outputs[slot] if slot < len(outputs) else None
        if found is None or tuple(found.shape) != tuple(output_shape):
            raise CannotRepeat(fact("check-other-output"))
        return found

    try:
        if not _is_same(forward.run_again()[slot], function(wider(forward.operands[argnum]))):
            raise CannotRepeat(fact("check-other-numbers"))
        is_half_read = reads_one_triangle(forward, argnum)
        if is_half_read:
            analytic = _along_symmetric(analytic, others[argnum])
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


def reads_one_triangle(forward: Forward, argnum: int) -> bool:
    """Whether an operand is a symmetric matrix of which forward reads one triangle, as `eigh` and `cholesky` do.

    Such a backward is right for what keeps the matrix symmetric, which is all that it is asked for.
    """
    operands = [wider(one) for one in forward.operands]
    matrix = operands[argnum]
    is_square = matrix.dim() > 1 and matrix.shape[-1] == matrix.shape[-2] > 1
    if not is_square or not torch.allclose(matrix, matrix.mH, rtol=1e-5, atol=0.0):
        return False

    def outputs_of(one: torch.Tensor) -> list[torch.Tensor]:
        returned = forward.run([one if at == argnum else other for at, other in enumerate(operands)])
        return [output for output in returned if output is not None]

    here, other = outputs_of(matrix), matrix.abs() + 1
    try:
        return any(all(map(torch.equal, here, outputs_of(matrix + half))) for half in (other.triu(1), other.tril(-1)))
    except Exception:  # noqa: BLE001 (the program's own forward, which refuses other values)
        return False


def _along_symmetric(jacobian: np.ndarray[Any, np.dtype[np.float64]], matrix: torch.Tensor) -> Any:
    """A Jacobian's columns, each averaged with that of the entry on the other side of the diagonal."""
    sides = (*matrix.shape, 2) if matrix.is_complex() else tuple(matrix.shape)
    rows = torch.from_numpy(jacobian).reshape(-1, *sides)
    turned = torch.view_as_real(torch.view_as_complex(rows).mH.resolve_conj()) if matrix.is_complex() else rows.mH
    return ((rows + turned) / 2).reshape(jacobian.shape).numpy()


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
