"""The list of all entries."""

from gradwalk.formulas.activations import ACTIVATIONS
from gradwalk.formulas.arithmetic import ARITHMETIC
from gradwalk.formulas.attention import ATTENTION
from gradwalk.formulas.complex_numbers import COMPLEX_NUMBERS
from gradwalk.formulas.contractions import CONTRACTIONS
from gradwalk.formulas.convolutions import CONVOLUTIONS
from gradwalk.formulas.elementary_functions import ELEMENTARY_FUNCTIONS
from gradwalk.formulas.entry import Entry
from gradwalk.formulas.fourier import FOURIER
from gradwalk.formulas.indexing import INDEXING
from gradwalk.formulas.linear_algebra import LINEAR_ALGEBRA
from gradwalk.formulas.losses import LOSSES
from gradwalk.formulas.normalization import NORMALIZATION
from gradwalk.formulas.pooling import POOLING
from gradwalk.formulas.recurrence import RECURRENCE
from gradwalk.formulas.reductions import REDUCTIONS
from gradwalk.formulas.second_backward import SECOND_BACKWARD
from gradwalk.formulas.selections import SELECTIONS
from gradwalk.formulas.shapes import SHAPES

ENTRIES: tuple[Entry, ...] = (
    *ARITHMETIC,
    *ELEMENTARY_FUNCTIONS,
    *ACTIVATIONS,
    *COMPLEX_NUMBERS,
    *FOURIER,
    *REDUCTIONS,
    *SELECTIONS,
    *LINEAR_ALGEBRA,
    *CONTRACTIONS,
    *SHAPES,
    *INDEXING,
    *LOSSES,
    *NORMALIZATION,
    *CONVOLUTIONS,
    *POOLING,
    *ATTENTION,
    *RECURRENCE,
    *SECOND_BACKWARD,
)

_BY_NODE = {node_name: entry for entry in ENTRIES for node_name in entry.nodes}


def entry_of(node_name: str) -> Entry | None:
    """The written entry for a node, None where nobody wrote one."""
    return _BY_NODE.get(node_name)
