"""A vjp as a short list of moves, each of which a person can follow cell by cell.

`v @ other.mT` is one move: rows of v meet rows of `other`. `(v - sum(v * s)) * s` is three. Moves are read off the
checked expression along the ways of v through it; operations that only turn or reshape a tensor become a part of the
move behind them. A list is given only if the moves alone, cell by cell, make what the engine returned; an operation
without a rule in `move_rules.py` means no list.
"""

from collections.abc import Collection, Mapping

import torch
from torch import Tensor

from gradwalk.formulas.check import close
from gradwalk.formulas.expression import Expression, symbols_of
from gradwalk.formulas.letters import Letters, is_seed
from gradwalk.formulas.making import LONGEST, NoMoves, is_writable
from gradwalk.formulas.move_rules import RULES
from gradwalk.formulas.specialise import CANNOT_EVALUATE
from gradwalk.formulas.ways import Reading, Record
from gradwalk.protocol.moves import VjpMoves


def moves(  # noqa: PLR0913 - what one step saw
    argnum: int,
    expression: Expression,
    values: Mapping[str, Tensor],
    returned: Tensor,
    letters: Letters,
    record: Record,
    unnamed: Collection[str] = (),
    *,
    of_single: bool = False,
) -> VjpMoves | None:
    """The moves of one operand's vjp; None where it is no short list of them, or too large to be written out.

    Args:
        values: what the symbols stand for.
        returned: the gradient that the engine returned for the operand.
        record: what a tensor is recorded as, for those without a name.
        unnamed: symbols that are no tensors of the node's.
        of_single: also where v and what is returned have one entry each. At a node their J says the same.
    """
    names = symbols_of(expression)
    seeds = [name for name in names if is_seed(name)]
    tensors = [returned, *(values[name] for name in names if name in values)]
    if len(seeds) != 1 or any(one.is_complex() or one.layout != torch.strided for one in tensors):
        return None
    is_single = returned.numel() * values[seeds[0]].numel() == 1
    if (is_single and not of_single) or not is_writable(returned.shape, max(LONGEST.values())):
        return None
    try:
        reading = Reading(expression, values, letters, record, unnamed, RULES)
        made = reading.read(tuple(returned.shape))
        is_seen = is_writable(returned.shape, LONGEST[reading.moves[-1]["verb"]])
        if not (is_seen and close(made.to(returned.dtype), returned)):
            return None
    except (NoMoves, *CANNOT_EVALUATE):
        return None
    return {"argnum": argnum, "moves": reading.moves}
