"""v times J = returned, as a table inside the picture's caption."""

from gradwalk.exports.labels import FORWARD, IN_FLIGHT, QUIET, text
from gradwalk.exports.moment import LOCAL_RULE, MULTIPLY, Moment
from gradwalk.exports.spelling import spell_gradient, spell_number, spell_shape, spell_structure
from gradwalk.protocol.events import LocalJacobian, Step
from gradwalk.protocol.values import Gradient

MOST_CELLS = 36
"""Jacobians up to this size are written out, larger ones are named by their structure."""


def equation_table(moment: Moment) -> str:
    """A row of the caption: for each operand v, J and their product, as far as the phase has come; empty before it."""
    step = moment.step
    if step is None or moment.phase < LOCAL_RULE:
        return ""
    if step["accumulate"] is not None:
        return _accumulation(step)
    rows = [_equation(moment, step, argnum) for argnum in range(len(step["grad_inputs"]))]
    if not rows:
        return ""
    return f'<TR><TD ALIGN="LEFT"><TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0">{"".join(rows)}</TABLE></TD></TR>'


def _equation(moment: Moment, step: Step, argnum: int) -> str:
    node = moment.active_node
    operand = node["inputs"][argnum]["name"] if node and argnum < len(node["inputs"]) else str(argnum)
    returned = step["grad_inputs"][argnum]
    cells = [f'<TD ALIGN="RIGHT"><FONT COLOR="{QUIET}">{text(operand)}: </FONT></TD>']
    jacobians = [jacobian for jacobian in step["local_jacobians"] if jacobian["argnum"] == argnum]
    for position, jacobian in enumerate(jacobians):
        plus = "<TD> + </TD>" if position else ""
        v = step["grad_outputs"][jacobian["output_nr"]]
        cells.append(
            f"{plus}<TD>{_gradient_cell(v)}</TD><TD> \N{MULTIPLICATION SIGN} </TD><TD>{_matrix(jacobian)}</TD>"
        )
    if not jacobians:
        cells.append(f"<TD>{' '.join(_gradient_cell(v) for v in step['grad_outputs'])}</TD>")
    if moment.phase >= MULTIPLY:
        cells.append(f"<TD> = </TD><TD>{_gradient_cell(returned)}</TD>")
    return f"<TR>{''.join(cells)}</TR>"


def _accumulation(step: Step) -> str:
    accumulate = step["accumulate"]
    if accumulate is None:
        return ""
    before, after = text(spell_gradient(accumulate["before"])), text(spell_gradient(accumulate["after"]))
    incoming = text(spell_gradient(step["grad_outputs"][0]))
    line = f"{text(accumulate['leaf'])}.grad: {before} + {incoming} = {after}"
    return f'<TR><TD ALIGN="LEFT">{line}</TD></TR>'


def _gradient_cell(gradient: Gradient) -> str:
    cell = f'<FONT COLOR="{IN_FLIGHT}"><B>{text(spell_gradient(gradient))}</B></FONT>'
    if "missing" in gradient or not gradient["shape"]:
        return cell
    return f'{cell} <FONT COLOR="{QUIET}">{text(spell_shape(gradient["shape"]))}</FONT>'


def _matrix(jacobian: LocalJacobian) -> str:
    value = jacobian["value"]
    if "missing" in value:
        return text(spell_structure(jacobian))
    data = value.get("data")
    columns = 1
    for size in jacobian["input_shape"]:
        columns *= size
    if data is None or len(data) > MOST_CELLS or columns == 0 or len(data) == 0:
        return text(spell_structure(jacobian))
    cells = [f'<TD BORDER="1" COLOR="{QUIET}"><FONT COLOR="{FORWARD}">{spell_number(n)}</FONT></TD>' for n in data]
    rows = ["".join(cells[start : start + columns]) for start in range(0, len(cells), columns)]
    body = "".join(f"<TR>{line}</TR>" for line in rows)
    return f'<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="4">{body}</TABLE>'
