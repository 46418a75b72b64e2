"""The batch in a local Jacobian: examples that do not meet, and what all of them share.

Torch has no mark for the axis that counts examples; the Jacobian shows it. Where row i of the result depends on row i
of an operand only, the Jacobian is block diagonal over the first axis: the examples go through the node side by side.
An operand without such an axis beside one that has it (a weight, a bias) is shared: the Jacobian is one block of rows
per example, and v J adds them up. That is why a parameter's gradient is a sum over the batch.

The data of the first layer often requires no grad and has no Jacobian here. For the operations in `_ROWS_OF`, whose
first axis is that of one operand by definition, it is known all the same.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from gradwalk.formulas.derivatives import operand_names
from gradwalk.protocol.events import Batch
from gradwalk.tracer.node_calls import Matrix
from gradwalk.tracer.sides import Side

_ROWS_OF: Final = {
    "AddmmBackward0": "mat1",
    "AddmvBackward0": "mat",
    "BaddbmmBackward0": "batch1",
    "BmmBackward0": "self",
    "ConvolutionBackward0": "input",
    "EmbeddingBackward0": "indices",
    "MmBackward0": "self",
    "MvBackward0": "self",
    "NativeLayerNormBackward0": "input",
}
"""The operand whose first axis is the result's."""
_VECTORS_AXES: Final = 2
"""Of two vectors together."""


def batches(
    name: str, output: Side, operands: Sequence[Side | None], matrices: Mapping[int, Matrix]
) -> dict[int, Batch]:
    """Per operand with a matrix, what its Jacobian does with the first axis of the output; only where there is one.

    Args:
        name: the node's.
        matrices: local Jacobians of shape (output entries, operand entries), by argnum.
    """
    if not output.shape or output.shape[0] < 2:
        return {}
    rows = output.shape[0]
    known = _ROWS_OF.get(name)
    names = operand_names(name.removeprefix("torch::autograd::"), len(operands))
    apart = {
        argnum
        for argnum, matrix in matrices.items()
        if (known is None or names[argnum] == known) and _is_apart(matrix, output, operands[argnum])
    }
    if not apart and not known:
        return {}
    found: dict[int, Batch] = {}
    for argnum, matrix in matrices.items():
        if argnum in apart:
            found[argnum] = {"kind": "block_diagonal", "size": rows}
        elif np.count_nonzero(matrix.reshape(rows, -1).any(axis=1)) > 1:
            found[argnum] = {"kind": "sum", "size": rows}
    return found


def _is_apart(matrix: Matrix, output: Side, operand: Side | None) -> bool:
    """Whether all that is not 0 lies in blocks on the diagonal, one per row; entries of vectors are no rows."""
    rows = output.shape[0]
    if operand is None or operand.shape[:1] != (rows,) or len(output.shape) + len(operand.shape) < _VECTORS_AXES + 1:
        return False
    if not matrix.size:
        return False
    blocks = matrix.reshape(rows, matrix.shape[0] // rows, rows, -1)
    of_each = np.count_nonzero(blocks, axis=(1, 3))
    return bool(of_each.any()) and np.count_nonzero(of_each) == np.count_nonzero(of_each.diagonal())
