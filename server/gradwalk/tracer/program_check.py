"""gradcheck of a whole program: what one of its passes computes for each leaf, beside finite differences of the run."""

from collections.abc import Sequence
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np
import torch

from gradwalk.protocol.answers import GradcheckReport
from gradwalk.protocol.events import Event
from gradwalk.protocol.facts import Fact, fact
from gradwalk.protocol.requests import ResolvedLimits, TraceRequest
from gradwalk.tracer import originals
from gradwalk.tracer.finite_differences import Matrix
from gradwalk.tracer.forward_check import why_not
from gradwalk.tracer.gradcheck import report, unavailable
from gradwalk.tracer.perturbation import Leaves, Move, watching
from gradwalk.tracer.recorder import Recorder
from gradwalk.tracer.reevaluation import CannotRepeat
from gradwalk.tracer.run import Run
from gradwalk.tracer.surroundings import Surroundings

ENTRIES_MAX: Final = 100
"""Leaf entries that are moved; each costs two runs of the program, at least."""
SAME_OUTPUT: Final = 1e-2
"""How far the outputs in double precision may be from the program's own, relative to their largest entry."""


class PassReachedError(BaseException):
    """Ends a run at the pass in question. Not an Exception, so that no program takes it for its own."""


class _Look(NamedTuple):
    """One run up to the pass in question."""

    outputs: list[torch.Tensor]
    seeds: list[torch.Tensor]
    names: list[str]
    values: list[torch.Tensor]
    """Of the leaves, in the order of first uses."""
    writes: list[int]
    """How often each leaf was written to."""
    gradients: list[torch.Tensor | None]
    cuts: list[Fact | None]
    """Per leaf, why the engine does not see all of its uses; None where nothing is known."""


def gradcheck_of_program(
    request: TraceRequest, pass_index: int, limits: ResolvedLimits, surroundings: Surroundings | None = None
) -> list[GradcheckReport]:
    """For each leaf used before a pass: v times J beside finite differences of v times the pass's outputs.

    A leaf is moved where it is first read after the latest write to it, so differences see everything that depends on
    it, also what `detach` or `no_grad` hides from the engine. Empty when the program has no such pass, or no leaf.
    """
    program = _Program(request, pass_index, limits, surroundings)
    try:
        real = program.run(in_double=False)
        if real is None:
            return []
        double = program.run(in_double=True)
    except CannotRepeat as error:
        return [unavailable("", None, None, error.why)]
    if double is None or not _is_same(real, double):
        return [unavailable("", None, None, fact("check-other-program"))]
    reports: list[GradcheckReport] = []
    entries_left = ENTRIES_MAX
    for number, value in enumerate(real.values):
        name = real.names[number]
        entries = value.numel() * (2 if value.is_complex() else 1)
        if entries > entries_left:
            because = fact(
                "check-large-leaf", name=name, entries=f"{entries:,}", left=str(entries_left), most=str(ENTRIES_MAX)
            )
            reports.append(unavailable(name, None, None, because))
            continue
        entries_left -= entries
        reports.append(_report(program, real, double, number, name))
    return reports


class _Program:
    """The program, to be run up to one of its passes."""

    def __init__(
        self, request: TraceRequest, pass_index: int, limits: ResolvedLimits, surroundings: Surroundings | None
    ) -> None:
        self._request = request
        self._pass_index = pass_index
        self._limits = limits.model_copy(update={"jacobian_cells": 0, "jacobian_cells_total": 0})
        self._surroundings = surroundings

    def run(self, *, in_double: bool, move: Move | None = None) -> _Look | None:
        """What the pass starts from, None when the program does not get there."""
        leaves = Leaves(in_double=in_double, move=move)
        looks: list[_Look] = []
        faults: list[Exception] = []

        def look(recorder: Recorder, index: int, outputs: Sequence[Any], seeds: Sequence[Any]) -> None:
            if index == self._pass_index and not looks and not faults:
                try:
                    looks.append(_look(recorder, leaves, outputs, seeds, gradients=move is None))
                except Exception as error:  # noqa: BLE001 (told where the run was asked for)
                    faults.append(error)
                raise PassReachedError

        def prepare(recorder: Recorder) -> None:
            recorder.look_at_pass = lambda index, outputs, seeds: look(recorder, index, outputs, seeds)

        # Differences are taken without grad mode; the program decides for itself.
        with watching(leaves), torch.enable_grad():
            Run(self._request, _discard, self._limits, self._surroundings, prepare).play()
        if faults:
            raise faults[0]
        return looks[0] if looks else None


def _look(
    recorder: Recorder, leaves: Leaves, outputs: Sequence[Any], seeds: Sequence[Any], *, gradients: bool
) -> _Look:
    if not all(isinstance(one, torch.Tensor) for one in outputs):
        raise CannotRepeat(fact("check-edges"))
    if any(originals.is_legacy_batched(one) or originals.is_functorch_wrapped(one) for one in (*outputs, *seeds)
           if one is not None):  # fmt: skip
        raise CannotRepeat(fact("check-vmap"))
    found: list[torch.Tensor | None] = []
    names: list[str] = []
    cuts: list[Fact | None] = []
    if gradients:
        try:
            found = list(torch._C._ImperativeEngine().run_backward(
                tuple(outputs), tuple(seeds), True, False, tuple(leaves.found), allow_unreachable=True,
                accumulate_grad=False,
            )) if leaves.found else []  # fmt: skip
        except Exception as error:
            raise CannotRepeat(fact("check-pass-raises", text=str(error).partition("\n")[0][:300])) from error
        names = recorder.leaf_names(leaves.found)
        cuts = [recorder.cut_of(leaf, name) for leaf, name in zip(leaves.found, names, strict=True)]
    return _Look(
        [originals.clone(originals.detach(one)) for one in outputs],
        [torch.ones_like(out) if one is None else originals.clone(originals.detach(one))
         for one, out in zip(seeds, outputs, strict=True)],
        names,
        leaves.values,
        leaves.writes,
        found,
        cuts,
    )  # fmt: skip


def _is_same(real: _Look, double: _Look) -> bool:
    """Whether the run in double precision is the same computation."""
    if len(real.values) != len(double.values) or len(real.outputs) != len(double.outputs):
        return False
    for one, other in zip(real.outputs, double.outputs, strict=True):
        if one.shape != other.shape:
            return False
        exact = other.to(one.dtype)
        largest = float(exact.abs().max()) if exact.numel() else 0.0
        if not torch.allclose(one, exact, rtol=SAME_OUTPUT, atol=SAME_OUTPUT * largest, equal_nan=True):
            return False
    return True


def _report(program: _Program, real: _Look, double: _Look, number: int, name: str) -> GradcheckReport:
    gradient, value = real.gradients[number], real.values[number]
    if gradient is None:
        gradient = torch.zeros_like(value)
    shape = [*value.shape, 2] if value.is_complex() else [*value.shape]
    analytic = _row(gradient, prod(shape))

    def function(moved: torch.Tensor) -> torch.Tensor:
        look = program.run(in_double=True, move=Move(number, double.writes[number], moved))
        if look is None or [one.shape for one in look.outputs] != [one.shape for one in double.outputs]:
            raise CannotRepeat(fact("check-other-outputs"))
        total = torch.zeros((), dtype=torch.float64)
        for output, seed in zip(look.outputs, double.seeds, strict=True):
            product = output.to(torch.complex128) * seed.conj() if output.is_complex() else output * seed
            total = total + product.real.sum().to(torch.float64)
        return total

    try:
        found = report(
            function,
            value,
            analytic,
            name=name,
            argnum=None,
            output_nr=None,
            output_shape=[],
            input_shape=shape,
            cut=real.cuts[number],
        )
    except Exception as error:  # noqa: BLE001 (the program itself, at values it has not seen)
        return unavailable(name, None, None, why_not(error))
    return found


def _row(gradient: torch.Tensor, entries: int) -> Matrix:
    dense = gradient.to_dense() if gradient.layout is not torch.strided else gradient
    real = torch.view_as_real(dense.resolve_conj()) if dense.is_complex() else dense
    return np.array(real.detach().to(torch.float64).reshape(-1).tolist(), np.float64).reshape(1, entries)


def _discard(_event: Event) -> None:
    return None
