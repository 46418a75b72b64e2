"""Local Jacobians of live nodes, by asking the node itself.

A node maps v, the gradient of its outputs, to the gradients of its operands; it is linear in v. So
calling it with one-hot v's gives the rows of its Jacobian, at exactly the saved tensors that the
engine used, whatever the operation. This must happen while the saved tensors live: in a hook of the node.

**Nothing the program does is disturbed.** Calls run without hooks, without building graph, and add to no
`.grad`. Tensors saved under a `saved_tensors_hooks` are not unpacked (a checkpoint would notice), and
`AccumulateGrad` is never called (calling it accumulates). What that leaves out is on demand.

**The backward of a custom Function is the program's own code**, and calling it once more is visible if
it prints or counts. So: (1) by default it is called only if its caller found it repeatable
(`tracer.custom.is_repeatable` reads its bytecode: no writes to globals, attributes, in place or to
lists); (2) the call sees a `sys.stdout` that goes nowhere, and the state of torch's random numbers is
put back; (3) any other custom node is on demand: the request re-runs the whole program, which is
deterministic, in a child of its own, and calls this with `in_replay=True`, where side effects no longer
matter. A Function that only computes, which is what one writes to learn about backward, shows its
Jacobian at once; one that does more is never run twice in the traced run.

**Complex values.** The gradient of a real loss with respect to z is dL/dRe z + i dL/dIm z in torch, and a
node need not be complex-linear in it (`abs`, `real`, `conj`). So each complex side is written as pairs:
its shape gets a last axis of 2 (real part, imaginary part), and the Jacobian is the ordinary real one
between those pairs, for holomorphic and other operations alike.
"""

import contextlib
import io
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import torch

from gradwalk.protocol.events import LocalJacobian
from gradwalk.tracer.snapshot import snapshot
from gradwalk.tracer.structure import structure_of

ROWS_WORTH_BATCHING = 12
"""From so many rows on, one call under vmap is quicker than one call per row."""
CELLS_PER_NODE = 32
"""What asking a node costs besides its cells, in cells, so that a budget bounds time too."""

_TOLERANCES = {torch.float64: 1e-9, torch.complex128: 1e-9, torch.float32: 1e-4, torch.complex64: 1e-4}
_ROUGH_TOLERANCE = 3e-2
_NEVER_CALLED = frozenset({"torch::autograd::AccumulateGrad", "CheckpointFunctionBackward", "CompiledFunctionBackward"})
_NEVER_BATCHED = ("AsStrided", "torch::autograd::", "MaskedSelect")

_base = torch._C.TensorBase
_sum_to_size, _to, _view_as_real, _to_dense = _base.sum_to_size, _base.to, torch.view_as_real, _base.to_dense
_reshape, _resolve_conj, _stack, _zeros, _eye = _base.reshape, _base.resolve_conj, torch.stack, torch.zeros, torch.eye
_no_grad, _vmap, _strided, _view_as_complex = torch.no_grad, torch.vmap, torch.strided, torch.view_as_complex
_numpy, _size, _expand, _detach, _float64 = _base.numpy, torch.Size, _base.expand, _base.detach, torch.float64
_get_rng_state, _set_rng_state = torch.get_rng_state, torch.set_rng_state
_functorch: Any = torch._C._functorch

Row = Sequence[torch.Tensor | None]
"""What a node returns for one v: a gradient per operand."""


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


class _Side(NamedTuple):
    """One output or one operand of a node."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    is_plain: bool
    """A dense tensor in ordinary memory."""

    @property
    def real_shape(self) -> list[int]:
        return [*self.shape, 2] if self.dtype.is_complex else [*self.shape]

    @property
    def entries(self) -> int:
        return prod(self.real_shape)


def local_jacobians(
    node: Any,
    grad_outputs: Sequence[torch.Tensor | None],
    grad_inputs: Sequence[torch.Tensor | None] | None,
    budget: JacobianBudget,
    *,
    in_replay: bool = False,
) -> list[LocalJacobian]:
    """d output / d operand for every operand that a gradient can flow to and every output that one arrived at.

    Values have shape output shape + operand shape. Those over the budget, and those that cannot be had without
    disturbing the program, are `{"missing": "on_demand"}` with structure None, or `too_large` when one matrix alone is
    over the limit.

    Args:
        node: a live autograd node; call this in one of its hooks.
        grad_outputs: what the engine handed to the node; decides which outputs matter.
        grad_inputs: what the node returned, to check v times J against; None to check nothing.
        in_replay: the program's run is not looked at any more: side effects of its code do not matter.
    """
    name = node.name()
    if name == "torch::autograd::AccumulateGrad":
        return []
    outputs = [_side(metadata) for metadata in node._input_metadata]
    operands = [None if target is None else _side(target._input_metadata[slot]) for target, slot in node.next_functions]
    arrived = [slot for slot, gradient in enumerate(grad_outputs) if gradient is not None and slot < len(outputs)]
    found = [_left_out(argnum, slot, outputs[slot], side, budget)
             for slot in arrived for argnum, side in enumerate(operands) if side is not None]  # fmt: skip
    wanted = [slot for slot in arrived if _fits(outputs[slot], operands, budget)]
    if not wanted or name in _NEVER_CALLED and not in_replay or not (in_replay or _is_unpackable(node)):
        return found
    caller = _caller(node, outputs, operands)
    if caller is None:
        return found
    rows: dict[int, list[Row]] = {}
    for slot in wanted:
        cells = sum(outputs[slot].entries * side.entries for side in operands if side is not None)
        if not budget.spend(cells + CELLS_PER_NODE):
            break
        try:
            with _no_grad():
                rows[slot] = _rows(caller, name, slot, outputs, operands)
        except Exception:  # noqa: BLE001 (the program's own code, or an operation that repeats badly: then on demand)
            break
    matrices = {slot: _matrices(rows[slot], outputs[slot], operands) for slot in rows}
    checks = _checks(matrices, grad_outputs, grad_inputs, operands)
    for one in found:
        matrix = matrices.get(one["output_nr"], {}).get(one["argnum"])
        if matrix is not None and one["structure"] != "too_large":
            _fill_in(one, matrix, checks.get(one["argnum"]))
    return found


def _fits(output: _Side, operands: Sequence[_Side | None], budget: JacobianBudget) -> bool:
    sides = [side for side in operands if side is not None]
    is_small = any(output.entries * side.entries <= budget.cells_each for side in sides)
    return is_small and output.is_plain and all(side.is_plain for side in sides)


def _side(metadata: Any) -> _Side:
    is_nested = metadata.is_nested_tensor or metadata.is_cpp_nested_tensor
    shape = () if is_nested else tuple(metadata.shape)
    return _Side(shape, metadata.dtype, not is_nested and metadata.device.type == "cpu")


def _left_out(argnum: int, slot: int, output: _Side, operand: _Side, budget: JacobianBudget) -> LocalJacobian:
    is_too_large = budget.cells_each > 0 and output.entries * operand.entries > budget.cells_each
    return {
        "argnum": argnum,
        "output_nr": slot,
        "structure": "too_large" if is_too_large else None,
        "value": {"missing": "on_demand"},
        "output_shape": output.real_shape,
        "input_shape": operand.real_shape,
    }


def _fill_in(one: LocalJacobian, matrix: torch.Tensor, is_checked: bool | None) -> None:
    output_shape, input_shape = one["output_shape"], one["input_shape"]
    one["structure"] = structure_of(_as_floats(matrix), output_shape, input_shape)
    one["value"] = snapshot(_reshape(matrix, (*output_shape, *input_shape)), matrix.numel())
    if is_checked is not None:
        one["checked"] = is_checked


# Calling a node.

_Caller = Callable[[Sequence[torch.Tensor | None]], Row]


def _caller(node: Any, outputs: Sequence[_Side], operands: Sequence[_Side | None]) -> _Caller | None:
    """A function from one gradient per output to one per operand, or None where the node cannot be called."""
    if hasattr(type(node), "_forward_cls"):
        return _custom_caller(node, outputs, operands)
    if not callable(node):
        return None

    def call(gradients: Sequence[torch.Tensor | None]) -> Row:
        returned = node(*gradients)
        return returned if isinstance(returned, tuple) else (returned,)

    return call


def _custom_caller(node: Any, outputs: Sequence[_Side], operands: Sequence[_Side | None]) -> _Caller | None:
    """Runs the user's `backward`: one gradient comes back per argument of forward, tensors or not."""
    needed = [index for index, is_needed in enumerate(node.needs_input_grad) if is_needed]
    flowing = [argnum for argnum, side in enumerate(operands) if side is not None]
    if len(needed) != len(flowing):
        return None

    def call(gradients: Sequence[torch.Tensor | None]) -> Row:
        # As the engine does unless told otherwise: zeros where no gradient arrived.
        given = [
            _zeros(side.shape, dtype=side.dtype, device="cpu") if gradient is None else gradient
            for gradient, side in zip(gradients, outputs, strict=True)
        ]
        with _unnoticed():
            returned = node.apply(*given)
        returned = returned if isinstance(returned, tuple) else (returned,)
        row: list[torch.Tensor | None] = [None] * len(operands)
        for argnum, index in zip(flowing, needed, strict=True):
            row[argnum] = returned[index]
        return row

    return call


@contextlib.contextmanager
def _unnoticed() -> Iterator[None]:
    """What the program's code prints goes nowhere, and the random numbers it draws are not missed."""
    state = _get_rng_state()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        _set_rng_state(state)


def _rows(
    caller: _Caller, name: str, slot: int, outputs: Sequence[_Side], operands: Sequence[_Side | None]
) -> list[Row]:
    """What the node returns for each one-hot v at output `slot`; per real and imaginary part where that is complex."""
    output = outputs[slot]

    def row(v: torch.Tensor) -> Row:
        gradients: list[torch.Tensor | None] = [None] * len(outputs)
        gradients[slot] = v
        returned = caller(gradients)
        return [
            None if side is None or argnum >= len(returned) else _fitted(returned[argnum], side)
            for argnum, side in enumerate(operands)
        ]

    is_custom = caller.__qualname__.startswith("_custom_caller")
    if output.entries >= ROWS_WORTH_BATCHING and not is_custom and not name.startswith(_NEVER_BATCHED):
        with contextlib.suppress(Exception):
            return _batched_rows(row, output)
    return [row(_one_hot(index, output)) for index in range(output.entries)]


def _batched_rows(row: Callable[[torch.Tensor], Row], output: _Side) -> list[Row]:
    """All rows by one call under vmap; raises for operations that it cannot batch."""
    present: list[bool] = []

    def tensors_only(v: torch.Tensor) -> tuple[torch.Tensor, ...]:
        returned = row(v)
        present[:] = [gradient is not None for gradient in returned]
        return tuple(gradient for gradient in returned if gradient is not None)

    _functorch._set_vmap_fallback_warning_enabled(False)
    try:
        stacked = iter(_vmap(tensors_only)(_one_hots(output)))
    finally:
        _functorch._set_vmap_fallback_warning_enabled(True)
    columns = [next(stacked) if is_present else None for is_present in present]
    return [[None if column is None else column[index] for column in columns] for index in range(output.entries)]


def _one_hot(index: int, output: _Side) -> torch.Tensor:
    """A one-hot v in memory of its own: `as_strided_scatter` looks at the layout of what it is given."""
    v = _zeros(output.real_shape, dtype=_real(output.dtype), device="cpu")
    _reshape(v, (-1,))[index] = 1
    return _view_as_complex(v) if output.dtype.is_complex else v


def _one_hots(output: _Side) -> torch.Tensor:
    eye = _reshape(_eye(output.entries, dtype=_real(output.dtype), device="cpu"), (-1, *output.real_shape))
    return _view_as_complex(eye) if output.dtype.is_complex else eye


def _real(dtype: torch.dtype) -> torch.dtype:
    return dtype.to_real() if dtype.is_complex else dtype


def _fitted(gradient: torch.Tensor | None, operand: _Side) -> torch.Tensor | None:
    """As the engine does it after a node: summed to the operand's shape where that was broadcast, and cast."""
    if gradient is None:
        return None
    if gradient.layout is not _strided:
        gradient = _to_dense(gradient)
    if tuple(gradient.shape) != operand.shape:
        gradient = _sum_to_size(gradient, operand.shape)
    if gradient.dtype != operand.dtype:
        if gradient.is_complex() and not operand.dtype.is_complex:
            gradient = gradient.real
        gradient = _to(gradient, operand.dtype)
    return gradient


# Rows to matrices.


def _matrices(rows: list[Row], output: _Side, operands: Sequence[_Side | None]) -> dict[int, torch.Tensor]:
    """Per operand, the matrix of shape (output entries, operand entries). An undefined row is a row of zeros."""
    found = {}
    for argnum, side in enumerate(operands):
        if side is not None:
            dtype = _real(side.dtype)
            lines = [_line(row[argnum], side, dtype) for row in rows]
            empty = _zeros((output.entries, side.entries), dtype=dtype, device="cpu")
            found[argnum] = _stack(lines) if lines else empty
    return found


def _line(gradient: torch.Tensor | None, side: _Side, dtype: torch.dtype) -> torch.Tensor:
    if gradient is None:
        return _zeros((side.entries,), dtype=dtype, device="cpu")
    gradient = _detach(gradient)
    if side.dtype.is_complex:
        gradient = _view_as_real(_resolve_conj(gradient))
    return _reshape(gradient, (side.entries,))


def _checks(
    matrices: dict[int, dict[int, torch.Tensor]],
    grad_outputs: Sequence[torch.Tensor | None],
    grad_inputs: Sequence[torch.Tensor | None] | None,
    operands: Sequence[_Side | None],
) -> dict[int, bool]:
    """Per operand, whether v times J, summed over outputs, is what the node returned; only where all J are there.

    Where an infinite factor met the zeros of a one-hot v, a NaN in J hides the product: then there is no verdict.
    """
    arrived = {slot: gradient for slot, gradient in enumerate(grad_outputs) if gradient is not None}
    if grad_inputs is None or set(matrices) != set(arrived):
        return {}
    checks = {}
    for argnum, side in enumerate(operands):
        returned = grad_inputs[argnum] if argnum < len(grad_inputs) else None
        if side is None or returned is None:
            continue
        with np.errstate(all="ignore"):
            product = sum(_vector_times(arrived[slot], matrices[slot][argnum]) for slot in matrices)
            expected = _as_floats(_parts(returned))
            tolerance = _TOLERANCES.get(side.dtype, _ROUGH_TOLERANCE)
            scale = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
            close = np.isclose(product, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
            if np.all(close):
                checks[argnum] = True
            elif all(np.all(np.isfinite(_as_floats(matrices[slot][argnum]))) for slot in matrices):
                checks[argnum] = False
    return checks


def _vector_times(v: torch.Tensor, matrix: torch.Tensor) -> Any:
    """v times J; rows that v weighs with 0 are left out, as an infinite row times 0 says nothing."""
    weights, rows = _as_floats(_parts(v)), _as_floats(matrix)
    used = weights != 0
    return weights[used] @ rows[used]


def _parts(tensor: torch.Tensor) -> torch.Tensor:
    tensor = _detach(tensor)
    if tensor.layout is not _strided:
        tensor = _to_dense(tensor)
    if tensor.is_complex():
        tensor = _view_as_real(_resolve_conj(tensor))
    return _reshape(tensor, (-1,))


def _as_floats(tensor: torch.Tensor) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A copy, since an array over a tensor's own memory would forbid the program to resize it."""
    array: np.ndarray[Any, np.dtype[np.float64]] = _numpy(_to(tensor, _float64, copy=True), force=True)
    return array


# What must not be touched.

_raw_saved_names: dict[type, tuple[str, ...]] = {}


def _is_unpackable(node: Any) -> bool:
    """False when a `saved_tensors_hooks` packed what this node needs: unpacking it twice would be noticed."""
    kind = type(node)
    names = _raw_saved_names.get(kind)
    if names is None:
        names = _raw_saved_names[kind] = tuple(name for name in dir(kind) if name.startswith("_raw_saved_"))
    for name in names:
        try:
            saved = getattr(node, name)
        except RuntimeError:
            return False
        for one in saved if isinstance(saved, tuple | list) else (saved,):
            if one is not None and getattr(one, "unpack_hook", None) is not None:
                return False
    return True
