"""v times J = returned, and the rule it follows, as a table inside the picture's caption."""

import math

from gradwalk.exports.labels import ACCUMULATED, FORWARD, IN_FLIGHT, QUIET, row, text
from gradwalk.exports.moment import COMPUTE, LOCAL_RULE, MULTIPLY, SAVE, Moment
from gradwalk.exports.spelling import spell_gradient, spell_structure, spell_value
from gradwalk.protocol.events import LocalJacobian, Step
from gradwalk.protocol.graph import SavedTensor, Span
from gradwalk.protocol.values import Gradient, TensorValue
from gradwalk.words.catalogue import say
from gradwalk.words.numbers import spell_number, spell_shape

MOST_CELLS = 36
"""Jacobians up to this size are written out, larger ones are named by their structure."""
MOST_OPERANDS = 6
"""Equations written out for one step; torch.cat of fifty tensors has fifty."""
LONGEST_RULE = 90
INDENT = "\N{NO-BREAK SPACE}" * 4
MATRIX_PADDING = 4
CHARACTER, CELL_HEIGHT = 8.5, 24.0
"""Points, about, of bold text in 13 points and of a row of cells."""
_ENGINES = {"sum_to_size", "cast"}
"""Changes by the engine are a part of the rule."""
FILLER = '<TD COLSPAN="200" CELLPADDING="0"></TD>'
"""Below a wider equation a table is stretched, each column by the same: what holds something is hardly pulled apart."""


def equation_table(moment: Moment, scale: float = 1.0) -> str:
    """Rows of the caption: for each operand its rule, v, J and their product, as far as the phase has come.

    `scale` is that of the text; what stands round it grows along.
    """
    if moment.forward is not None:
        return _forward(moment)
    step = moment.step
    if step is None or moment.phase < LOCAL_RULE:
        return ""
    if step["accumulate"] is not None:
        return _accumulation(step, landed=moment.phase > MULTIPLY)
    argnums = range(len(step["grad_inputs"]))
    rows = [_operand_rows(moment, step, argnum, scale) for argnum in argnums[:MOST_OPERANDS]]
    if len(argnums) > MOST_OPERANDS:
        rows.append(_line(f'<TD ALIGN="LEFT">{_more(len(argnums))}</TD>'))
    if not rows:
        return ""
    table = f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0">{"".join(rows)}</TABLE>'
    return f'<TR><TD ALIGN="LEFT">{table}</TD></TR>'


def _forward(moment: Moment) -> str:
    """What goes into the operation, what comes out of it, what it keeps for backward: as far as the phase has come."""
    node = moment.active_node
    if node is None:
        return ""
    known = node["inputs"][:MOST_OPERANDS]
    lines = [_named(name, each["value"]) for name, each in zip(moment.operands, known, strict=False)]
    if len(node["inputs"]) > MOST_OPERANDS:
        lines.append(_more(len(node["inputs"])))
    if moment.phase >= COMPUTE:
        outputs = [
            _named(each["name"] or say("export-result"), each["value"]) for each in node["outputs"][:MOST_OPERANDS]
        ]
        lines += [f"\N{RIGHTWARDS ARROW} {each}" for each in outputs]
    if moment.phase >= SAVE:
        labels = moment.forward.saved if moment.forward else []
        saved = zip(labels, node["saved"][:MOST_OPERANDS], strict=False)
        lines += [say("export-saved", what=_saved(name, each)) for name, each in saved]
    return "".join(row(each, FORWARD) for each in lines)


def _more(count: int) -> str:
    """How many operands are not written out."""
    return text(say("export-operands-more", count=count - MOST_OPERANDS))


def _named(name: str, value: TensorValue | None) -> str:
    return (
        say("export-not-observed", name=text(name)) if value is None else f"{text(name)} = {text(spell_value(value))}"
    )


def _saved(name: str, saved: SavedTensor) -> str:
    value = saved["value"]
    if value is not None:
        return _named(name, value)
    return f"{text(name)} = {text(str(saved.get('option')))}" if "note" not in saved else text(name)


def _operand(moment: Moment, argnum: int) -> str:
    """What the page calls it."""
    inputs = moment.active_node["inputs"] if moment.active_node else []
    at = next((at for at, each in enumerate(inputs) if each["argnum"] == argnum), None)
    return say("operand-number", number=str(argnum + 1)) if at is None else moment.operands[at]


def _operand_rows(moment: Moment, step: Step, argnum: int, scale: float) -> str:
    """The rule, then the numbers; the operand's name stands before the first of them."""
    name = f'<FONT COLOR="{QUIET}">{text(_operand(moment, argnum))}: </FONT>'
    rule, equation = _rule(moment, step, argnum), _equation(moment, step, argnum, scale)
    first = f"{name}{rule}" if rule else name
    if not rule and not equation.startswith("<TABLE"):
        return _line(f'<TD ALIGN="LEFT">{name}{equation}</TD>')
    return "".join(_line(f'<TD ALIGN="LEFT">{each}</TD>') for each in (first, equation))


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
    is_checked = step.get("formula_checked") or formula.get("checked")
    return text(written if is_checked else f"{written} ({say('player-unchecked')})")


def _equation(moment: Moment, step: Step, argnum: int, scale: float) -> str:
    """v times J = returned: a table where J is written out as one, else a line of text, which nothing stretches.

    What a hook of the program's then made of it, which is what was sent on, follows.
    """
    hooked = [
        change for change in step.get("changes", ()) if change["argnum"] == argnum and change["kind"] not in _ENGINES
    ]
    returned = hooked[0]["before"] if hooked else step["grad_inputs"][argnum]
    parts: list[str] = []
    for jacobian in (each for each in step["local_jacobians"] if each["argnum"] == argnum):
        plus = [" + "] if parts else []
        v = step["grad_outputs"][jacobian["output_nr"]]
        parts += [*plus, _gradient_cell(v), " \N{MULTIPLICATION SIGN} ", _matrix(jacobian, scale)]
    if not parts:
        parts.append(" ".join(_gradient_cell(v) for v in step["grad_outputs"]))
    if moment.phase >= MULTIPLY:
        sign = "=" if "missing" not in returned else "\N{RIGHTWARDS ARROW}"
        parts += [f" {sign} ", _gradient_cell(returned)]
        parts += [f"; {text(_made_by(change['span'], change['after']))}" for change in hooked]
    if not any(part.startswith("<TABLE") for part in parts):
        return f"{INDENT}{''.join(parts)}"
    cells = "".join(f"<TD>{part}</TD>" for part in parts) + FILLER
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0"><TR>{cells}</TR></TABLE>'


def _made_by(span: Span | None, after: Gradient) -> str:
    """`the hook in line 6 made it [4, 8]`."""
    who = say("hook-somewhere") if span is None else say("hook-in-line", line=str(span["line"]))
    return say("hook-made", who=who, value=spell_gradient(after))


def _accumulation(step: Step, *, landed: bool) -> str:
    accumulate = step["accumulate"]
    if accumulate is None:
        return ""
    incoming = f'<FONT COLOR="{IN_FLIGHT}">{text(spell_gradient(step["grad_outputs"][0]))}</FONT>'
    ends = accumulate["before"], accumulate["after"]
    before, after = ("None" if "missing" in each else text(spell_gradient(each)) for each in ends)
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


def _matrix(jacobian: LocalJacobian, scale: float) -> str:
    numbers = _written_out(jacobian)
    if numbers is None:
        return text(f"({spell_structure(jacobian)})")
    if numbers == [numbers[0][:1]]:
        return f'<FONT COLOR="{FORWARD}">{numbers[0][0]}</FONT>'
    cells = [
        [f'<TD BORDER="1" COLOR="{QUIET}"><FONT COLOR="{FORWARD}">{n}</FONT></TD>' for n in line] for line in numbers
    ]
    body = "".join(f"<TR>{''.join(line)}</TR>" for line in cells)
    return f'<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="{round(MATRIX_PADDING * scale)}">{body}</TABLE>'


def _written_out(jacobian: LocalJacobian) -> list[list[str]] | None:
    """Its numbers by row; None where there is no room for them, or there are none."""
    value = jacobian["value"]
    if "missing" in value:
        return None
    data = value.get("data")
    columns = math.prod(jacobian["input_shape"])
    if not data or len(data) > MOST_CELLS or columns == 0:
        return None
    numbers = [spell_number(n) for n in data]
    return [numbers[start : start + columns] for start in range(0, len(numbers), columns)]


def equation_size(moment: Moment) -> tuple[float, float]:
    """About what the whole equation of a step takes in points, unscaled, whatever the phase; 0, 0 without one."""
    step = moment.step
    if step is None or step["accumulate"] is not None:
        return 0.0, 0.0
    width = height = 0.0
    for argnum in range(len(step["grad_inputs"]))[:MOST_OPERANDS]:
        across, down = _spelled_width(step["grad_inputs"][argnum]), CELL_HEIGHT
        for jacobian in (each for each in step["local_jacobians"] if each["argnum"] == argnum):
            numbers = _written_out(jacobian) or [[spell_structure(jacobian)]]
            across += _spelled_width(step["grad_outputs"][jacobian["output_nr"]])
            across += sum(
                max(map(len, column)) * CHARACTER + 2 * MATRIX_PADDING for column in zip(*numbers, strict=True)
            )
            down = max(down, len(numbers) * CELL_HEIGHT)
        name = len(_operand(moment, argnum)) * CHARACTER
        width = max(width, across + name)
        height += down + CELL_HEIGHT
    return width, height


def _spelled_width(gradient: Gradient) -> float:
    """Its numbers, its shape beside them, and the sign after them."""
    shape = "" if "missing" in gradient else spell_shape(gradient["shape"])
    return (len(spell_gradient(gradient)) + len(shape) + 4) * CHARACTER
