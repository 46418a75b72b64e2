"""How a vector-Jacobian product comes about, as moves that can be followed cell by cell.

A move makes each cell of its result of cells of one or two tables. `axes` says which, in the letters of an einsum:
`ij,kj->ik` multiplies a row of the first with a row of the second and adds up. Every letter runs over all its places,
and what is multiplied is added to the cell of the result: a letter that stands only on the left is summed over, one
that stands only on the right is dealt to. An axis of size 1 is read at 0 whatever its letter is. In parentheses an
index is a sum, of which what falls outside of a table is left out: in `noy,ock->nc(2y+k-1)` a window slides.
"""

from typing import Literal, NotRequired

from pydantic import with_config
from typing_extensions import TypedDict

from gradwalk.protocol.graph import Argnum
from gradwalk.protocol.numbers import STRICT
from gradwalk.protocol.values import TensorValue

Verb = Literal["scale", "meet", "fold", "deal", "travel", "slide", "win", "subtract"]


@with_config(STRICT)
class MoveSource(TypedDict):
    """A table that a move reads. Exactly one of `grad_output`, `operand`, `move` and `value` is present."""

    grad_output: NotRequired[int]
    """v of this output."""
    operand: NotRequired[str]
    """An operand or a saved tensor, by name."""
    move: NotRequired[int]
    """What an earlier move of the list made."""
    value: NotRequired[TensorValue]
    """What has no name."""
    text: NotRequired[str]
    """How that is computed, as in the vjp's text."""
    classes_minus: NotRequired[Literal[True]]
    """`value` is 1 where v is not 0, minus what `text` computes."""
    shape: NotRequired[list[int]]
    """As which it is read, where that is not its own: the same cells in the same order."""


@with_config(STRICT)
class Move(TypedDict):
    """One move. Exactly one of `axes`, `source` and `goal` is present."""

    verb: Verb
    """`scale`: each cell meets a factor of its own; `meet`: products are added up, or each meets each; `fold`: several
    cells fall into one; `deal`: one goes to several; `travel`: each goes to one; `slide`: a window goes over the cells;
    `win`: a cell goes to what the forward pass had picked; `subtract`: one table less another, cell by cell."""
    of: list[MoveSource]
    """One or two."""
    axes: NotRequired[str]
    """The cells of each table, and after the arrow of the result."""
    source: NotRequired[list[int]]
    """Per cell of the result the cell of the first table that goes there, counted row by row; -1: none, it is 0."""
    goal: NotRequired[list[int]]
    """Per cell of the table the cell of the result that it is added to; -1: to none."""
    shape: NotRequired[list[int]]
    """Of the result by `axes`, where it is not that of the value."""
    value: NotRequired[TensorValue]
    """What it makes. The last move of a list makes what the step returned."""
    text: NotRequired[str]
    """How that is computed, as in the vjp's text; absent of the last move."""


@with_config(STRICT)
class VjpMoves(TypedDict):
    """The moves of one operand's vjp, in order."""

    argnum: Argnum
    moves: list[Move]
