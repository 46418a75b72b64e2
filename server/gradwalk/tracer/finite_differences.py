"""Jacobians by finite differences, in double precision: a second opinion that knows nothing of autograd."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import torch

STEP = 1e-6
"""How far an entry is moved to either side, as in `torch.autograd.gradcheck`."""
RELATIVE_TOLERANCE = 1e-3
ABSOLUTE_TOLERANCE = 1e-5
NARROWER = 8
"""How much smaller the next step is, which tells a corner from mere curvature."""
NARROWINGS = 3
ROUNDINGS = 64
"""Of how many roundings a function's value may be the result; in units of the value's last place."""

_STEEP = 1e3
"""A slope that may be that of a jump, divided by the step."""

_Mask = np.ndarray[Any, np.dtype[np.bool_]]
Matrix = np.ndarray[Any, np.dtype[np.float64]]
"""Of shape (output entries, operand entries)."""


class Comparison(NamedTuple):
    """An analytic Jacobian beside the numeric one, entry by entry."""

    numeric: Matrix
    wrong: list[tuple[int, int]]
    """(row, column) of entries that differ by more than the tolerances, row-major."""
    kinks: list[tuple[int, int]]
    """Entries whose one-sided differences disagree: the function has a corner or a jump within one step."""
    left: Matrix
    """One-sided differences, to smaller values of the operand's entry."""
    right: Matrix
    """One-sided differences, to larger values."""
    allowed: Matrix
    """How far analytic and numeric entries may be apart."""


class Tolerances(NamedTuple):
    """What an analytic entry may be off by, besides the rounding of the differences."""

    absolute: float = ABSOLUTE_TOLERANCE
    relative: float = RELATIVE_TOLERANCE


class _Slopes(NamedTuple):
    """Difference quotients for one output and one primal."""

    central: Matrix
    left: Matrix
    right: Matrix
    rounding: Matrix
    """What the quotients can be off by, because the function's values are rounded."""


Function = Callable[..., torch.Tensor | Sequence[torch.Tensor]]
_Values = list[np.ndarray[Any, np.dtype[np.float64]]]


def finite_differences(function: Function, primals: Sequence[torch.Tensor], step: float = STEP) -> list[list[Matrix]]:
    """Central differences: for each output, for each primal, the matrix (output entries, primal entries).

    The function is called with float64 copies of the primals, at least twice per entry, with grad mode off. It must
    be deterministic, and its outputs must be real. Each entry is moved by `step`, times its magnitude where that is
    above 1.
    """
    slopes = _slopes(function, primals, step, Tolerances())
    return [[one.central for one in of_output] for of_output in slopes]


def compare(
    function: Function,
    primals: Sequence[torch.Tensor],
    analytic: Sequence[Sequence[Matrix]],
    step: float = STEP,
    tolerances: Tolerances | None = None,
) -> list[list[Comparison]]:
    """The analytic Jacobians (by output, by primal) beside finite differences, wrong entries marked."""
    tolerances = tolerances or Tolerances()
    slopes = _slopes(function, primals, step, tolerances)
    return [
        [_compared(one, matrix, tolerances) for one, matrix in zip(of_output, given, strict=True)]
        for of_output, given in zip(slopes, analytic, strict=True)
    ]


def _compared(slopes: _Slopes, analytic: Matrix, tolerances: Tolerances) -> Comparison:
    numeric = slopes.central
    with np.errstate(invalid="ignore", over="ignore"):
        allowed = _allowed(slopes, tolerances)
        same = (np.abs(analytic - numeric) <= allowed) | (analytic == numeric)
        kinked = ~(np.abs(slopes.right - slopes.left) <= allowed) | (np.isinf(numeric) & (analytic != numeric))
    return Comparison(numeric, _places(~same), _places(kinked), slopes.left, slopes.right, allowed)


def _allowed(slopes: _Slopes, tolerances: Tolerances) -> Matrix:
    return tolerances.absolute + tolerances.relative * np.abs(slopes.central) + slopes.rounding


def _places(mask: _Mask) -> list[tuple[int, int]]:
    return [(int(row), int(column)) for row, column in np.argwhere(mask)]


def _slopes(
    function: Function, primals: Sequence[torch.Tensor], step: float, tolerances: Tolerances
) -> list[list[_Slopes]]:
    """By output and primal, column by column."""
    points = [primal.detach().to(torch.float64).clone(memory_format=torch.contiguous_format) for primal in primals]
    with torch.no_grad():
        here = _outputs(function, points)
        found = [[_Slopes(*(np.zeros((one.size, prod(point.shape))) for _ in range(4))) for point in points]
                 for one in here]  # fmt: skip
        for number, point in enumerate(points):
            for column in range(point.numel()):
                columns = _column(function, points, here, (number, column), step, tolerances)
                for of_output, slopes in zip(found, columns, strict=True):
                    for matrix, entries in zip(of_output[number], slopes, strict=True):
                        matrix[:, column] = entries
    return found


def _column(  # noqa: PLR0913 (one place of one function)
    function: Function,
    points: Sequence[torch.Tensor],
    here: _Values,
    place: tuple[int, int],
    step: float,
    tolerances: Tolerances,
) -> list[_Slopes]:
    """The difference quotients for one entry of one primal, by output."""
    found = wide = _quotients(function, points, here, place, step)
    with np.errstate(invalid="ignore", over="ignore"):
        rough = [
            ~(np.abs(one.right - one.left) <= _allowed(one, tolerances)) | (np.abs(one.central) > _STEEP)
            for one in wide
        ]
        for _ in range(NARROWINGS):
            if not any(cells.any() for cells in rough):
                break
            # Curvature, or a corner farther off, is gone at a smaller step; a corner right here is not.
            step /= NARROWER
            narrow = _quotients(function, points, here, place, step)
            calm = [
                cells
                & (np.abs(other.right - other.left) <= np.abs(one.right - one.left) / 2 + other.rounding)
                & ~_grows(one.central, other.central, NARROWER)
                for cells, one, other in zip(rough, wide, narrow, strict=True)
            ]
            found = [
                _Slopes(*(np.where(cells, new, old) for new, old in zip(_settled(other), one, strict=True)))
                for cells, one, other in zip(calm, found, narrow, strict=True)
            ]
            rough = [cells & ~quiet for cells, quiet in zip(rough, calm, strict=True)]
            wide = narrow
        return [
            one._replace(
                central=_endless(cells, one.central, other.central),
                left=_endless(cells, one.left, other.left),
                right=_endless(cells, one.right, other.right),
            )
            for cells, one, other in zip(rough, found, wide, strict=True)
        ]


def _settled(slopes: _Slopes) -> _Slopes:
    """Where there is no corner, one-sided slopes that differ from the central one only say how curved it is."""
    return slopes._replace(left=slopes.central, right=slopes.central)


def _grows(wide: Matrix, narrow: Matrix, times: float) -> _Mask:
    """Where quotients are about so many times as large with a step that many times smaller: the function jumps."""
    grown: _Mask = (np.abs(narrow) > _STEEP) & (np.abs(narrow) > np.abs(wide) * times / 2)
    return grown


def _endless(rough: _Mask, wide: Matrix, narrow: Matrix) -> Matrix:
    """Infinite where the function jumps, which has no slope there."""
    jumps = rough & _grows(wide, narrow, NARROWER**NARROWINGS)
    return np.where(jumps, np.copysign(np.inf, wide), wide)


def _quotients(
    function: Function, points: Sequence[torch.Tensor], here: _Values, place: tuple[int, int], step: float
) -> list[_Slopes]:
    number, column = place
    entries = points[number].view(-1)
    value = entries[column].item()
    entries[column] = value + step * max(1.0, abs(value))
    high, above = entries[column].item(), _outputs(function, points)
    entries[column] = value - step * max(1.0, abs(value))
    low, below = entries[column].item(), _outputs(function, points)
    entries[column] = value
    found = []
    with np.errstate(invalid="ignore", over="ignore"):
        for up, down, middle in zip(above, below, here, strict=True):
            largest = np.fmax(np.fmax(np.abs(up), np.abs(down)), np.abs(middle))
            rounding = ROUNDINGS * np.finfo(np.float64).eps * np.nan_to_num(largest, posinf=0.0) / (high - low)
            found.append(_Slopes(
                (up - down) / (high - low), (middle - down) / (value - low), (up - middle) / (high - value), rounding
            ))  # fmt: skip
    return found


def _outputs(
    function: Callable[..., torch.Tensor | Sequence[torch.Tensor]], points: Sequence[torch.Tensor]
) -> list[np.ndarray[Any, np.dtype[np.float64]]]:
    returned = function(*(point.clone() for point in points))
    outputs = [returned] if isinstance(returned, torch.Tensor) else list(returned)
    return [np.array(one.detach().to(torch.float64).reshape(-1).tolist()) for one in outputs]
