"""Is the written formula what the engine just did? Evaluates an entry on a live node's saved values."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor

from gradwalk.formulas.entry import Kind
from gradwalk.formulas.letters import is_seed
from gradwalk.formulas.registry import entry_of
from gradwalk.formulas.specialise import CANNOT_EVALUATE, Line, ShapeMismatch, lines, values_of

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
_QUICKLY_COMPARED = frozenset({torch.float32, torch.float64})
_INFINITY = float("inf")
_dist, _norm = torch.dist, torch.linalg.vector_norm
ELEMENT_LIMIT = 1_000_000
"""Nodes whose tensors hold more elements than this together are not evaluated while tracing."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a look at one node's formulas gave."""

    holds: bool | None
    """False: a formula gave something else and must not be shown. None: there is no entry, nothing to compare, it is too
    large, or a formula could not be evaluated."""
    lines: tuple[Line | None, ...] = ()
    values: Mapping[str, Tensor] = field(default_factory=dict)
    """What the formulas' symbols stand for."""


def check_formula(  # noqa: PLR0913 - what one node saw, given piece by piece so that live nodes are not needed
    node_name: str,
    saved: Mapping[str, Any],
    grad_outputs: Sequence[Tensor | None],
    grad_inputs: Sequence[Tensor | None],
    operand_shapes: Sequence[Sequence[int] | None] | None = None,
    element_limit: int = ELEMENT_LIMIT,
) -> Checked:
    """Whether the entry's formulas reproduce what the engine returned for this node.

    `saved` holds the node's `_saved_*` attributes, with or without that prefix. `grad_inputs` are those of the node's
    posthook, so already reduced to the operands' shapes; operands whose entry is None are left out.
    `operand_shapes` defaults to the shapes of `grad_inputs` and matters only for `cat`.
    """
    entry = entry_of(node_name)
    if entry is None or _element_count(saved, grad_outputs, grad_inputs) > element_limit:
        return Checked(None)
    shapes = operand_shapes or [None if grad is None else tuple(grad.shape) for grad in grad_inputs]
    verdicts: list[bool | None] = []
    with out_of_sight():
        widened = {_bare_name(name): _widen(value) for name, value in saved.items()}
        seeds = [_widen(grad) for grad in grad_outputs]
        values = values_of(widened, seeds)
        found = lines(node_name, widened, [kind_or_none(one) for one in seeds], _operands(shapes, grad_inputs))
        for line, expected, shape in zip(found, grad_inputs, shapes, strict=True):
            if expected is None or shape is None:
                # cat and stack return a gradient even where no edge leads on; the engine drops it.
                continue
            verdicts.append(None if line is None else _agrees(line, values, expected, entry.roughness))
    holds = False if False in verdicts else True if verdicts and None not in verdicts else None
    return Checked(holds, found, values)


def kind_or_none(tensor: Tensor | None) -> Kind | None:
    """The kind of a tensor that may be missing."""
    return None if tensor is None else Kind.of(tensor)


def _operands(shapes: Sequence[Sequence[int] | None], grad_inputs: Sequence[Tensor | None]) -> list[Kind | None]:
    """A gradient has its operand's dtype; where none was returned the dtype does not matter."""
    return [
        None if shape is None else Kind(tuple(shape), torch.get_default_dtype() if grad is None else grad.dtype)
        for shape, grad in zip(shapes, grad_inputs, strict=True)
    ]


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


def _agrees(line: Line, values: Mapping[str, Tensor], expected: Tensor, roughness: float) -> bool | None:
    if expected.is_meta or isinstance(expected, FakeTensor):
        return None
    try:
        value = line.value(values)
    except ShapeMismatch:
        return False
    except CANNOT_EVALUATE:
        return None
    dense = expected.to_dense() if expected.layout != torch.strided else expected
    if dense.dtype != torch.complex32 and torch.equal(value, dense):
        return True
    if _is_near(value, dense, roughness):
        return True
    noise = (
        _ROUNDING_STEPS * max(map(_largest, _seeds(values)), default=0.0) if dense.dtype in _RELATIVE_TOLERANCE else 0.0
    )
    return close(value, dense, noise * torch.finfo(dense.dtype).eps if noise else 0.0, roughness)


def _seeds(values: Mapping[str, Tensor]) -> list[Tensor]:
    return [value for name, value in values.items() if is_seed(name)]


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
    if noise and max(scale, _largest(value)) <= noise and bool(torch.isfinite(value).all()):
        return bool(torch.isfinite(expected).all())
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
