"""An analytic Jacobian beside finite differences: which entries are wrong, and where there is nothing to compare."""

from collections.abc import Callable, Sequence
from math import isfinite, prod
from statistics import median
from typing import Any, Final, Literal

import numpy as np
import torch

from gradwalk.protocol.answers import GradcheckCell, GradcheckKink, GradcheckReport, GradcheckVerdict
from gradwalk.protocol.facts import Fact, fact, in_turn, number
from gradwalk.protocol.numbers import Real
from gradwalk.tracer.decimals import spell_non_finite
from gradwalk.tracer.finite_differences import STEP, Comparison, Matrix, Tolerances, compare
from gradwalk.tracer.snapshot import value_of_entries

CELLS_LISTED: Final = 256
"""Wrong entries and kinks that are listed one by one."""
FACTOR_TOLERANCE: Final = 1e-3
_OF_CORNER: Final[tuple[Literal["at", "left", "right", "analytic"], ...]] = ("at", "left", "right", "analytic")

_TOLERANCES: Final = {
    torch.float16: Tolerances(1e-3, 1e-2),
    torch.bfloat16: Tolerances(1e-2, 5e-2),
}


def tolerances_for(dtype: torch.dtype) -> Tolerances:
    """gradcheck's own, wider where the analytic side was computed in 16 bits."""
    return _TOLERANCES.get(dtype, Tolerances())


def unavailable(name: str, argnum: int | None, output_nr: int | None, because: Fact) -> GradcheckReport:
    """No verdict, and why."""
    tolerances = Tolerances()
    return {
        "name": name,
        "argnum": argnum,
        "output_nr": output_nr,
        "verdict": "unavailable",
        "because": because,
        "output_shape": [],
        "input_shape": [],
        "analytic": None,
        "numeric": None,
        "step_size": STEP,
        "absolute_tolerance": tolerances.absolute,
        "relative_tolerance": tolerances.relative,
        "wrong": [],
        "kinks": [],
    }


def report(  # noqa: PLR0913 (one comparison's own facts)
    function: Callable[[torch.Tensor], torch.Tensor],
    operand: torch.Tensor,
    analytic: Matrix,
    *,
    name: str,
    argnum: int | None,
    output_nr: int | None,
    output_shape: Sequence[int],
    input_shape: Sequence[int],
    cut: Fact | None = None,
) -> GradcheckReport:
    """The comparison for one operand and one output.

    Args:
        function: the operand in double precision to the output; both real or complex.
        operand: the values of the run; complex ones are moved along both axes.
        analytic: of shape (output entries, operand entries), complex entries as pairs.
        output_shape: and `input_shape`, of the report, complex sides with their last axis of 2.
        cut: what keeps a gradient away from the operand, to be said when entries differ.
    """
    tolerances = tolerances_for(operand.dtype)
    is_complex = operand.is_complex()
    start = torch.view_as_real(operand.detach().resolve_conj()) if is_complex else operand.detach()

    def real_function(point: torch.Tensor) -> torch.Tensor:
        output = function(torch.view_as_complex(point) if is_complex else point)
        return torch.view_as_real(output.resolve_conj()) if output.is_complex() else output

    [[compared]] = compare(real_function, [start], [[analytic]], tolerances=tolerances)
    points = start.to(torch.float64).reshape(-1).tolist()
    kinks = [_kink(compared, analytic, place, points) for place in compared.kinks]
    excused = {(one["row"], one["column"]) for one in kinks if _is_between(one, compared)}
    # An infinite slope times the zeros of a one-hot v is NaN in the rest of its column.
    endless = {one["column"] for one in kinks if one["analytic"] in ("Infinity", "-Infinity", "NaN")}
    excused |= {place for place in compared.wrong if np.isnan(analytic[place]) and place[1] in endless}
    wrong = [_cell(compared, analytic, place) for place in compared.wrong if place not in excused]
    shape = [*output_shape, *input_shape]
    verdict, because = _verdict(wrong, kinks, compared.numeric, analytic, cut)
    return {
        "name": name,
        "argnum": argnum,
        "output_nr": output_nr,
        "verdict": verdict,
        "because": because,
        "output_shape": [*output_shape],
        "input_shape": [*input_shape],
        "analytic": value_of_entries(analytic.reshape(-1).tolist(), shape, torch.float64),
        "numeric": value_of_entries(compared.numeric.reshape(-1).tolist(), shape, torch.float64),
        "step_size": STEP,
        "absolute_tolerance": tolerances.absolute,
        "relative_tolerance": tolerances.relative,
        "wrong": wrong[:CELLS_LISTED],
        "kinks": kinks[:CELLS_LISTED],
    }


def _kink(compared: Comparison, analytic: Matrix, place: tuple[int, int], points: Sequence[float]) -> GradcheckKink:
    left, right, at = compared.left[place], compared.right[place], points[place[1]]
    return {
        "row": place[0],
        "column": place[1],
        "analytic": _spelled(analytic[place]),
        "left": _spelled(left),
        "right": _spelled(right),
        "at": _spelled(at),
    }


def _cell(compared: Comparison, analytic: Matrix, place: tuple[int, int]) -> GradcheckCell:
    return {
        "row": place[0],
        "column": place[1],
        "analytic": _spelled(analytic[place]),
        "numeric": _spelled(compared.numeric[place]),
    }


def _is_between(kink: GradcheckKink, compared: Comparison) -> bool:
    """Whether the analytic entry lies between the one-sided slopes; true also where one of them does not exist."""
    place = (kink["row"], kink["column"])
    left, right, allowed = compared.left[place], compared.right[place], compared.allowed[place]
    analytic = float(kink["analytic"])
    if not (isfinite(left) and isfinite(right) and isfinite(analytic)):
        return True
    margin = allowed if isfinite(allowed) else 0.0
    return bool(min(left, right) - margin <= analytic <= max(left, right) + margin)


def _spelled(number: Any) -> Real:
    return spell_non_finite(float(number))


def _verdict(
    wrong: list[GradcheckCell], kinks: list[GradcheckKink], numeric: Matrix, analytic: Matrix, cut: Fact | None
) -> tuple[GradcheckVerdict, Fact]:
    corners = _corners(kinks[0], len(kinks)) if kinks else []
    if wrong:
        first = wrong[0]
        because = fact(
            "check-differs",
            count=len(wrong),
            total=f"{analytic.size:,}",
            row=str(first["row"]),
            column=str(first["column"]),
            analytic=number(first["analytic"]),
            numeric=number(first["numeric"]),
        )
        guess = _guess(numeric, analytic)
        unseen = None if cut is None else fact("check-unseen-use", why=cut)
        return "differs", in_turn(because, *(one for one in (guess, unseen) if one is not None), *corners)
    if kinks:
        return "not_differentiable", in_turn(*corners)
    return "agrees", fact("check-agrees", count=analytic.size)


def _corners(kink: GradcheckKink, count: int) -> list[Fact]:
    row, column = str(kink["row"]), str(kink["column"])
    at, left, right, taken = (number(kink[key]) for key in _OF_CORNER)
    if isfinite(float(kink["left"])) and isfinite(float(kink["right"])):
        first = fact("check-kink", row=row, column=column, at=at, left=left, right=right, taken=taken)
    else:
        first = fact("check-no-slope", row=row, column=column, at=at, left=left, right=right, taken=taken)
    return [first] if count == 1 else [first, fact("check-like-this", count=count - 1)]


def _guess(numeric: Matrix, analytic: Matrix) -> Fact | None:
    """What the mistake looks like, where it has a simple look."""
    if not (np.all(np.isfinite(numeric)) and np.all(np.isfinite(analytic))):
        return None
    if not analytic.any():
        return fact("check-zeros")
    known = (np.abs(numeric) > FACTOR_TOLERANCE) & (analytic != 0)
    if known.any():
        factor = median((analytic[known] / numeric[known]).tolist())
        if np.allclose(analytic, factor * numeric, rtol=FACTOR_TOLERANCE, atol=FACTOR_TOLERANCE):
            return fact("check-factor", factor=number(round(factor, 3)))
    is_square = numeric.shape[0] == numeric.shape[1]
    if is_square and np.allclose(analytic, numeric.T, rtol=FACTOR_TOLERANCE, atol=FACTOR_TOLERANCE):
        return fact("check-transposed")
    return None


def entries_in(shape: Sequence[int]) -> int:
    """How many entries a side of a shape has."""
    return prod(shape)
