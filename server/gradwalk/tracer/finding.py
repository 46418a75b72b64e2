"""One finding, and how findings speak of nodes, operands and entries."""

from gradwalk.protocol.events import Finding, FindingKind
from gradwalk.protocol.facts import Fact, Filling, Numbers, code, fact, number
from gradwalk.protocol.graph import Node, Span
from gradwalk.protocol.values import TensorValue
from gradwalk.tracer.decimals import spell_non_finite
from gradwalk.tracer.magnitudes import Trouble
from gradwalk.tracer.text import called

_WRITTEN_OUT = 4
"""Entries of a vector that a sentence has room for."""


def finding(kind: FindingKind, node: Node, step: int | None, what: Fact, span: Span | None = None) -> Finding:
    """A finding at a node, or at another span."""
    return {
        "kind": kind,
        "node": node["id"],
        "step": step,
        "span": span or node["span"],
        "group": node["group"],
        "fact": what,
    }


def name_of(node: Node) -> Filling:
    """`MulBackward0 (line 3)`."""
    span = node["span"]
    return node["name"] if span is None else fact("node-in-line", op=node["name"], line=str(span["line"]))


def operation_of(node: Node) -> Filling:
    """`sqrt` in line 3: what forward did, where `name_of` is what backward does."""
    span, op = node["span"], node["op"].strip("_")
    return code(op) if span is None else fact("call-in-line", call=op, line=str(span["line"]))


def name_with_operands(node: Node, name: Filling | None = None) -> Filling:
    """`SqrtBackward0 (line 3) with x = 0`, or another name of it, as far as operands are short."""
    values = {called(one): value for one in node["inputs"] if (value := short(one["value"])) is not None}
    name = name or name_of(node)
    if not values:
        return name
    operands: list[Filling] = [fact("finding-operand", name=each, value=value) for each, value in values.items()]
    return fact("finding-node", node=name, operands=operands)


def entries(trouble: Trouble) -> list[Filling]:
    """`one NaN entry and 2 infinite entries`."""
    nans = [fact("finding-nans", count=trouble.nans)] if trouble.nans else []
    return [*nans, *([fact("finding-infinities", count=trouble.infinities)] if trouble.infinities else [])]


def short(value: TensorValue | None) -> Numbers | None:
    """A number or a short vector."""
    data = None if value is None else value.get("data")
    if value is None or not data:
        return None
    if len(data) == 1:
        return number(data[0])
    is_short = len(data) <= _WRITTEN_OUT and len(value["shape"]) == 1
    return {"numbers": data, "shape": value["shape"]} if is_short else None


def measured(size: float) -> Numbers:
    """A norm or a factor, to six digits: more of them would be those of a rounding."""
    return number(spell_non_finite(float(f"{size:.6g}")))
