"""The one idea behind views, selections and indexing: every result element is a copy of one operand element.

Such an op's Jacobian has a single 1 per row, so v goes back to where each element was taken from, and what was
taken several times adds up. Applying the op to the operand's element numbers tells where that was.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from gradwalk.formulas.formula import NodeView


def send_back(n: NodeView, take: Callable[[Tensor], Tensor]) -> Tensor:
    """v added up at the places that `take` copies from."""
    count = math.prod(n.shape)
    places = torch.arange(count, device=n.v.device).reshape(n.shape)
    taken = take(places).reshape(-1)
    return n.v.new_zeros(count).index_add(0, taken, n.v.reshape(-1)).reshape(n.shape)
