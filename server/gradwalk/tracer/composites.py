"""Calls that built several nodes and are one operation all the same.

`a @ b` of a batch and a matrix is a view, mm and another view in autograd, and a product in the program. Where all
nodes of a call but one only bring tensors into other shapes, the call's formula is evaluated with the values at its
borders, and told where it gives what the engine returned there. So is that of a cross entropy, which two nodes compute.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, takewhile
from typing import Any, Final, NamedTuple

import torch

from gradwalk.formulas.entry import Kind
from gradwalk.formulas.registry import entry_of
from gradwalk.formulas.specialise import kind_of
from gradwalk.protocol.events import CallFormula
from gradwalk.protocol.graph import CallOperand, Consumer, Graph, Group, GroupCall, Node, Operand, Output, SavedTensor
from gradwalk.protocol.values import Gradient, TensorValue
from gradwalk.tracer.calls import Call
from gradwalk.tracer.node_formulas import STEPS_CHECKED, NodeFormulas, Unexplained
from gradwalk.tracer.values import tensor_of

_ARRANGING: Final = frozenset(
    ["_reshape_alias", "_unsafe_view", "alias", "clone", "expand", "permute"]
    + ["squeeze", "t", "transpose", "unsqueeze", "view"]
)
_TURNING: Final = frozenset({"permute", "t", "transpose"})
_PRODUCT: Final = {"self": "self", "mat2": "other", "vec": "other"}
_SWAPPED: Final = {"self": "other", "mat2": "self", "vec": "self"}
_CALLED: Final = {"cross_entropy_loss": "cross_entropy"}
"""What a program calls an operation that has another name inside of torch."""
_ROLES: Final[Mapping[tuple[str, ...], Mapping[str, str]]] = {
    ("matmul", "mm"): _PRODUCT,
    ("matmul", "bmm"): _PRODUCT,
    ("matmul", "mv"): _PRODUCT,
    ("linear", "mm"): {"self": "input", "mat2": "weight"},
    ("linear", "addmm"): {"mat1": "input", "mat2": "weight", "self": "bias"},
}
"""By call and the operations that compute it, the last one first, which operand of the call each operand of the first
one is."""
_MULTIPLYING: Final = frozenset({"bmm", "mul"})
_SCORES: Final = {"self": "self"}
_FACTORS: Final = ("target", "weight")
_LOSSES: Final = frozenset({"nll_loss_forward", "nll_loss2d_forward"})
_IN_ORDER: Final = ("self", "other", "input", "target", "weight", "bias")
_NO_BIAS: Final[Operand] = {"argnum": 2, "name": "bias", "value": None}


Sources = Mapping[tuple[str, int], str]
"""By node and operand, the node that made it."""


def find_call(members: Sequence[Node], sources: Sources, call: Call, variables: Mapping[int, str]) -> GroupCall | None:
    """What a group is as one operation; None where it is more, or no operation that has a formula.

    Args:
        members: the nodes in the group, without leaves.
        call: what made them.
        variables: those that hold a constant, by its identity.
    """
    inside = {one["id"]: one for one in members}
    used = {sources.get((one["id"], argnum)) for one in members for argnum in range(len(one["inputs"]))}
    ends = [one for one in members if one["id"] not in used]
    if len(ends) != 1 or len(members) < 2:  # noqa: PLR2004
        return None
    label = call.label.strip("_")
    op = _CALLED.get(label, label)
    equation = str(call.options.get("equation", ""))
    node = _meeting(ends[0], inside, sources) if equation else _first(members, op)
    operands = [] if node is None else _operands(node, op, equation, inside, sources)
    known = {(one["border"]["node"], one["border"]["argnum"]) for one in operands}
    constants = [(variables.get(one), value) for one, is_asked, value in call.arguments if not is_asked]
    if node is None or not _borders(members, sources) <= known or not _give_constants(operands, inside, constants):
        return None
    found: GroupCall = {"op": op, "node": node["id"], "output": ends[0]["id"], "operands": operands}
    if call.options:
        found["options"] = {**call.options}
    return found


def _operands(node: Node, op: str, equation: str, inside: Mapping[str, Node], sources: Sources) -> list[CallOperand]:
    """The operands of the call in order; none where the node that computes has one that is no argument."""
    members = [*inside.values()]
    ways = [_way(node, argnum, inside, sources) for argnum in range(len(node["inputs"]))]
    names = _names(node, op, members, ways)
    is_single = all(len(one["inputs"]) == 1 for way in ways for one in way)
    if not (is_single and all(operand["name"] in names for operand in node["inputs"])):
        return []
    passed = {one["id"] for way in (*ways, [node]) for one in way}
    is_result_in_order = all(_keeps_order(one) for one in members if one["id"] not in passed)
    operands = [_call_operand(node, argnum, way, names) for argnum, way in enumerate(ways)]
    for operand, way in zip(operands, ways, strict=True):
        if is_result_in_order and all(map(_keeps_order, way)):
            operand["keeps_order"] = True
    factors = _FACTORS if op == "cross_entropy" else _names_of_more(len(operands), equation)
    operands += _factors_behind(node, inside, sources, factors)
    if equation and len(operands) != len(equation.split(",")):
        return []
    return sorted(operands, key=lambda one: (*_IN_ORDER, *names.values(), *factors).index(one["name"]))


def _names_of_more(count: int, equation: str) -> Sequence[str]:
    """Of what an einsum multiplies after its first two operands have met."""
    return [f"operands[{at}]" for at in range(count, len(equation.split(",")))] if count > 1 else []


def _first(members: Sequence[Node], op: str) -> Node | None:
    """Of the nodes that compute a call, the first in the forward pass."""
    computing = [node for node in members if not is_arranging(node)]
    if op == "cross_entropy":
        return next((node for node in computing if node["op"] == "_log_softmax"), None)
    return computing[-1] if (op, *(node["op"] for node in computing)) in _ROLES else None


def _names(node: Node, op: str, members: Sequence[Node], ways: Sequence[Sequence[Node]]) -> Mapping[str, str]:
    """By operand of the node that computes, which operand of the call it is."""
    if op == "cross_entropy":
        return _SCORES
    roles = _ROLES.get((op, *(one["op"] for one in members if not is_arranging(one))))
    if roles is None:
        return {operand["name"]: f"operands[{at}]" for at, operand in enumerate(node["inputs"])}
    if roles is _PRODUCT and any(one["op"] in _TURNING for way in ways for one in way):
        # Where the second operand has more dims, torch computes the transpose: (b.mT @ a.T).mT.
        return _SWAPPED
    return roles


def _meeting(end: Node, inside: Mapping[str, Node], sources: Sources) -> Node | None:
    """Where the first two operands of an einsum meet; of a single one, where it is added up, or else its last node."""
    node, way = end, [end]
    while (source := sources.get((node["id"], 0))) in inside:
        node = inside[str(source)]
        way.append(node)
    met = [one for one in way if len(one["inputs"]) > 1]
    if met:
        return met[-1]
    return next((one for one in way if not is_arranging(one)), way[-1])


def _call_operand(node: Node, argnum: int, way: Sequence[Node], names: Mapping[str, str]) -> CallOperand:
    """What an operand of the node that computes is to the call."""
    border: Consumer = {"node": way[-1]["id"], "argnum": 0} if way else {"node": node["id"], "argnum": argnum}
    return {"name": names[node["inputs"][argnum]["name"]], "argnum": argnum, "border": border}


def _factors_behind(
    node: Node, inside: Mapping[str, Node], sources: Sources, names: Sequence[str]
) -> list[CallOperand]:
    """What the result of a node is multiplied with, one after the other: the log-probabilities of a cross entropy with
    a distribution and with class weights, the product of the first operands of an einsum with the others."""
    first = len(node["inputs"])
    found: list[CallOperand] = []
    while True:
        users = [
            (one, argnum)
            for one in inside.values()
            for argnum in range(len(one["inputs"]))
            if sources.get((one["id"], argnum)) == node["id"]
        ]
        if len(users) != 1 or len(found) == len(names):
            return found
        ((node, argnum),) = users
        if node["op"] in _MULTIPLYING and len(node["inputs"]) > 1:
            way = _way(node, 1 - argnum, inside, sources)
            border: Consumer = {"node": way[-1]["id"] if way else node["id"], "argnum": 0 if way else 1 - argnum}
            found.append({"name": names[len(found)], "argnum": first + len(found), "border": border})


def _borders(members: Sequence[Node], sources: Sources) -> set[tuple[str, int]]:
    """Where gradients leave a group."""
    inside = {one["id"] for one in members}
    return {
        (one["id"], argnum)
        for one in members
        for argnum, operand in enumerate(one["inputs"])
        if "edge" in operand and sources.get((one["id"], argnum)) not in inside
    }


def _give_constants(
    operands: Sequence[CallOperand], inside: Mapping[str, Node], given: Sequence[tuple[str | None, TensorValue]]
) -> bool:
    """Says of operands without a gradient what the call was given for them; False where that is not known."""
    without = [one for one in operands if "edge" not in _at(one["border"], inside)]
    if len(without) > len(given):
        return False
    for operand, (variable, constant) in zip(without, given, strict=False):
        value = _at(operand["border"], inside)["value"]
        if value is not None and _has_same_cells(value, constant):
            operand["shape"] = constant["shape"]
        else:
            operand["value"] = constant
        if variable is not None:
            operand["source"] = variable
    return True


def _at(border: Consumer, inside: Mapping[str, Node]) -> Operand:
    return inside[border["node"]]["inputs"][border["argnum"]]


def _has_same_cells(one: TensorValue, other: TensorValue) -> bool:
    return math.prod(one["shape"]) == math.prod(other["shape"]) and one.get("data") == other.get("data")


def is_arranging(node: Node) -> bool:
    """Whether a node of a call only brings a tensor into another shape."""
    return node["kind"] == "op" and node["op"] in _ARRANGING and len(node["inputs"]) == 1 and len(node["outputs"]) == 1


def _way(node: Node, argnum: int, inside: Mapping[str, Node], sources: Sources) -> list[Node]:
    """The nodes of the call that an operand comes through, the one at the border last."""
    way: list[Node] = []
    while (source := sources.get((node["id"], argnum))) in inside:
        node, argnum = inside[str(source)], 0
        way.append(node)
    return way


def _keeps_order(node: Node) -> bool:
    """Whether a node hands on each cell once, in the order in which it got them."""
    if not is_arranging(node) or node["op"] in _TURNING:
        return False
    given, made = node["inputs"][0]["value"], node["outputs"][0]["value"]
    return node["op"] != "expand" or (given is not None and made is not None and given["shape"] == made["shape"])


def _node_names(call: GroupCall) -> Iterator[str]:
    """The names under which formulas of a call are written: of several, one may hold where another does not."""
    name = "Einsum" if "equation" in call.get("options", {}) else "".join(map(str.capitalize, call["op"].split("_")))
    return takewhile(entry_of, (f"{name}Backward{digit}" for digit in count()))


class _Seen(NamedTuple):
    """What a call read and returned at its borders."""

    seed: torch.Tensor
    saved: dict[str, Any]
    operands: list[Operand]
    kinds: list[Kind | None]
    returned: list[torch.Tensor | None]
    beside: list[SavedTensor]
    """What was saved and is no operand."""


class CallFormulas:
    """The formulas of the calls of one trace."""

    def __init__(self, formulas: NodeFormulas) -> None:
        self._formulas = formulas
        self._left = STEPS_CHECKED

    def read(self, graph: Graph, steps: Sequence[Mapping[str, Any]]) -> dict[int, CallFormula]:
        """By index of the step that computes it, the formula of each call of a pass that holds."""
        groups = [group for group in graph["groups"] if "call" in group]
        if not groups:
            return {}
        nodes = {node["id"]: node for node in graph["nodes"]}
        by_node = {step["node"]: step for step in steps}
        found = {}
        for group in groups:
            call = group["call"]
            step = by_node.get(call["node"])
            seen = None if step is None or self._left <= 0 else _seen(group, nodes, by_node)
            told = None if seen is None else self._first_that_holds(call, seen, nodes[call["output"]]["outputs"])
            if step is not None and told is not None:
                self._left -= 1
                found[step["index"]] = told
        return found

    def _first_that_holds(self, call: GroupCall, seen: _Seen, outputs: Sequence[Output]) -> CallFormula | None:
        checked = (self._checked(name, call["op"], seen, outputs) for name in _node_names(call))
        return next((told for told in checked if told is not None), None)

    def _checked(self, name: str, op: str, seen: _Seen, outputs: Sequence[Output]) -> CallFormula | None:
        seed, saved, operands, kinds, returned, beside = seen
        wanted = {argnum for argnum, gradient in enumerate(returned) if gradient is not None}
        known = Unexplained({key: kind_of(one) for key, one in saved.items()}, [Kind.of(seed)], kinds, wanted)
        described = self._formulas.describe(name, known, operands, outputs, [op, *(None for _ in operands)], beside)
        shapes = [None if kind is None else kind.shape for kind in kinds]
        verdict = self._formulas.check(saved, name, [seed], returned, shapes, described.letters, of_call=True)
        if verdict is None or not verdict.holds or described.formula is None:
            return None
        # Torch's table has the call for other devices than this one: its lines did not run.
        told: CallFormula = {"formula": {**described.formula, "derivatives_yaml": []}}
        if verdict.substitutions:
            told["substitutions"] = verdict.substitutions
        if verdict.moves:
            told["moves"] = verdict.moves
        return told


def _seen(group: Group, nodes: Mapping[str, Node], steps: Mapping[str, Mapping[str, Any]]) -> _Seen | None:
    """None where something is not there, or not in full."""
    call = group["call"]
    if not all(one in steps for one in (call["output"], *(operand["border"]["node"] for operand in call["operands"]))):
        return None
    seed = _tensor(steps[call["output"]]["grad_outputs"][0])
    names = [operand["name"] for operand in call["operands"]]
    borders = [(one["border"]["node"], one["border"]["argnum"]) for one in call["operands"]]
    operands: list[Operand] = [nodes[node]["inputs"][argnum] for node, argnum in borders]
    returned = [
        _tensor(steps[node]["grad_inputs"][argnum]) if "edge" in operand else None
        for (node, argnum), operand in zip(borders, operands, strict=True)
    ]
    values = [
        _tensor(one.get("value", operand["value"])) for one, operand in zip(call["operands"], operands, strict=True)
    ]
    beside = [saved for one in group["nodes"] if nodes[one]["op"] in _LOSSES for saved in nodes[one]["saved"]]
    is_whole = all(
        value is not None and ("edge" not in operand or gradient is not None)
        for value, operand, gradient in zip(values, operands, returned, strict=True)
    )
    if seed is None or not is_whole or not all(map(_is_read, beside)):
        return None
    tensors = [
        value.reshape(one["shape"]) if "shape" in one else value
        for one, value in zip(call["operands"], values, strict=True)
        if value is not None
    ]
    named = [
        _named(operand, nodes[call["node"]], one.get("source"))
        for one, operand in zip(call["operands"], operands, strict=True)
    ]
    saved = {one["name"]: one.get("option", _tensor(one["value"])) for one in beside}
    saved |= zip(names, tensors, strict=True)
    saved |= call.get("options", {})
    kinds: list[Kind | None] = [*map(Kind.of, tensors)]
    if call["op"] == "linear" and "bias" not in names:
        named, kinds, returned = [*named, _NO_BIAS], [*kinds, None], [*returned, None]
    return _Seen(seed, saved, named, kinds, returned, beside)


def _is_read(saved: SavedTensor) -> bool:
    """Whether it is known in full: an option, a tensor, or nothing where nothing was saved."""
    return "note" not in saved and (saved["value"] is None or _tensor(saved["value"]) is not None)


def _named(operand: Operand, node: Node, variable: str | None) -> Operand:
    """With the variable that holds it, or that the node saved it from, where the program's text says nothing of it."""
    if "source" in operand or "edge" in operand:
        return operand
    aliases = (one["alias_of"] for one in node["saved"] if one["name"] == operand["name"] and "alias_of" in one)
    alias = variable or next(aliases, None)
    return operand if alias is None else {**operand, "source": alias}


def _tensor(value: Gradient | TensorValue | None) -> torch.Tensor | None:
    """A value that was told in full, and is real."""
    return None if value is None or "data" not in value or "complex" in value["dtype"] else tensor_of(value)
