"""Calling a live node with v's of our own: the rows of its Jacobian.

Built-in nodes are called as they are; a custom Function's node runs the user's `backward`, which must
not be heard. Either way no hook runs, no graph is built (the caller switches grad mode off) and nothing
is accumulated.
"""

import contextlib
import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch._functorch.vmap import lazy_load_decompositions  # type: ignore[attr-defined]

from gradwalk.tracer.sides import Row, Side, entries_of, numbers_of

ROWS_WORTH_BATCHING = 12
"""From so many rows on, one call under vmap is quicker than one call per row."""

_NEVER_BATCHED = ("AsStrided", "Cdist", "torch::autograd::", "MaskedSelect")
"""vmap refuses them, or computes every row with the first v (Cdist)."""
_get_rng_state, _set_rng_state = torch.get_rng_state, torch.set_rng_state
_load_decompositions: Any = lazy_load_decompositions
_functorch: Any = torch._C._functorch
_engine: Any = torch._C._ImperativeEngine()
_edge: Any = torch.autograd.graph.GradientEdge

Matrix = np.ndarray[Any, np.dtype[np.float64]]
"""Of shape (output entries, operand entries); holds every dtype's numbers exactly."""
_Call = Callable[[Sequence[torch.Tensor | None]], Row]

_asked: list[Any] = []
"""Nodes that a pass of their own asks now; of every thread, since the engine may run a nested pass in another."""


_hidden: list[bool] = []


def is_being_asked(node: Any) -> bool:
    """True in the hooks of a node while a pass of its own asks it: whoever asks there would ask for ever."""
    return any(one is node for one in _asked)


class CallableNode:
    """A node that can be asked what it makes of any v."""

    def __init__(
        self, node: Any, outputs: Sequence[Side], operands: Sequence[Side | None], *, by_engine: bool = False
    ) -> None:
        self.outputs = outputs
        self.operands = operands
        is_custom = hasattr(type(node), "_forward_cls")
        self._is_custom = is_custom
        if by_engine:
            call: _Call | None = _engine_call(node)
        else:
            call = _custom_call(node, outputs, operands) if is_custom else _plain_call(node)
        self.is_callable = call is not None
        self._call = call
        self._refitted: set[int] = set()
        """Operands for which the node returned another shape or dtype than theirs, which the engine mends."""
        self._may_batch = not is_custom and not by_engine and not node.name().startswith(_NEVER_BATCHED)

    def matrices(self, slot: int, argnums: Sequence[int]) -> dict[int, Matrix]:
        """For each operand in `argnums` the matrix of shape (entries of output `slot`, operand entries), a row per v.

        An undefined gradient is a row of zeros. Raises whatever the node's own code raises.
        """
        output = self.outputs[slot]
        if self._may_batch and output.entries >= ROWS_WORTH_BATCHING:
            with contextlib.suppress(Exception):
                return self._batched_matrices(slot, argnums)
        lines: dict[int, list[Any]] = {argnum: [] for argnum in argnums}
        # A user's backward may write into what it is given; torch's own do not.
        is_lasting = not self._is_custom and output.entries < ROWS_WORTH_BATCHING
        one_hots = output.lasting_one_hots() if is_lasting else map(output.one_hot, range(output.entries))
        for one_hot in one_hots:
            returned = self._row(slot, one_hot)
            for argnum, of_operand in lines.items():
                gradient, side = returned[argnum], self.operands[argnum]
                if gradient is None and side is not None:
                    gradient = side.zeros()
                if gradient is not None:
                    of_operand.append(entries_of(gradient))
        return {argnum: self._matrix(of_operand, slot, argnum) for argnum, of_operand in lines.items()}

    def _row(self, slot: int, v: torch.Tensor) -> Row:
        gradients: list[torch.Tensor | None] = [None] * len(self.outputs)
        gradients[slot] = v
        assert self._call is not None
        returned = self._call(gradients)
        if len(gradients) > 1 and not self._is_custom and all(gradient is None for gradient in returned):
            # A node may drop the gradient of one output where that of another is undefined (native_group_norm).
            given = [side.zeros() if one is None else one for one, side in zip(gradients, self.outputs, strict=True)]
            returned = self._call(given)
        row: list[torch.Tensor | None] = []
        for argnum, (side, gradient) in enumerate(zip(self.operands, returned, strict=False)):
            fitted = None if side is None or gradient is None else side.fit(gradient)
            if gradient is not None and fitted is not None and not _is_alike(gradient, fitted):
                self._refitted.add(argnum)
            row.append(fitted)
        return row

    def of_ones(self, slot: int) -> Row:
        """What the node itself returns for a v of ones at one output; nothing where it raises."""
        gradients: list[torch.Tensor | None] = [None] * len(self.outputs)
        gradients[slot] = torch.ones(self.outputs[slot].shape, dtype=self.outputs[slot].dtype)
        return self.of(gradients)

    def of(self, grad_outputs: Sequence[torch.Tensor | None]) -> Row:
        """What the node itself returns for these v's; nothing where it raises."""
        with contextlib.suppress(Exception):
            return self._call(grad_outputs) if self._call is not None else []
        return []

    def unfitted(self, grad_outputs: Sequence[torch.Tensor | None]) -> dict[int, torch.Tensor]:
        """What a built-in node returns for these v's where the engine sums or casts it, before it does."""
        if self._is_custom or not self._refitted:
            return {}
        returned = dict(enumerate(self.of(grad_outputs)))
        return {argnum: one for argnum in sorted(self._refitted) if (one := returned.get(argnum)) is not None}

    def _batched_matrices(self, slot: int, argnums: Sequence[int]) -> dict[int, Matrix]:
        """All rows by one call under vmap; raises for operations that it cannot batch."""
        _load_decompositions()
        rows = self.outputs[slot].entries
        _functorch._set_vmap_fallback_warning_enabled(False)
        try:
            # As torch.vmap does it, without its search through nested arguments, which costs more than the call.
            level = _functorch._vmap_increment_nesting(rows, "error")
            try:
                v = _functorch._add_batch_dim(self.outputs[slot].one_hots(), 0, level)
                columns = [
                    None if gradient is None else _functorch._remove_batch_dim(gradient, level, rows, 0)
                    for gradient in self._row(slot, v)
                ]
            finally:
                _functorch._vmap_decrement_nesting()
        finally:
            _functorch._set_vmap_fallback_warning_enabled(True)
        return {
            argnum: self._matrix([] if column is None else numbers_of(column), slot, argnum)
            for argnum, column in enumerate(columns)
            if argnum in argnums
        }

    def _matrix(self, entries: Sequence[Any] | Matrix, slot: int, argnum: int) -> Matrix:
        operand = self.operands[argnum]
        shape = (self.outputs[slot].entries, 0 if operand is None else operand.entries)
        # Plus 0: what makes -0 of the zeros of a one-hot v is no other derivative.
        return np.asarray(entries, np.float64).reshape(shape) + 0.0 if len(entries) else np.zeros(shape)


def _is_alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one is other or (one.shape == other.shape and one.dtype == other.dtype)


def _plain_call(node: Any) -> _Call | None:
    if not callable(node):
        return None

    def call(gradients: Sequence[torch.Tensor | None]) -> Row:
        returned = node(*gradients)
        return returned if isinstance(returned, tuple) else (returned,)

    return call


class _Returned(Exception):  # noqa: N818 (ends a pass that has told what was asked)
    """Carries what a node returned out of the engine."""

    def __init__(self, gradients: Row) -> None:
        super().__init__()
        self.gradients = gradients


def _engine_call(node: Any) -> _Call:
    """Runs the node by a pass of its own, which ends as soon as the node has returned.

    A saved-tensors hook may unpack only once per pass (checkpointing computes its part anew, and counts): a pass of
    its own may unpack again. Other paths between the node's operands must not run, so the pass is cut short.
    """
    following = tuple(_edge(other, slot) for other, slot in node.next_functions if other is not None)

    def call(gradients: Sequence[torch.Tensor | None]) -> Row:
        given = [(_edge(node, slot), v) for slot, v in enumerate(gradients) if v is not None]

        def stop(returned: Row, _gradients: Row) -> None:
            raise _Returned(returned)

        handle = node.register_hook(stop)
        _asked.append(node)
        try:
            _engine.run_backward(
                tuple(edge for edge, _ in given), tuple(v for _, v in given), True, False, following, True, False
            )
        except _Returned as told:
            return told.gradients
        finally:
            _asked.pop()
            handle.remove()
        raise LookupError("the pass ended without the node")

    return call


def _custom_call(node: Any, outputs: Sequence[Side], operands: Sequence[Side | None]) -> _Call | None:
    """Runs the user's `backward`, which returns one gradient per argument of forward, tensors or not."""
    needed = [index for index, is_needed in enumerate(node.needs_input_grad) if is_needed]
    flowing = [argnum for argnum, side in enumerate(operands) if side is not None]
    if len(needed) != len(flowing):
        return None

    def call(gradients: Sequence[torch.Tensor | None]) -> Row:
        # As the engine does unless told otherwise: zeros where no gradient arrived.
        given = [
            side.zeros() if gradient is None else gradient for gradient, side in zip(gradients, outputs, strict=True)
        ]
        with unnoticed():
            returned = node.apply(*given)
        returned = returned if isinstance(returned, tuple) else (returned,)
        row: list[torch.Tensor | None] = [None] * len(operands)
        for argnum, index in zip(flowing, needed, strict=True):
            row[argnum] = returned[index]
        return row

    return call


@contextlib.contextmanager
def unnoticed() -> Iterator[None]:
    """What the program's code prints or warns of goes nowhere, and the random numbers it draws are not missed."""
    state = _get_rng_state()
    _hidden.append(True)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        _hidden.pop()
        _set_rng_state(state)


def is_unnoticed() -> bool:
    """True while code of the program runs again for our own sake."""
    return bool(_hidden)


_raw_saved_names: dict[type, tuple[str, ...]] = {}


def is_unpackable(node: Any) -> bool:
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
