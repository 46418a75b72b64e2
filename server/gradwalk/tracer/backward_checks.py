"""Whether a custom backward is the derivative of its forward, found out while tracing where that costs little.

Few entries are compared one by one, in the first steps of a Function. What is larger, and every later step, is compared
along a direction d drawn by chance, with the v that arrived: v (J d) by two runs of forward, (v J) d by what backward
returned, which must also be linear in v.

The program's forward runs again, on copies and in double precision. So it must not be noticed:
only a forward that does nothing but compute (`repeatable`), draws no random numbers and gives the same output again is
asked. No node is built, because `forward` is called as it is, without grad mode. Costs are counted in operations, not
in time, so that a trace is deterministic.
"""

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from torch.autograd.function import FunctionCtx

from gradwalk.protocol.answers import GradcheckReport
from gradwalk.protocol.events import Differences, LocalJacobian
from gradwalk.protocol.facts import Fact, Numbers, Shape, fact, in_turn, number
from gradwalk.tracer import originals
from gradwalk.tracer.calls import Call
from gradwalk.tracer.custom import grad_output_name
from gradwalk.tracer.decimals import spell_non_finite
from gradwalk.tracer.direction_check import (
    SCALE,
    Gradients,
    are_swapped,
    compare_along,
    is_derivative_alone,
    is_scaled,
    is_transposed,
)
from gradwalk.tracer.finite_differences import NARROWINGS
from gradwalk.tracer.forward_check import compare_with_forward
from gradwalk.tracer.node_calls import CallableNode, is_unpackable, unnoticed
from gradwalk.tracer.originals import Tensor
from gradwalk.tracer.reevaluation import CannotRepeat, Forward, floating, in_double, is_differentiable, only_wide, wider
from gradwalk.tracer.repeatable import is_repeatable, is_repeatable_forward
from gradwalk.tracer.sides import Row, sides_of
from gradwalk.tracer.snapshot import value_of_entries
from gradwalk.tracer.structure import structure_of

CHECKS_PER_FUNCTION: Final = 4
OPERATIONS_PER_CHECK: Final = 4_000
OPERATIONS_PER_RUN: Final = 12_000
_RUNS_PER_ENTRY: Final = 2 * (NARROWINGS + 1)
_ROUNDED: Final = {torch.float64: 1e-9, torch.complex128: 1e-9, torch.float32: 1e-5, torch.complex64: 1e-5}
"""How far the rounding of the largest entry reaches into the others, in the program's own dtype."""
_ROUNDED_ROUGHLY: Final = 3e-2
_WRITTEN_OUT: Final = 4
"""Entries of a vector that a sentence has room for."""
_get_rng_state = torch.get_rng_state
_no_grad = torch.no_grad


class BackwardChecks:
    """Checks the first steps of each Function of a run."""

    def __init__(self) -> None:
        self._done: Counter[type] = Counter()
        self._left = OPERATIONS_PER_RUN
        self._left_along = OPERATIONS_PER_RUN

    def add(
        self,
        node: Any,
        call: Call | None,
        jacobians: Sequence[LocalJacobian],
        known: Sequence[Any],
        gradients: Gradients,
    ) -> None:
        """Adds `differences` to the local Jacobians of a custom node, where a check can be had and costs little.

        Args:
            node: live, in one of its hooks.
            call: that built it.
            jacobians: of its step.
            known: the outputs as the trace has them, to tell that the forward still does what it did.
            gradients: of its step.
        """
        function = None if call is None else call.function
        if call is None or function is None or call.given is None or not jacobians:
            return
        if not is_repeatable_forward(function):
            return
        forward = _forward_of(node, call, call.given)
        if self._afford(call, function, jacobians):
            for one in jacobians:
                slot = one["output_nr"]
                with _no_grad(), unnoticed():
                    if not _is_as_before(forward, slot, known):
                        continue
                    found = compare_with_forward(forward, one, node._input_metadata[slot].shape, cells_max=0)
                    passing = _Passing(forward, one["argnum"], slot, gradients)
                    differences = _differences(found, forward.operands[one["argnum"]].dtype, passing)
                if differences is not None:
                    one["differences"] = differences
        self._compare_along(node, forward, call, jacobians, known, gradients)
        self._recognize(node, forward, call, jacobians, gradients)

    def derivatives(
        self, node: Any, call: Call | None, jacobians: Sequence[LocalJacobian], known: Sequence[Any]
    ) -> list[LocalJacobian]:
        """Of a node whose backward raised, the Jacobians of its forward by finite differences, where that costs little.

        Args:
            node: and `call`, `known`, as in `add`.
            jacobians: those that are wanted, without their values.
        """
        function = None if call is None else call.function
        if call is None or function is None or call.given is None or not is_repeatable_forward(function):
            return []
        blank = [_with_value(one, np.zeros(_size(one)), torch.float64) for one in jacobians]
        if not self._afford(call, function, blank):
            return []
        forward = _forward_of(node, call, call.given)
        found: list[LocalJacobian] = []
        for one in blank:
            with _no_grad(), unnoticed():
                if not _is_as_before(forward, one["output_nr"], known):
                    continue
                shape = node._input_metadata[one["output_nr"]].shape
                compared = compare_with_forward(forward, one, shape, cells_max=0)
            if compared["verdict"] == "unavailable" or compared["kinks"]:
                continue
            numeric = _matrix(compared, "numeric")
            numeric[np.abs(numeric) < _ROUNDED[torch.float32] * np.abs(numeric).max(initial=0.0)] = 0.0
            dtype = forward.operands[one["argnum"]].dtype
            one = _with_value(one, numeric, dtype.to_real() if dtype.is_complex else dtype)
            one["structure"] = structure_of(numeric, one["output_shape"], one["input_shape"])
            one["differences"] = {"verdict": "raised"}
            found.append(one)
        return found

    def _compare_along(  # noqa: PLR0913 (what one step saw)
        self,
        node: Any,
        forward: Forward,
        call: Call,
        jacobians: Sequence[LocalJacobian],
        known: Sequence[Any],
        gradients: Gradients,
    ) -> None:
        """Compares along a direction what was not compared entry by entry, or was and agreed."""
        by_argnum = {one["argnum"]: one for one in jacobians}
        cost = (2 + 2 * len(by_argnum)) * (len(call.operations) + 1)
        if cost > self._left_along:
            return
        self._left_along -= cost
        with _no_grad(), unnoticed():
            slots = [slot for slot, v in enumerate(gradients.outputs) if v is not None]
            if not slots or not all(_is_as_before(forward, slot, known) for slot in slots):
                return
            gradients = gradients._replace(scaled=_of_scaled(node, gradients.outputs))
            for argnum, one in by_argnum.items():
                verdict = one.get("differences", {}).get("verdict")
                if verdict in (None, "agrees"):
                    found = compare_along(forward, argnum, gradients, was_linear=verdict == "agrees")
                    if found is not None:
                        one["differences"] = found

    def _recognize(
        self, node: Any, forward: Forward, call: Call, jacobians: Sequence[LocalJacobian], gradients: Gradients
    ) -> None:
        """Says which mistake it is, where it is one that many make."""
        wrong = [one for one in jacobians if one.get("differences", {}).get("verdict") == "differs"]
        argnums = sorted({one["argnum"] for one in wrong})
        cost = (2 + 6 * len(argnums) ** 2) * (len(call.operations) + 1)
        if not argnums or cost > self._left_along:
            return
        self._left_along -= cost
        with _no_grad(), unnoticed():
            made_of_zeros = _made_of(node, [None for _ in gradients.outputs])
            # What arrived may be alike for two operands by chance.
            drawn = [None if v is None else _drawn(v, slot) for slot, v in enumerate(gradients.outputs)]
            others = Gradients(drawn, _of(node, drawn))
            for one in wrong:
                because = _constant(node, forward, one, gradients, made_of_zeros)
                because = because or _unscaled(node, one, gradients)
                because = because or _left_out(node, forward, one, jacobians)
                because = because or _swapped(forward, one["argnum"], argnums, others)
                if because is not None:
                    one["differences"]["because"] = because
                elif others.inputs and is_transposed(forward, one["argnum"], others):
                    one["differences"]["because"] = in_turn(one["differences"]["because"], fact("check-transposed"))

    def _afford(self, call: Call, function: type, jacobians: Sequence[LocalJacobian]) -> bool:
        if not any("data" in one["value"] for one in jacobians) or self._done[function] >= CHECKS_PER_FUNCTION:
            return False
        moved = [one for one in call.given or () if isinstance(one, Tensor) and is_differentiable(one)]
        entries = sum(2 * one.numel() * (2 if one.is_complex() else 1) for one in moved)
        cost = (3 + _RUNS_PER_ENTRY * entries) * (len(call.operations) + 1)
        if cost > min(OPERATIONS_PER_CHECK, self._left):
            return False
        self._left -= cost
        self._done[function] += 1
        return True


def _size(one: LocalJacobian) -> tuple[int, int]:
    return prod(one["output_shape"]), prod(one["input_shape"])


def _with_value(one: LocalJacobian, matrix: Any, dtype: torch.dtype) -> LocalJacobian:
    shape = [*one["output_shape"], *one["input_shape"]]
    return {**one, "value": value_of_entries(matrix.reshape(-1).tolist(), shape, dtype)}


def _of_scaled(node: Any, grad_outputs: Sequence[torch.Tensor | None]) -> Row:
    """What backward returns for `SCALE` times these v's; nothing where it must not run again."""
    return _of(node, [None if v is None else SCALE * v for v in grad_outputs])


def _made_of(node: Any, grad_outputs: Sequence[torch.Tensor | None]) -> Row:
    """What backward makes of these v's, None being zeros; nothing where it must not run again."""
    if not is_repeatable(type(node)._forward_cls) or not is_unpackable(node):
        return []
    return CallableNode(node, *sides_of(node)).of(grad_outputs)


def _of(node: Any, grad_outputs: Sequence[torch.Tensor | None]) -> Row:
    """The same as the engine hands it on."""
    return _fitted(node, _made_of(node, grad_outputs))


def _fitted(node: Any, row: Row) -> Row:
    pairs = zip(row, sides_of(node)[1], strict=False)
    try:
        return [one if one is None or side is None else side.fit(one) for one, side in pairs]
    except RuntimeError:
        # For other v's it returned another shape.
        return []


def _constant(node: Any, forward: Forward, one: LocalJacobian, gradients: Gradients, made_of_zeros: Row) -> Fact | None:
    """That backward does not use v: it returns the same for zeros, and not zeros as every product with v."""
    argnum, of_zeros = one["argnum"], _fitted(node, made_of_zeros)
    returned, other = gradients.inputs[argnum], of_zeros[argnum] if argnum < len(of_zeros) else None
    if returned is None or other is None or returned.layout is not torch.strided or returned.dtype != other.dtype:
        return None
    if not returned.any() or not torch.equal(returned, other):
        return None
    arrived = [slot for slot, v in enumerate(gradients.outputs) if v is not None]
    name = grad_output_name(type(node)._forward_cls, arrived[0] if arrived else 0)
    made = made_of_zeros[argnum]
    if made is not None and made.shape != other.shape and _is_jacobian(made, one["differences"]):
        shape: Shape = {"shape": [*made.shape]}
        return fact("check-whole-jacobian", v=name, shape=shape)
    if len(arrived) != 1 or not is_derivative_alone(forward, argnum, arrived[0], returned):
        return fact("check-constant", v=name)
    because, v = fact("check-derivative-alone", v=name), gradients.outputs[arrived[0]]
    if v is None or v.dim() > 1 or v.numel() > _WRITTEN_OUT:
        return because
    value: Numbers = {"numbers": [spell_non_finite(float(each)) for each in v.reshape(-1)], "shape": [*v.shape]}
    return in_turn(because, fact("check-arrived", v=name, value=value))


def _is_jacobian(made: torch.Tensor, differences: Differences) -> bool:
    """Whether backward made what finite differences give, entry by entry."""
    true = np.array(differences.get("value", {}).get("data", ()), np.float64)
    return made.numel() == true.size and np.allclose(made.reshape(-1).double(), true, rtol=1e-3, atol=1e-6)


def _unscaled(node: Any, one: LocalJacobian, gradients: Gradients) -> Fact | None:
    """That it is not linear in v, where entries of a Jacobian were counted: it has none."""
    returned, scaled = gradients.inputs[one["argnum"]], _of_scaled(node, gradients.outputs)
    if returned is None or one["differences"]["because"]["kind"] != "check-differs" or one["argnum"] >= len(scaled):
        return None
    if is_scaled(returned, scaled[one["argnum"]]):
        return None
    arrived = [slot for slot, v in enumerate(gradients.outputs) if v is not None]
    v = grad_output_name(type(node)._forward_cls, arrived[0])
    return fact("check-no-jacobian-product", v=v, scale=number(SCALE))


def _left_out(node: Any, forward: Forward, one: LocalJacobian, jacobians: Sequence[LocalJacobian]) -> Fact | None:
    """That it leaves one output out of what it returns for an operand, and another one not."""
    by_slot = {each["output_nr"]: each["value"] for each in jacobians if each["argnum"] == one["argnum"]}
    used = {slot for slot, value in by_slot.items() if "data" in value and np.array(value["data"], np.float64).any()}
    slot = one["output_nr"]
    if not used or slot in used or "data" not in by_slot[slot]:
        return None
    v = grad_output_name(type(node)._forward_cls, slot)
    return fact("check-leaves-out", v=v, name=forward.names[one["argnum"]], number=str(slot + 1))


def _drawn(v: torch.Tensor, seed: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(tuple(v.shape))).to(v.dtype)


def _swapped(forward: Forward, argnum: int, wrong: Sequence[int], gradients: Gradients) -> Fact | None:
    """That it returns the gradients of two operands in the wrong order."""
    for other in wrong if gradients.inputs else ():
        if other != argnum and are_swapped(forward, argnum, other, gradients):
            return fact("check-swapped", name=forward.names[argnum], other=forward.names[other])
    return None


def _forward_of(node: Any, call: Call, given: tuple[Any, ...]) -> Forward:
    positions = [position for position, argument in enumerate(given) if isinstance(argument, Tensor)]

    def apply(arguments: Sequence[Any]) -> list[torch.Tensor | None]:
        function: Any = call.function
        state = _get_rng_state()
        if "setup_context" in vars(function):
            returned = function.forward(*arguments)
        else:
            context: Any = FunctionCtx()
            context.needs_input_grad = node.needs_input_grad
            returned = function.forward(context, *arguments)
        if not torch.equal(state, _get_rng_state()):
            raise CannotRepeat(fact("check-draws"))
        return floating(returned)

    def run(operands: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
        arguments = [wider(argument) for argument in given]
        for position, operand in zip(positions, operands, strict=True):
            arguments[position] = originals.clone(operand)  # forward may write into it
        with in_double():
            return only_wide(apply(arguments))

    def run_again() -> list[torch.Tensor | None]:
        return apply([originals.clone(one) if isinstance(one, Tensor) else one for one in given])

    return Forward(call.parameters or [], [given[position] for position in positions], run, run_again)


def _is_as_before(forward: Forward, slot: int, known: Sequence[Any]) -> bool:
    """Whether the forward, run again, still gives this output: what it reads besides its arguments may have changed."""
    try:
        again = forward.run_again()[slot]
    except Exception:  # noqa: BLE001 (the program's own code)
        return False
    value = known[slot]["value"] if slot < len(known) else None
    if again is None or value is None or list(again.shape) != value["shape"]:
        return False
    if "summary" in value:
        norm = float(torch.linalg.vector_norm(again.to(torch.complex128 if again.is_complex() else torch.float64)))
        return bool(np.isclose(norm, float(value["summary"]["norm"]), rtol=1e-6, atol=0.0, equal_nan=True))
    if "data" not in value:
        return False
    numbers = torch.view_as_real(again.resolve_conj()) if again.is_complex() else again
    told = torch.tensor(np.array(value["data"], np.float64), dtype=numbers.dtype)
    return torch.allclose(numbers.reshape(-1), told.reshape(-1), rtol=0.0, atol=0.0, equal_nan=True)


class _Passing(NamedTuple):
    """What a step does with one operand and one output."""

    forward: Forward
    argnum: int
    slot: int
    gradients: Gradients

    def hands_on(self) -> bool:
        """Whether the output is the operand."""
        operand, output = self.forward.operands[self.argnum], self.forward.run_again()[self.slot]
        return output is not None and output.dtype == operand.dtype and torch.equal(output, operand)

    def multiplies_by(self, factor: float) -> bool:
        """Whether backward did so with the `v` that arrived."""
        v, returned = self.gradients.outputs[self.slot], self.gradients.inputs[self.argnum]
        return v is None or returned is None or torch.allclose(returned, factor * v, rtol=1e-3, atol=0.0)


def _differences(found: GradcheckReport, dtype: torch.dtype, passing: _Passing) -> Differences | None:
    verdict = found["verdict"]
    if verdict == "unavailable":
        return None
    if verdict != "differs":
        return {"verdict": verdict}
    numeric, analytic = _matrix(found, "numeric"), _matrix(found, "analytic")
    rounding = _ROUNDED.get(dtype, _ROUNDED_ROUGHLY) * np.nanmax(np.abs(numeric), initial=0.0)
    if np.allclose(analytic, numeric, rtol=0.0, atol=rounding, equal_nan=True):
        return {"verdict": "agrees"}
    value = found["numeric"]
    if value is None:
        return None
    return {"verdict": "differs", "value": value, "because": _because(found, numeric, analytic, passing)}


def _because(found: GradcheckReport, numeric: Any, analytic: Any, passing: _Passing) -> Fact:
    name = found["name"]
    smooth = numeric.copy()
    for kink in found["kinks"]:
        smooth[kink["row"], kink["column"]] = 0.0
    if not smooth.any():
        return fact("check-flat", name=name)
    if not analytic.any():
        return fact("check-stops", name=name)
    is_square = numeric.shape[0] == numeric.shape[1]
    is_identity = is_square and np.allclose(numeric, np.eye(len(numeric)), rtol=0.0, atol=1e-6)
    if is_identity and passing.hands_on():
        factors = analytic[numeric > 1 / 2]
        if (factors == factors[0]).all() and passing.multiplies_by(float(factors[0])):
            return fact("check-identity-times", name=name, factor=number(spell_non_finite(float(factors[0]))))
        return fact("check-identity", name=name)
    diagonal = np.diag(np.diag(numeric)) if is_square else numeric
    if not np.allclose(numeric, diagonal, rtol=1e-2) and np.allclose(analytic, diagonal, rtol=1e-3, atol=1e-6):
        return fact("check-diagonal")
    return found["because"]


def _matrix(found: GradcheckReport, side: Any) -> Any:
    rows = int(np.prod(found["output_shape"]))
    return np.array([float(one) for one in found[side]["data"]], np.float64).reshape(rows, -1)  # type: ignore[literal-required]
