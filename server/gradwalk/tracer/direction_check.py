"""A custom backward beside its forward along one direction d: two runs of forward, whatever the size.

With the v that arrived, v (J d) comes of the difference of two runs, and (v J) d of what backward returned. So it also
unmasks a backward that is not linear in v, whose Jacobian, made of one-hot v's, may be right; `v * v` is right for a v
of ones as well, and not for `SCALE` times it.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import torch

from gradwalk.protocol.events import Differences
from gradwalk.protocol.facts import Fact, fact, number
from gradwalk.tracer.finding import measured
from gradwalk.tracer.finite_differences import ROUNDINGS, STEP
from gradwalk.tracer.forward_check import reads_one_triangle
from gradwalk.tracer.reevaluation import Forward, wider

_ROUNDED: Final = {torch.float64: 1e-7, torch.float32: 1e-4}
"""How far the two may be apart by rounding, relative to the magnitudes of their terms."""
_ROUNDED_ROUGHLY: Final = 3e-2
_BEND: Final = 1e-3
"""How far the slopes to both sides are apart where there is no corner."""
SCALE: Final = -2
"""Another length and sign, and no rounding."""
_RUNS: Final = 3
"""A step before an operand, at it and a step after it."""


class Gradients(NamedTuple):
    """Of one step."""

    outputs: Sequence[torch.Tensor | None]
    inputs: Sequence[torch.Tensor | None]
    """As the rule returned them."""
    scaled: Sequence[torch.Tensor | None] = ()
    """What it returns for `SCALE` times the outputs' v's, where it may be run again."""


class _Sum(NamedTuple):
    """A sum, and what the magnitudes of its terms come to."""

    total: float = 0.0
    size: float = 0.0

    def plus(self, terms: torch.Tensor) -> "_Sum":
        return _Sum(self.total + float(terms.sum()), self.size + float(terms.abs().sum()))


class _Change(NamedTuple):
    """How forward changes along a direction."""

    along: _Sum
    """v times that."""
    bend: float
    """How much the slopes to both sides differ, times v: at a corner there is nothing to compare with."""
    is_identity: bool
    """The output is the operand, and moves as it does."""
    rounding: float
    """What the product can be off by: a small change of a large value is lost when that is rounded."""


def compare_along(forward: Forward, argnum: int, gradients: Gradients, *, was_linear: bool) -> Differences | None:
    """How both differ; None where they do not, and where nothing can be said: at corners, at values not finite.

    `was_linear`: the Jacobian that backward makes of one-hot v's is that of forward.
    """
    operand, returned = forward.operands[argnum], gradients.inputs[argnum]
    if returned is None or returned.shape != operand.shape or returned.is_complex() != operand.is_complex():
        return None
    d = _direction(argnum, operand)
    try:
        if reads_one_triangle(forward, argnum):
            d = d + d.mH
    except Exception:  # noqa: BLE001 (the program's own forward, at values it has not seen)
        return None
    change = _change_along(forward, argnum, d, gradients.outputs)
    if change is None:
        return None
    by_backward = _Sum().plus(_products(returned, d))
    is_finite = np.isfinite(change.along.size + by_backward.size)
    if change.bend > _allowed(change, by_backward, operand.dtype) or not is_finite:
        return None
    name = forward.names[argnum]
    if _are_apart(change, by_backward, operand.dtype):
        return {"verdict": "differs", "because": _because(name, change, by_backward, was_linear)}
    if change.is_identity or argnum >= len(gradients.scaled) or is_scaled(returned, gradients.scaled[argnum]):
        # What hands its operand on may change v on purpose, as clipping does.
        return None
    return {"verdict": "differs", "because": fact("check-not-scaled", name=name, scale=number(SCALE))}


def is_derivative_alone(forward: Forward, argnum: int, slot: int, returned: torch.Tensor) -> bool:
    """Whether this is forward's slope, entry by entry or of one number: what a v of ones would give."""
    operand = forward.operands[argnum]
    if operand.is_complex() or returned.is_complex() or returned.shape != operand.shape:
        return False
    d = _direction(argnum, operand)
    runs, step = _runs_along(forward, argnum, d)
    found = [output.reshape(-1) for outputs in runs if (output := outputs[slot]) is not None]
    if len(found) < _RUNS:
        return False
    low, here, high = found
    slope, along = (high - low) / (2 * step), (wider(returned) * d).reshape(-1)
    if slope.numel() == 1:
        along = along.sum(0, keepdim=True)
    if slope.shape != along.shape or slope.is_complex():
        return False
    # At a corner there is nothing to compare with.
    is_smooth = (high - 2 * here + low).abs() / step < _BEND
    return bool(is_smooth.any()) and torch.allclose(slope[is_smooth], along[is_smooth], rtol=1e-3, atol=1e-5)


def are_swapped(forward: Forward, one: int, other: int, gradients: Gradients) -> bool:
    """Whether what backward returned for each of two operands is right for the other one."""
    of_one, of_other = gradients.inputs[one], gradients.inputs[other]
    return _is_right(forward, one, of_other, gradients) and _is_right(forward, other, of_one, gradients)


def is_transposed(forward: Forward, argnum: int, gradients: Gradients) -> bool:
    """Whether the transpose of what backward returned for an operand would be right."""
    returned = gradients.inputs[argnum]
    return returned is not None and returned.dim() > 1 and _is_right(forward, argnum, returned.mT, gradients)


def _is_right(forward: Forward, argnum: int, returned: torch.Tensor | None, gradients: Gradients) -> bool:
    operand = forward.operands[argnum]
    if returned is None or returned.shape != operand.shape or returned.is_complex() != operand.is_complex():
        return False
    d = _direction(argnum, operand)
    change = _change_along(forward, argnum, d, gradients.outputs)
    by_backward = _Sum().plus(_products(returned, d))
    return change is not None and change.along.size > 0 and not _are_apart(change, by_backward, operand.dtype)


def _allowed(change: _Change, by_backward: _Sum, dtype: torch.dtype) -> float:
    return _ROUNDED.get(dtype, _ROUNDED_ROUGHLY) * (change.along.size + by_backward.size) + change.rounding


def _are_apart(change: _Change, by_backward: _Sum, dtype: torch.dtype) -> bool:
    return abs(change.along.total - by_backward.total) > _allowed(change, by_backward, dtype)


def is_scaled(returned: torch.Tensor, scaled: torch.Tensor | None) -> bool:
    """Whether it is; also where that cannot be told."""
    if scaled is None or scaled.shape != returned.shape or scaled.layout is not torch.strided:
        return True
    rounding = _ROUNDED.get(returned.dtype, _ROUNDED_ROUGHLY)
    found, expected = wider(scaled), SCALE * wider(returned)
    return not found.isfinite().all() or torch.allclose(found, expected, rtol=rounding, atol=0.0)


def _direction(argnum: int, operand: torch.Tensor) -> torch.Tensor:
    drawn, shape = np.random.default_rng(argnum), tuple(operand.shape)
    d = torch.from_numpy(drawn.standard_normal(shape))
    return torch.complex(d, torch.from_numpy(drawn.standard_normal(shape))) if operand.is_complex() else d


def _products(v: torch.Tensor, change: torch.Tensor) -> torch.Tensor:
    """Entry by entry; of complex numbers the real parts with the real parts and the imaginary with the imaginary."""
    return _real(wider(v)) * _real(change)


def _real(value: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(value.resolve_conj()) if value.is_complex() else value


def _runs_along(forward: Forward, argnum: int, d: torch.Tensor) -> tuple[list[list[torch.Tensor | None]], float]:
    """The outputs of `_RUNS` runs, and the length of a step; no outputs where forward raises."""
    operands = [wider(one) for one in forward.operands]
    step = STEP * max(1.0, float(operands[argnum].abs().max()))

    def outputs_at(moved: float) -> list[torch.Tensor | None]:
        return forward.run([one + moved * d if at == argnum else one for at, one in enumerate(operands)])

    try:
        return [outputs_at(moved) for moved in (-step, 0.0, step)], step
    except Exception:  # noqa: BLE001 (the program's own forward, at values it has not seen)
        return [], step


def _change_along(forward: Forward, argnum: int, d: torch.Tensor, vs: Sequence[torch.Tensor | None]) -> _Change | None:
    """None where an output cannot be compared."""
    operand = wider(forward.operands[argnum])
    runs, step = _runs_along(forward, argnum, d)
    if not runs:
        return None
    found = _Change(_Sum(), 0.0, is_identity=True, rounding=0.0)
    for slot, v in enumerate(vs):
        if v is None:
            continue
        low, here, high = (outputs[slot] if slot < len(outputs) else None for outputs in runs)
        if low is None or here is None or high is None or low.shape != v.shape or low.is_complex() != v.is_complex():
            return None
        slope = (high - low) / (2 * step)
        bend = float(_products(v, (high - 2 * here + low) / step).abs().sum())
        rounding = ROUNDINGS * torch.finfo(torch.float64).eps * float(_products(v, here).abs().sum()) / step
        is_handed_on = here.dtype == d.dtype and here.shape == d.shape and torch.equal(here, operand)
        found = _Change(
            found.along.plus(_products(v, slope)),
            found.bend + bend,
            found.is_identity and is_handed_on and torch.allclose(slope, d, rtol=1e-6, atol=1e-6),
            found.rounding + rounding,
        )
    return found


def _because(name: str, change: _Change, by_backward: _Sum, was_linear: bool) -> Fact:
    if change.along.size == 0:
        return fact("check-flat", name=name)
    if by_backward.size == 0:
        return fact("check-stops", name=name)
    if change.is_identity:
        return fact("check-identity", name=name)
    if was_linear:
        return fact("check-not-linear", name=name)
    along, back = measured(change.along.total), measured(by_backward.total)
    return fact("check-direction", name=name, forward=along, backward=back)
