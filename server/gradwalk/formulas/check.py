"""Is the written formula what the engine just did? Evaluates an entry on a live node's saved values."""

import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from gradwalk.formulas.derivatives import operand_names
from gradwalk.formulas.formula import NodeView, Vjp
from gradwalk.formulas.registry import entry_of

_RELATIVE_TOLERANCE = {
    torch.float64: 1e-9,
    torch.complex128: 1e-9,
    torch.float32: 1e-4,
    torch.complex64: 1e-4,
    torch.float16: 2e-2,
    torch.complex32: 2e-2,
    torch.bfloat16: 6e-2,
}
_ROUNDING_STEPS = 4096
"""How many units in the last place of v may be left where a gradient is 0: normalisation cancels large terms."""
_CANNOT_EVALUATE = (
    RuntimeError,
    TypeError,
    ValueError,
    IndexError,
    AttributeError,
    KeyError,
    ArithmeticError,
    NotImplementedError,
)
_QUICKLY_COMPARED = frozenset({torch.float32, torch.float64})
_INFINITY = float("inf")
_dist, _norm = torch.dist, torch.linalg.vector_norm
ELEMENT_LIMIT = 1_000_000
"""Nodes whose tensors hold more elements than this together are not evaluated while tracing."""


def check_formula(  # noqa: PLR0913 - what one node saw, given piece by piece so that live nodes are not needed
    node_name: str,
    saved: Mapping[str, Any],
    grad_outputs: Sequence[Tensor | None],
    grad_inputs: Sequence[Tensor | None],
    operand_shapes: Sequence[Sequence[int] | None] | None = None,
    element_limit: int = ELEMENT_LIMIT,
) -> bool | None:
    """Whether the entry's formulas reproduce what the engine returned for this node.

    `saved` holds the node's `_saved_*` attributes, with or without that prefix. `grad_inputs` are those of the node's
    posthook, so already reduced to the operands' shapes; operands whose entry is None are left out.
    `operand_shapes` defaults to the shapes of `grad_inputs` and matters only for `cat`.

    False: a formula gave something else and must not be shown. None: there is no entry, nothing to compare,
    too large, or the formula could not be evaluated.
    """
    entry = entry_of(node_name)
    if entry is None or _element_count(saved, grad_outputs, grad_inputs) > element_limit:
        return None
    shapes = operand_shapes or [None if grad is None else tuple(grad.shape) for grad in grad_inputs]
    verdicts: list[bool | None] = []
    with out_of_sight():
        widened = {_bare_name(name): _widen(signed(value)) for name, value in saved.items()}
        seeds = [_widen(grad) for grad in grad_outputs]
        for argnum, (vjp, member) in enumerate(operand_vjps(node_name, len(grad_inputs))):
            expected = grad_inputs[argnum]
            if expected is None or shapes[argnum] is None:
                # cat and stack return a gradient even where no edge leads on; the engine drops it.
                continue
            view = NodeView(widened, seeds, shapes, argnum, member)
            verdicts.append(None if vjp is None else _agrees(vjp, view, expected, entry.roughness))
    if False in verdicts:
        return False
    return True if verdicts and None not in verdicts else None


@lru_cache(maxsize=4_096)
def _bare_name(attribute: str) -> str:
    return attribute.removeprefix("_saved_")


_IGNORE_ALL = [("ignore", None, Warning, None, 0)]
_is_grad_enabled, _set_grad_enabled = torch.is_grad_enabled, torch._C._set_grad_enabled  # noqa: SLF001 - see below


class out_of_sight:  # noqa: N801 - used as a function
    """Operations inside build no graph, are seen by no mode, are not changed by autocast, and warn nobody.

    One is entered at every step that is traced, so it does without `catch_warnings` and `no_grad`, which take longer
    than a formula. Filters are put in place whole: nothing that Python remembers of earlier warnings is touched.
    """

    __slots__ = ("_autocast", "_filters", "_torch_functions", "_was_grad_enabled")

    def __enter__(self) -> None:
        self._torch_functions = torch._C.DisableTorchFunction()  # noqa: SLF001 - the only switch that also silences modes
        self._torch_functions.__enter__()
        self._autocast = torch.autocast("cpu", enabled=False) if torch.is_autocast_enabled("cpu") else None
        if self._autocast is not None:
            self._autocast.__enter__()  # type: ignore[no-untyped-call]
        self._was_grad_enabled = _is_grad_enabled()
        _set_grad_enabled(False)
        self._filters, warnings.filters = warnings.filters, _IGNORE_ALL

    def __exit__(self, *_error: object) -> None:
        warnings.filters = self._filters
        _set_grad_enabled(self._was_grad_enabled)
        if self._autocast is not None:
            self._autocast.__exit__(None, None, None)
        self._torch_functions.__exit__(None, None, None)


@lru_cache(maxsize=4_096)
def operand_vjps(node_name: str, count: int) -> tuple[tuple[Vjp | None, int], ...]:
    """Per operand slot its vjp (None where nobody wrote one) and its position inside a tensor list."""
    entry = entry_of(node_name)
    found = []
    for name in operand_names(node_name, count):
        base, _, member = name.partition("[")
        found.append((entry.vjp_for(base) if entry else None, int(member.rstrip("]") or 0)))
    return tuple(found)


def evaluate_vjp(vjp: Vjp, view: NodeView, dtype: torch.dtype) -> Tensor:
    """The formula's value, settled as the engine does it: real part, sum over broadcast axes, dtype.

    ValueError when the value does not even have a shape that reduces to the operand's.
    """
    value = vjp.evaluate(view)
    if value.layout != torch.strided:
        value = value.to_dense()
    if value.is_complex() and not dtype.is_complex:
        value = value.real
    if value.shape != view.shape:
        if not _reduces_to(tuple(value.shape), view.shape):
            raise ShapeMismatch(f"{tuple(value.shape)} does not reduce to {view.shape}")
        value = value.sum_to_size(view.shape)
    return value if value.dtype == dtype else value.to(dtype)


def _reduces_to(shape: tuple[int, ...], operand: tuple[int, ...]) -> bool:
    """Whether summing over broadcast axes can lead from one shape to the other."""
    trailing = shape[len(shape) - len(operand) :]
    return len(shape) >= len(operand) and all(
        wanted in (size, 1) for size, wanted in zip(trailing, operand, strict=True)
    )


class ShapeMismatch(ValueError):
    """A formula gave a value of the wrong shape; unlike other failures this is a wrong formula."""


def signed(value: Any) -> Any:
    """A saved value with its integers as they were meant: torch hands `dim=-1` back as 2**64 - 1."""
    if isinstance(value, (Tensor, bool)):
        return value
    if isinstance(value, int):
        return value - 2**64 if value >= 2**63 else value
    return type(value)(signed(item) for item in value) if isinstance(value, (tuple, list)) else value


def _agrees(vjp: Vjp, view: NodeView, expected: Tensor, roughness: float) -> bool | None:
    if expected.is_meta:
        return None
    try:
        value = evaluate_vjp(vjp, view, expected.dtype)
    except ShapeMismatch:
        return False
    except _CANNOT_EVALUATE:
        return None
    dense = expected.to_dense() if expected.layout != torch.strided else expected
    if dense.dtype != torch.complex32 and torch.equal(value, dense):
        return True
    if _is_near(value, dense, roughness):
        return True
    noise = _ROUNDING_STEPS * _largest(view.v) if dense.dtype in _RELATIVE_TOLERANCE else 0.0
    return close(value, dense, noise * torch.finfo(dense.dtype).eps if noise else 0.0, roughness)


def _is_near(value: Tensor, expected: Tensor, roughness: float) -> bool:
    """Whether no entry is off by more than `close` allows everywhere; says nothing where there is no finite number."""
    if value.dtype not in _QUICKLY_COMPARED or value.dtype != expected.dtype:
        return False
    tolerance = _RELATIVE_TOLERANCE[value.dtype] * roughness
    return float(_dist(value, expected, _INFINITY)) <= tolerance * float(_norm(expected, _INFINITY)) < _INFINITY


def close(value: Tensor, expected: Tensor, noise: float = 0.0, roughness: float = 1.0) -> bool:
    """Equal up to rounding, judged against the largest entry: sums of many terms cancel.

    `roughness` widens the dtype's tolerance. Two values that nowhere exceed `noise` count as equal: both are what rounding left of 0.
    """
    tolerance = _RELATIVE_TOLERANCE.get(expected.dtype)
    if tolerance is None:
        return torch.equal(value, expected)
    tolerance = tolerance * roughness
    scale = _largest(expected)
    if noise and max(scale, _largest(value)) <= noise and not torch.isnan(value).any():
        return True
    return torch.allclose(value, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def _largest(value: Tensor) -> float:
    """The largest finite magnitude, 0 where there is none."""
    finite = value[torch.isfinite(value)].abs()
    return float(finite.max()) if finite.numel() else 0.0


def _widen(value: Any) -> Any:
    """Half precision as float32: the engine's kernels compute inside in float32, too."""
    if not isinstance(value, Tensor):
        return value
    dtype = value.dtype
    if dtype in _HALF:
        return value.float()
    return value.to(torch.complex64) if dtype == torch.complex32 else value


_HALF = frozenset({torch.float16, torch.bfloat16})


def _element_count(
    saved: Mapping[str, Any], grad_outputs: Sequence[Tensor | None], grad_inputs: Sequence[Tensor | None]
) -> int:
    return sum(value.numel() for value in (*saved.values(), *grad_outputs, *grad_inputs) if isinstance(value, Tensor))
