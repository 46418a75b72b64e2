"""What a local Jacobian looks like, read off its entries and shapes.

A structure is a statement about the numbers at this point, not about the operation: relu is diagonal,
and zero where all its operands are negative. `v` has one entry per row, the returned gradient one per
column; both sides are flattened in row-major order. The first definition that fits is the name:

zero            no entry differs from 0.
scalar          one output entry, one operand entry.
diagonal        square, and no entry off the diagonal differs from 0: each entry has its own factor. A
                reshape is the identity.
permutation     square, one 1 in each row and each column: entries change places.
selection       at most one nonzero in each row and each column, all of them 1: some entries are picked.
sum_over_copies each row has at most one nonzero and some column has several: an operand entry was broadcast
                (or picked twice), so v J sums over its copies.
copy_to_summands each column has at most one nonzero, some row has several, and those of a row are equal: the
                output is a sum (or a mean), so v J copies v (or one multiple of it) to every summand.
kronecker       identity (x) M or M (x) identity, M being at least two entries and the identity at least
                2 x 2: one small matrix is applied to every row, or to every column, of the operand. This
                is what matmul looks like from one operand.
dense           anything else.

`too_large` is said by the caller, for what was not computed.
"""

from collections.abc import Iterator, Sequence
from math import gcd
from typing import Any

import numpy as np

from gradwalk.protocol.values import Structure

_Matrix = np.ndarray[Any, np.dtype[Any]]


def structure_of(jacobian: _Matrix, output_shape: Sequence[int], input_shape: Sequence[int]) -> Structure:
    """The structure of a dense Jacobian of shape (output entries, operand entries), as defined above."""
    if jacobian.size == 1:
        return "scalar" if jacobian[0, 0] != 0 else "zero"
    nonzero = jacobian != 0
    count = np.count_nonzero(nonzero)
    if not count:
        return "zero"
    if jacobian.shape[0] == jacobian.shape[1] and np.count_nonzero(nonzero.diagonal()) == count:
        return "diagonal"
    in_rows, in_columns = np.count_nonzero(nonzero, axis=1), np.count_nonzero(nonzero, axis=0)
    if in_rows.max() <= 1 or in_columns.max() <= 1:
        sparse = _one_sided(jacobian, nonzero, in_rows, in_columns)
        if sparse is not None:
            return sparse
    return "kronecker" if _is_kronecker(jacobian, output_shape, input_shape) else "dense"


def _one_sided(jacobian: _Matrix, nonzero: _Matrix, in_rows: _Matrix, in_columns: _Matrix) -> Structure | None:
    """The structure of a matrix whose rows, or whose columns, have at most one nonzero each."""
    if in_rows.max() <= 1 and in_columns.max() <= 1:
        if not np.all(jacobian[nonzero] == 1):
            return None
        return "permutation" if in_rows.min() == 1 and in_columns.min() == 1 else "selection"
    if in_rows.max() <= 1:
        return "sum_over_copies"
    largest = np.where(nonzero, jacobian, -np.inf).max(axis=1)
    smallest = np.where(nonzero, jacobian, np.inf).min(axis=1)
    return "copy_to_summands" if np.all((in_rows <= 1) | (largest == smallest)) else None


def _is_kronecker(jacobian: _Matrix, output_shape: Sequence[int], input_shape: Sequence[int]) -> bool:
    rows, columns = jacobian.shape
    for copies in _common_products(output_shape, input_shape):
        if rows % copies == 0 and columns % copies == 0 and rows * columns > copies * copies:
            blocks = jacobian.reshape(copies, rows // copies, copies, columns // copies)
            if _repeats(blocks.transpose(0, 2, 1, 3)):
                return True
            blocks = jacobian.reshape(rows // copies, copies, columns // copies, copies)
            if _repeats(blocks.transpose(1, 3, 0, 2)):
                return True
    return False


def _repeats(blocks: _Matrix) -> bool:
    """True when of blocks (i, j, ., .) all with i != j are zero, and all with i == j are the same."""
    copies = blocks.shape[0]
    same = blocks[np.arange(copies), np.arange(copies)]
    off_diagonal = np.count_nonzero(blocks) - np.count_nonzero(same)
    return off_diagonal == 0 and bool(np.all(same == same[0]))


def _common_products(output_shape: Sequence[int], input_shape: Sequence[int]) -> Iterator[int]:
    """How many copies there can be: what leading, or trailing, axes of both sides have in common; largest first."""
    found = set()
    for outputs, inputs in ((output_shape, input_shape), (output_shape[::-1], input_shape[::-1])):
        counts = [set(np.cumprod(shape).tolist()) for shape in (outputs, inputs)]
        found |= counts[0] & counts[1]
    whole = gcd(int(np.prod(output_shape)), int(np.prod(input_shape)))
    yield from sorted((count for count in found if count > 1 and whole % count == 0), reverse=True)
