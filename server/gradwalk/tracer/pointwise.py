"""Jacobians of elementwise operations whose slopes are not all finite.

A one-hot v is 0 in all entries but one, and 0 times an infinite slope is NaN: so the rows of such a Jacobian are NaN
where nothing depends on anything. torch marks its elementwise operations (`torch.Tag.pointwise`); of those it is
known which entry can depend on which, and v = 1 everywhere gives every slope by itself.
"""

from functools import lru_cache

import numpy as np
import torch

from gradwalk.formulas.derivatives import derivative_line
from gradwalk.tracer.node_calls import CallableNode, Matrix
from gradwalk.tracer.sides import numbers_of


@lru_cache(maxsize=1024)
def is_pointwise(name: str) -> bool:
    """Whether a node belongs to an operation that torch marks as elementwise."""
    entry = derivative_line(name)
    packet = None if entry is None else getattr(torch.ops.aten, entry.op.rstrip("_"), None)
    return packet is not None and any(torch.Tag.pointwise in getattr(packet, one).tags for one in packet.overloads())


def mend(name: str, node: CallableNode, matrices: dict[int, dict[int, Matrix]]) -> set[int]:
    """Puts slopes where NaN came from one-hot v's, in place; gives the operands whose matrices are right now."""
    mended: set[int] = set()
    for slot, of_slot in matrices.items():
        spoiled = [argnum for argnum, matrix in of_slot.items() if np.isnan(matrix).any()]
        slopes = node.of_ones(slot) if spoiled and is_pointwise(name) else []
        for argnum in spoiled if slopes else ():
            matrix = _placed(node, slot, argnum, slopes[argnum])
            if matrix is not None:
                of_slot[argnum] = matrix
                mended.add(argnum)
    return mended


def _placed(node: CallableNode, slot: int, argnum: int, slopes: torch.Tensor | None) -> Matrix | None:
    """One slope per entry of the output, each in the column of the entry of the operand that it belongs to."""
    output, operand = node.outputs[slot], node.operands[argnum]
    if operand is None or slopes is None or tuple(slopes.shape) != output.shape or output.dtype.is_complex:
        return None
    if operand.dtype.is_complex or slopes.is_complex():
        return None
    entries = np.arange(operand.entries).reshape(operand.shape)
    columns = np.broadcast_to(entries, output.shape).reshape(-1)
    matrix = np.zeros((output.entries, operand.entries))
    matrix[np.arange(output.entries), columns] = numbers_of(slopes)
    return matrix


def nan_products(v: Matrix, matrix: Matrix, returned: Matrix) -> list[int]:
    """Columns in which an infinite slope meets a v of 0, so that what was returned is NaN."""
    with np.errstate(invalid="ignore"):
        met = (v == 0)[:, None] & np.isinf(matrix)
    return [int(column) for column in np.flatnonzero(met.any(axis=0) & np.isnan(returned))]
