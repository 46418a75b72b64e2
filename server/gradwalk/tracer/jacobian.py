"""Local Jacobians of live nodes, by asking the node itself.

A node maps v, the gradient of its outputs, to the gradients of its operands; it is linear in v. So
calling it with one-hot v's gives the rows of its Jacobian, at exactly the saved tensors that the
engine used, whatever the operation. This must happen while the saved tensors live: in a hook of the node.

**Nothing the program does is disturbed.** Calls run without hooks, without building graph, and add to no
`.grad`. Tensors saved under a `saved_tensors_hooks` are not unpacked (a checkpoint would notice), and
`AccumulateGrad` is never called (calling it accumulates). What that leaves out is on demand.

**The backward of a custom Function is the program's own code**, and calling it once more is visible if
it prints or counts. So: (1) while tracing it is called only if the caller of this found it repeatable
(`tracer.repeatable` reads its text); (2) the call sees a `sys.stdout` that goes nowhere, and the state of
torch's random numbers is put back; (3) any other custom node is on demand: the request re-runs the whole
program, which is deterministic, in a child of its own, and calls this with `in_replay=True`, where side
effects no longer matter. A Function that only computes, which is what one writes to learn about backward,
shows its Jacobian at once; one that does more is never run twice in the traced run.

**Complex values.** The gradient of a real loss with respect to z is dL/dRe z + i dL/dIm z in torch, and a
node need not be complex-linear in it (`abs`, `real`, `conj`). So each complex side is written as pairs:
its shape gets a last axis of 2 (real part, imaginary part), and the Jacobian is the ordinary real one
between those pairs, for holomorphic and other operations alike.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, NotRequired, TypedDict

import numpy as np
import torch

from gradwalk.protocol.events import LocalJacobian
from gradwalk.tracer import originals
from gradwalk.tracer.batches import batches
from gradwalk.tracer.node_calls import CallableNode, Matrix, is_being_asked, is_unpackable
from gradwalk.tracer.pointwise import mend, nan_products
from gradwalk.tracer.sides import Side, numbers_of, sides_of
from gradwalk.tracer.snapshot import value_of_entries
from gradwalk.tracer.structure import structure_of

CELLS_PER_NODE = 32
"""What asking a node costs besides its cells, in cells, so that a budget bounds time too."""

CANCELLATION = 1e-3
"""How far the largest entry's rounding reaches into the smallest ones."""

_TOLERANCES = {torch.float64: 1e-9, torch.complex128: 1e-9, torch.float32: 1e-4, torch.complex64: 1e-4}
_ROUGH_TOLERANCE = 3e-2
_LEAF = "torch::autograd::AccumulateGrad"
_NEVER_CALLED = frozenset({"CheckpointFunctionBackward", "CompiledFunctionBackward"})
_no_grad = torch.no_grad


class JacobianBudget:
    """How many cells may be computed while tracing. Counts cells, not time, so that a trace is deterministic."""

    def __init__(self, cells_each: int, cells_total: int) -> None:
        self.cells_each = cells_each
        """Of one local Jacobian."""
        self.cells_left = cells_total
        """Of all that are still to come."""

    def spend(self, cells: int) -> bool:
        """True, and the cells are gone, while they last."""
        if cells > self.cells_left:
            return False
        self.cells_left -= cells
        return True


def local_jacobians(  # noqa: PLR0913 (what one step saw)
    node: Any,
    grad_outputs: Sequence[torch.Tensor | None],
    grad_inputs: Sequence[torch.Tensor | None] | None,
    budget: JacobianBudget,
    *,
    flowing: Sequence[bool] | None = None,
    sides: tuple[Sequence[Side], Sequence[Side | None]] | None = None,
    in_replay: bool = False,
    refit: Callable[[dict[int, torch.Tensor]], None] = lambda _: None,
) -> list[LocalJacobian]:
    """d output / d operand for every operand that a gradient can flow to and every output that one arrived at.

    Values have shape output shape + operand shape. Those over the budget, and those that cannot be had without
    disturbing the program, are `{"missing": "on_demand"}` with structure None, or `too_large` when one matrix alone is
    over the limit.

    Args:
        node: a live autograd node; call this in one of its hooks.
        grad_outputs: what the engine handed to the node; decides which outputs matter.
        grad_inputs: what the node returned, to check v times J against; None to check nothing.
        flowing: per operand, whether this pass sends a gradient there; where `inputs=` cut an edge off, a node inside
            the pass computes nothing, so it cannot be asked. None: everywhere.
        sides: of the outputs and of the operands, None for an operand without an edge, where they are known already.
        in_replay: the program's run is not looked at any more: side effects of its code do not matter.
        refit: given, by operand, what a built-in node itself returns where the engine then sums or casts it.
    """
    name: str = node.name()
    outputs, operands = sides_of(node) if sides is None else sides
    if name == _LEAF or any(side is not None and side.is_nested for side in (*outputs, *operands)):
        return []
    if flowing is not None:
        operands = [side if flowing[argnum] else None for argnum, side in enumerate(operands)]
    arrived = [slot for slot, gradient in enumerate(grad_outputs) if gradient is not None and slot < len(outputs)]
    if not budget.cells_each:
        return _all_left_out(tuple(arrived), tuple(outputs), tuple(operands))
    found = [*_what_is_left_out(arrived, outputs, operands, budget.cells_each)]
    if is_being_asked(node) or any(one is not None and originals.is_batched(one) for one in grad_outputs):
        # Under vmap every example has a Jacobian of its own, and the sides are those of one example.
        return found
    wanted = [slot for slot in arrived if _fits(outputs[slot], operands, budget)]
    is_packed = bool(wanted) and not is_unpackable(node)
    if not wanted or (not in_replay and (name in _NEVER_CALLED or is_packed)):
        return found
    with _no_grad():
        asked = CallableNode(node, outputs, operands, by_engine=is_packed)
        matrices = _ask(asked, wanted, budget, in_replay=in_replay)
        mended = mend(name, asked, matrices)
        checks = _checks(matrices, arrived, grad_outputs, grad_inputs, operands, mended)
        refit(asked.unfitted(grad_outputs))
    marks = {slot: batches(name, outputs[slot], operands, of_slot) for slot, of_slot in matrices.items()}
    for one in found:
        argnum, side = one["argnum"], operands[one["argnum"]]
        matrix = matrices.get(one["output_nr"], {}).get(argnum)
        if matrix is not None and side is not None:
            output_shape, input_shape = one["output_shape"], one["input_shape"]
            one["structure"] = structure_of(matrix, output_shape, input_shape)
            one["value"] = value_of_entries(matrix, output_shape + input_shape, side.real_dtype)
            if argnum in marks[one["output_nr"]]:
                one["batch"] = marks[one["output_nr"]][argnum]
            if argnum in checks:
                one.update(checks[argnum])  # type: ignore[typeddict-item]
    return found


class _Check(TypedDict):
    """What is said of an operand's Jacobian."""

    checked: NotRequired[bool]
    nan_products: NotRequired[list[int]]


def _ask(
    node: CallableNode, slots: Sequence[int], budget: JacobianBudget, *, in_replay: bool
) -> dict[int, dict[int, Matrix]]:
    """By output and operand, the matrices that the budget lasts for; in a replay the total does not matter."""
    found: dict[int, dict[int, Matrix]] = {}
    if not node.is_callable:
        return found
    for slot in slots:
        entries = node.outputs[slot].entries
        cells = {argnum: entries * side.entries for argnum, side in enumerate(node.operands) if side is not None}
        small = [argnum for argnum, count in cells.items() if count <= budget.cells_each]
        # Every operand's gradient is computed, but only small matrices are kept.
        if not in_replay and not budget.spend(sum(cells.values()) + CELLS_PER_NODE):
            break
        try:
            found[slot] = node.matrices(slot, small)
        except Exception:  # noqa: BLE001 (the program's own code, or an operation that repeats badly: then on demand)
            break
    return found


def _fits(output: Side, operands: Sequence[Side | None], budget: JacobianBudget) -> bool:
    sides = [side for side in operands if side is not None]
    is_small = any(output.entries * side.entries <= budget.cells_each for side in sides)
    return is_small and output.is_plain and all(side.is_plain for side in sides)


@lru_cache(maxsize=4_096)
def _all_left_out(
    arrived: tuple[int, ...], outputs: tuple[Side, ...], operands: tuple[Side | None, ...]
) -> list[LocalJacobian]:
    """Where none is computed, layers that are alike say so in one list, which must not be changed."""
    return [*_what_is_left_out(arrived, outputs, operands, 0)]


def _what_is_left_out(
    arrived: Sequence[int], outputs: Sequence[Side], operands: Sequence[Side | None], cells_each: int
) -> Iterator[LocalJacobian]:
    for slot in arrived:
        for argnum, side in enumerate(operands):
            if side is not None:
                yield _left_out(argnum, slot, outputs[slot], side, cells_each)


def small_jacobians(
    slots: Sequence[int], outputs: Sequence[Side], operands: Sequence[Side | None], budget: JacobianBudget
) -> list[LocalJacobian]:
    """Those within the budget, for these outputs, without their values."""
    fitting = [slot for slot in slots if _fits(outputs[slot], operands, budget)]
    return [one for one in _what_is_left_out(fitting, outputs, operands, budget.cells_each) if one["structure"] is None]


def _left_out(argnum: int, slot: int, output: Side, operand: Side, cells_each: int) -> LocalJacobian:
    is_too_large = cells_each > 0 and output.entries * operand.entries > cells_each
    return {
        "argnum": argnum,
        "output_nr": slot,
        "structure": "too_large" if is_too_large else None,
        "value": {"missing": "on_demand"},
        "output_shape": [*output.real_shape],
        "input_shape": [*operand.real_shape],
    }


def _checks(  # noqa: PLR0913 (what one step saw)
    matrices: dict[int, dict[int, Matrix]],
    arrived: Sequence[int],
    grad_outputs: Sequence[torch.Tensor | None],
    grad_inputs: Sequence[torch.Tensor | None] | None,
    operands: Sequence[Side | None],
    mended: set[int],
) -> dict[int, "_Check"]:
    """Per operand, whether v times J, summed over outputs, is what the node returned; only where all J are there.

    Where an infinite factor met the zeros of a one-hot v, a NaN in J hides the product: then there is no verdict.
    """
    if grad_inputs is None or list(matrices) != arrived:
        return {}
    checks: dict[int, _Check] = {}
    v = {slot: numbers_of(gradient) for slot, gradient in enumerate(grad_outputs) if gradient is not None}
    for argnum, (side, returned) in enumerate(zip(operands, grad_inputs, strict=False)):
        if side is not None and returned is not None and all(argnum in matrices[slot] for slot in arrived):
            factors = [(v[slot], matrices[slot][argnum]) for slot in arrived]
            precision = _Precision(_TOLERANCES.get(side.dtype, _ROUGH_TOLERANCE), torch.finfo(side.dtype).max)
            is_mended = argnum in mended
            verdict = _is_product(factors, numbers_of(returned), precision, is_mended=is_mended)
            check: _Check = {} if verdict is None else {"checked": verdict}
            met = nan_products(*factors[0], numbers_of(returned)) if len(factors) == 1 else []
            if met:
                check["nan_products"] = met
            if check:
                checks[argnum] = check
    return checks


def _is_product(
    factors: Sequence[tuple[Any, Matrix]], returned: Any, precision: "_Precision", *, is_mended: bool
) -> bool | None:
    """Whether the sum of v times J is `returned`, to within rounding: relative to the sum of the terms' magnitudes.

    None where that cannot be told: after an overflow, and where all that differs is noise beside v.
    """
    with np.errstate(all="ignore"):
        if len(factors) == 1:
            # A product is no larger than the sum of its terms' magnitudes: what is this near needs no second look.
            v, matrix = factors[0]
            product = v @ matrix
            if (np.isfinite(product) & (np.abs(product - returned) <= precision.tolerance * np.abs(product))).all():
                return True
        return _is_matrix_product(factors, returned, precision, is_mended=is_mended)


def _is_matrix_product(
    factors: Sequence[tuple[Any, Matrix]], returned: Any, precision: "_Precision", *, is_mended: bool
) -> bool | None:
    product, magnitude = np.zeros(len(returned)), np.zeros(len(returned))
    largest_v = 0.0
    for weights, matrix in factors:
        # Rows that v weighs with 0 are left out: an infinite row times 0 says nothing, unless its zeros are true ones.
        used = weights != 0
        if is_mended:
            product[~np.isfinite(matrix[~used]).all(axis=0)] = np.nan
        if not used.all():
            weights, matrix = weights[used], matrix[used]
        product += weights @ matrix
        magnitude += np.abs(weights) @ np.abs(matrix)
        largest_v = max(largest_v, np.abs(weights).max(initial=0.0))
    # Entries that cancel to almost nothing are rounded relative to their neighbours.
    tolerance = precision.tolerance
    difference = np.abs(product - returned)
    close = difference <= tolerance * (magnitude + CANCELLATION * magnitude[np.isfinite(magnitude)].max(initial=0.0))
    exact = (product == returned) | (np.isnan(product) & np.isnan(returned))
    overflowed = (np.abs(product) >= precision.largest * (1 - tolerance)) & (returned == np.sign(product) * np.inf)
    if np.all(exact | (close & np.isfinite(product)) | overflowed):
        return True
    is_finite = magnitude.max(initial=0.0) < precision.largest and all(np.isfinite(one).all() for _, one in factors)
    is_noise = np.all(exact | (difference <= tolerance * CANCELLATION * largest_v))
    return False if is_finite and not is_noise else None


class _Precision(NamedTuple):
    """Of an operand's dtype."""

    tolerance: float
    largest: float
    """What is larger is infinite."""
