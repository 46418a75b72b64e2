"""The list of all entries, and the formula of a node as the protocol tells it."""

from gradwalk.formulas.activations import ACTIVATIONS
from gradwalk.formulas.arithmetic import ARITHMETIC
from gradwalk.formulas.attention import ATTENTION
from gradwalk.formulas.complex_numbers import COMPLEX_NUMBERS
from gradwalk.formulas.convolutions import CONVOLUTIONS
from gradwalk.formulas.derivatives import derivative_line, operand_names
from gradwalk.formulas.elementary_functions import ELEMENTARY_FUNCTIONS
from gradwalk.formulas.formula import SEEDS, Entry, placeholder_names, render
from gradwalk.formulas.indexing import INDEXING
from gradwalk.formulas.linear_algebra import LINEAR_ALGEBRA
from gradwalk.formulas.losses import LOSSES
from gradwalk.formulas.normalization import NORMALIZATION
from gradwalk.formulas.pooling import POOLING
from gradwalk.formulas.recurrence import RECURRENCE
from gradwalk.formulas.reductions import REDUCTIONS
from gradwalk.formulas.selections import SELECTIONS
from gradwalk.formulas.shapes import SHAPES
from gradwalk.protocol.graph import Formula, VjpLine

ENTRIES: tuple[Entry, ...] = (
    *ARITHMETIC,
    *ELEMENTARY_FUNCTIONS,
    *ACTIVATIONS,
    *COMPLEX_NUMBERS,
    *REDUCTIONS,
    *SELECTIONS,
    *LINEAR_ALGEBRA,
    *SHAPES,
    *INDEXING,
    *LOSSES,
    *NORMALIZATION,
    *CONVOLUTIONS,
    *POOLING,
    *ATTENTION,
    *RECURRENCE,
)

_BY_NODE = {node_name: entry for entry in ENTRIES for node_name in entry.nodes}


def entry_of(node_name: str) -> Entry | None:
    """The written entry for a node, None where nobody wrote one."""
    return _BY_NODE.get(node_name)


def formula_of(node_name: str, operand_count: int | None = None) -> Formula | None:
    """A node's mathematics as a fresh protocol object; None where neither an entry nor a table line is known.

    `operand_count` (the length of `next_functions`) matters for `cat`, `stack` and other nodes with a list of
    operands: each member gets its line. Without it a list is one operand.
    """
    entry, table = entry_of(node_name), derivative_line(node_name)
    lines = list(table.lines) if table else []
    if entry is None:
        return {"forward": "", "vjp": [], "derivatives_yaml": lines} if table else None
    formula: Formula = {
        "forward": render(entry, entry.forward),
        "vjp": _vjp_lines(node_name, entry, operand_count),
        "derivatives_yaml": lines,
    }
    if entry.special_cases:
        formula["special_cases"] = list(entry.special_cases)
    if symbols := _symbols(entry):
        formula["symbols"] = symbols
    return formula


def _symbols(entry: Entry) -> dict[str, str]:
    """What the vjps name beside v."""
    names = dict.fromkeys(name for vjp in entry.vjps for name in placeholder_names(vjp.latex))
    return {name: entry.symbol(name) for name in names if name not in SEEDS}


def _vjp_lines(node_name: str, entry: Entry, operand_count: int | None) -> list[VjpLine]:
    table = derivative_line(node_name)
    if operand_count is not None:
        names = operand_names(node_name, operand_count)
    else:
        names = table.operands if table else tuple(vjp.operand for vjp in entry.vjps)
    lines: list[VjpLine] = []
    for argnum, name in enumerate(names):
        vjp = entry.vjp_for(name.partition("[")[0])
        if vjp is not None:
            lines.append(
                {"argnum": argnum, "latex": render(entry, vjp.latex), "text": vjp.text, "because": vjp.because}
            )
    return lines
