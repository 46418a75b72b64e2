"""v times J = returned, and the rule it follows, as a table inside the picture's caption."""

import math

from gradwalk.exports.labels import ACCUMULATED, FORWARD, IN_FLIGHT, QUIET, row, text
from gradwalk.exports.moment import COMPUTE, LOCAL_RULE, MULTIPLY, SAVE, Moment
from gradwalk.exports.spelling import spell_gradient, spell_number, spell_shape, spell_structure, spell_value
from gradwalk.protocol.events import LocalJacobian, Step
from gradwalk.protocol.graph import SavedTensor
from gradwalk.protocol.values import Gradient, TensorValue

MOST_CELLS = 36
"""Jacobians up to this size are written out, larger ones are named by their structure."""
MOST_OPERANDS = 6
"""Equations written out for one step; torch.cat of fifty tensors has fifty."""
LONGEST_RULE = 90


def equation_table(moment: Moment) -> str:
    """Rows of the caption: for each operand its rule, v, J and their product, as far as the phase has come."""
    if moment.forward is not None:
        return _forward(moment)
    step = moment.step
    if step is None or moment.phase < LOCAL_RULE:
        return ""
    if step["accumulate"] is not None:
        return _accumulation(step, landed=moment.phase > MULTIPLY)
    argnums = range(len(step["grad_inputs"]))
    rows = [_operand_rows(moment, step, argnum) for argnum in argnums[:MOST_OPERANDS]]
    if len(argnums) > MOST_OPERANDS:
        rows.append(_line(f'<TD COLSPAN="2" ALIGN="LEFT">and {len(argnums) - MOST_OPERANDS} operands more</TD>'))
    if not rows:
        return ""
    table = f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0">{"".join(rows)}</TABLE>'
    return f'<TR><TD ALIGN="LEFT">{table}</TD></TR>'


def _forward(moment: Moment) -> str:
    """What goes into the operation, what comes out of it, what it keeps for backward: as far as the phase has come."""
    node = moment.active_node
    if node is None:
        return ""
    lines = [_named(each["name"], each["value"]) for each in node["inputs"][:MOST_OPERANDS]]
    if len(node["inputs"]) > MOST_OPERANDS:
        lines.append(f"and {len(node['inputs']) - MOST_OPERANDS} operands more")
    if moment.phase >= COMPUTE:
        outputs = [_named(each["name"] or "result", each["value"]) for each in node["outputs"][:MOST_OPERANDS]]
        lines += [f"\N{RIGHTWARDS ARROW} {each}" for each in outputs]
    if moment.phase >= SAVE:
        lines += [f"saved {_saved(each)}" for each in node["saved"][:MOST_OPERANDS]]
    return "".join(row(each, FORWARD) for each in lines)


def _named(name: str, value: TensorValue | None) -> str:
    return f"{text(name)}: not observed" if value is None else f"{text(name)} = {text(spell_value(value))}"


def _saved(saved: SavedTensor) -> str:
    value = saved["value"]
    if isinstance(value, dict):
        return _named(saved["name"], value)
    return f"{text(saved['name'])} = {text(str(value))}" if "note" not in saved else text(saved["name"])


def _operand(moment: Moment, argnum: int) -> str:
    node = moment.active_node
    return node["inputs"][argnum]["name"] if node and argnum < len(node["inputs"]) else str(argnum)


def _operand_rows(moment: Moment, step: Step, argnum: int) -> str:
    """The rule, then the numbers; the operand's name stands before the first of them."""
    name = f'<TD ALIGN="RIGHT"><FONT COLOR="{QUIET}">{text(_operand(moment, argnum))}: </FONT></TD>'
    rule, equation = _rule(moment, step, argnum), _equation(moment, step, argnum)
    cells = [f'<TD ALIGN="LEFT">{each}</TD>' for each in (rule, equation) if each]
    return _line(name + cells[0]) + "".join(_line(f"<TD> </TD>{cell}") for cell in cells[1:])


def _rule(moment: Moment, step: Step, argnum: int) -> str:
    """The formula as text, unless it was evaluated and found not to be what the engine returned."""
    node = moment.active_node
    formula = node["formula"] if node else None
    if formula is None or formula.get("checked") is False or step.get("formula_checked") is False:
        return ""
    written = next((line["text"] for line in formula["vjp"] if line["argnum"] == argnum), "")
    if not written:
        return ""
    written = written if len(written) <= LONGEST_RULE else f"{written[:LONGEST_RULE]}\N{HORIZONTAL ELLIPSIS}"
    return text(written)


def _equation(moment: Moment, step: Step, argnum: int) -> str:
    returned = step["grad_inputs"][argnum]
    cells: list[str] = []
    for jacobian in (each for each in step["local_jacobians"] if each["argnum"] == argnum):
        plus = "<TD> + </TD>" if cells else ""
        v = step["grad_outputs"][jacobian["output_nr"]]
        cells.append(
            f"{plus}<TD>{_gradient_cell(v)}</TD><TD> \N{MULTIPLICATION SIGN} </TD><TD>{_matrix(jacobian)}</TD>"
        )
    if not cells:
        cells.append(f"<TD>{' '.join(_gradient_cell(v) for v in step['grad_outputs'])}</TD>")
    if moment.phase >= MULTIPLY:
        sign = "=" if "missing" not in returned else "\N{RIGHTWARDS ARROW}"
        cells.append(f"<TD> {sign} </TD><TD>{_gradient_cell(returned)}</TD>")
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0"><TR>{"".join(cells)}</TR></TABLE>'


def _accumulation(step: Step, *, landed: bool) -> str:
    accumulate = step["accumulate"]
    if accumulate is None:
        return ""
    incoming = f'<FONT COLOR="{IN_FLIGHT}">{text(spell_gradient(step["grad_outputs"][0]))}</FONT>'
    before, after = (text(spell_gradient(accumulate[when])) for when in ("before", "after"))
    line = f"{text(accumulate['leaf'])}.grad: {before} + {incoming}"
    if landed:
        line += f' = <FONT COLOR="{ACCUMULATED}"><B>{after}</B></FONT>'
    return _line(f'<TD ALIGN="LEFT">{line}</TD>')


def _line(cells: str) -> str:
    return f"<TR>{cells}</TR>"


def _gradient_cell(gradient: Gradient) -> str:
    spelled = spell_gradient(gradient)
    cell = f'<FONT COLOR="{IN_FLIGHT}"><B>{text(spelled)}</B></FONT>'
    if "missing" in gradient or not gradient["shape"]:
        return cell
    shape = spell_shape(gradient["shape"])
    return cell if spelled.startswith(f"{shape} ") else f'{cell} <FONT COLOR="{QUIET}">{text(shape)}</FONT>'


def _matrix(jacobian: LocalJacobian) -> str:
    value = jacobian["value"]
    if "missing" in value:
        return text(spell_structure(jacobian))
    data = value.get("data")
    columns = math.prod(jacobian["input_shape"])
    if not data or len(data) > MOST_CELLS or columns == 0:
        return text(spell_structure(jacobian))
    cells = [f'<TD BORDER="1" COLOR="{QUIET}"><FONT COLOR="{FORWARD}">{spell_number(n)}</FONT></TD>' for n in data]
    rows = ["".join(cells[start : start + columns]) for start in range(0, len(cells), columns)]
    body = "".join(f"<TR>{line}</TR>" for line in rows)
    return f'<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="4">{body}</TABLE>'
