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

Matrix = np.ndarray[Any, np.dtype[np.float64]]
"""Of shape (output entries, operand entries)."""


class Comparison(NamedTuple):
    """An analytic Jacobian beside the numeric one, entry by entry."""

    numeric: Matrix
    wrong: list[tuple[int, int]]
    """(row, column) of entries that differ by more than the tolerances, row-major."""
    kinks: list[tuple[int, int]]
    """Entries whose one-sided differences disagree: the function has a corner or a jump within one step."""


def finite_differences(
    function: Callable[..., torch.Tensor | Sequence[torch.Tensor]], primals: Sequence[torch.Tensor], step: float = STEP
) -> list[list[Matrix]]:
    """Central differences: for each output, for each primal, the matrix (output entries, primal entries).

    The function is called with float64 copies of the primals, twice per entry, with grad mode off. It must be
    deterministic, and its outputs must be real.
    """
    return [[wide for wide, _ in of_output] for of_output in _differences(function, primals, step)]


def compare(
    function: Callable[..., torch.Tensor | Sequence[torch.Tensor]],
    primals: Sequence[torch.Tensor],
    analytic: Sequence[Sequence[Matrix]],
    step: float = STEP,
) -> list[list[Comparison]]:
    """The analytic Jacobians (by output, by primal) beside finite differences, wrong entries marked."""
    compared = []
    for of_output, given in zip(_differences(function, primals, step), analytic, strict=True):
        compared.append([_compared(*pair, matrix) for pair, matrix in zip(of_output, given, strict=True)])
    return compared


def _compared(numeric: Matrix, jump: Matrix, analytic: Matrix) -> Comparison:
    with np.errstate(invalid="ignore"):
        allowed = ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE * np.abs(numeric)
        same = (np.abs(analytic - numeric) <= allowed) | (analytic == numeric)
        kinked = ~(np.abs(jump) <= allowed)
    return Comparison(numeric, _places(~same), _places(kinked))


def _places(mask: np.ndarray[Any, np.dtype[np.bool_]]) -> list[tuple[int, int]]:
    return [(int(row), int(column)) for row, column in np.argwhere(mask)]


def _differences(
    function: Callable[..., torch.Tensor | Sequence[torch.Tensor]], primals: Sequence[torch.Tensor], step: float
) -> list[list[tuple[Matrix, Matrix]]]:
    """By output and primal: the central difference, and how far the two one-sided ones are apart."""
    points = [primal.detach().to(torch.float64).clone(memory_format=torch.contiguous_format) for primal in primals]
    with torch.no_grad():
        here = _outputs(function, points)
        found = [
            [(np.zeros((one.size, prod(point.shape))), np.zeros((one.size, prod(point.shape)))) for point in points]
            for one in here
        ]
        for number, point in enumerate(points):
            entries = point.view(-1)
            for column in range(entries.numel()):
                value = entries[column].item()
                entries[column] = value + step
                above = _outputs(function, points)
                entries[column] = value - step
                below = _outputs(function, points)
                entries[column] = value
                for of_output, high, low, middle in zip(found, above, below, here, strict=True):
                    of_output[number][0][:, column] = (high - low) / (2 * step)
                    of_output[number][1][:, column] = ((high - middle) - (middle - low)) / step
    return found


def _outputs(
    function: Callable[..., torch.Tensor | Sequence[torch.Tensor]], points: Sequence[torch.Tensor]
) -> list[np.ndarray[Any, np.dtype[np.float64]]]:
    returned = function(*(point.clone() for point in points))
    outputs = [returned] if isinstance(returned, torch.Tensor) else list(returned)
    return [np.array(one.detach().to(torch.float64).reshape(-1).tolist()) for one in outputs]
