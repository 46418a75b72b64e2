"""Calls that built several nodes and are one operation all the same.

`a @ b` of a batch and a matrix is a view, mm and another view in autograd, and a product to whoever wrote it. Where all
nodes of a call but one only bring tensors into other shapes, and torch's table has the call as an operation too, that
operation's formula is evaluated with the values at the borders of the call, and told where it gives what the engine
returned there.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import torch

from gradwalk.formulas.entry import Kind
from gradwalk.formulas.registry import entry_of
from gradwalk.protocol.events import CallFormula
from gradwalk.protocol.graph import CallOperand, Graph, GroupCall, Node, Operand
from gradwalk.protocol.values import Gradient, TensorValue
from gradwalk.tracer.node_formulas import STEPS_CHECKED, NodeFormulas, Unexplained
from gradwalk.tracer.values import tensor_of

_ARRANGING: Final = frozenset(
    ["_reshape_alias", "_unsafe_view", "alias", "clone", "expand", "permute"]
    + ["squeeze", "t", "transpose", "unsqueeze", "view"]
)
_ROLES: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("matmul", "mm"): {"self": "self", "mat2": "other"},
    ("matmul", "bmm"): {"self": "self", "mat2": "other"},
    ("matmul", "mv"): {"self": "self", "vec": "other"},
    ("linear", "mm"): {"self": "input", "mat2": "weight"},
    ("linear", "addmm"): {"mat1": "input", "mat2": "weight", "self": "bias"},
}
"""By call and the operation that computes it, which operand of the call each operand of that operation is."""
_IN_ORDER: Final = ("self", "other", "input", "weight", "bias")
_BATCHED: Final = frozenset({"self", "input"})
"""Operands whose dims in front a call folds into rows before it multiplies."""
_NO_BIAS: Final[Operand] = {"argnum": 2, "name": "bias", "value": None}


Sources = Mapping[tuple[str, int], str]
"""By node and operand, the node that made it."""


def find_call(members: Sequence[Node], sources: Sources, op: str) -> GroupCall | None:
    """What a group is as one operation; None where it is more, or no operation that has a formula.

    Args:
        members: the nodes in the group, without leaves.
        op: what was called.
    """
    computing = [node for node in members if not _is_arranging(node)]
    if len(members) < 2 or len(computing) != 1 or entry_of(_node_name(op)) is None:  # noqa: PLR2004
        return None
    (node,) = computing
    roles = _ROLES.get((op, node["op"]))
    inside = {one["id"]: one for one in members}
    used = {sources.get((one["id"], argnum)) for one in members for argnum in range(len(one["inputs"]))}
    ends = [one for one in inside if one not in used]
    if roles is None or len(ends) != 1 or len(node["inputs"]) < 2:  # noqa: PLR2004
        return None
    if not all(operand["name"] in roles for operand in node["inputs"]):
        return None
    operands: list[CallOperand] = []
    for argnum, operand in enumerate(node["inputs"]):
        border = node["id"], argnum
        while (source := sources.get(border)) in inside:
            border = str(source), 0
        name = roles[operand["name"]]
        operands.append({"name": name, "argnum": argnum, "border": {"node": border[0], "argnum": border[1]}})
    operands.sort(key=lambda one: _IN_ORDER.index(one["name"]))
    return {"op": op, "node": node["id"], "output": ends[0], "operands": operands}


def _is_arranging(node: Node) -> bool:
    """Whether a node hands every element on, once."""
    if node["kind"] != "op" or node["op"] not in _ARRANGING or len(node["inputs"]) != 1 or len(node["outputs"]) != 1:
        return False
    given, made = node["inputs"][0]["value"], node["outputs"][0]["value"]
    return node["op"] != "expand" or (given is not None and made is not None and given["shape"] == made["shape"])


def _node_name(op: str) -> str:
    return f"{op.capitalize()}Backward0"


class CallFormulas:
    """The formulas of the calls of one trace."""

    def __init__(self, formulas: NodeFormulas) -> None:
        self._formulas = formulas
        self._left = STEPS_CHECKED

    def read(self, graph: Graph, steps: Sequence[Mapping[str, Any]]) -> dict[int, CallFormula]:
        """By index of the step that computes it, the formula of each call of a pass that holds."""
        calls = [group["call"] for group in graph["groups"] if "call" in group]
        if not calls:
            return {}
        nodes = {node["id"]: node for node in graph["nodes"]}
        by_node = {step["node"]: step for step in steps}
        found = {}
        for call in calls:
            step = by_node.get(call["node"])
            told = None if step is None or self._left <= 0 else self._formula(call, nodes, by_node)
            if step is not None and told is not None:
                self._left -= 1
                found[step["index"]] = told
        return found

    def _formula(
        self, call: GroupCall, nodes: Mapping[str, Node], steps: Mapping[str, Mapping[str, Any]]
    ) -> CallFormula | None:
        if not all(
            one in steps for one in (call["output"], *(operand["border"]["node"] for operand in call["operands"]))
        ):
            return None
        seed = _tensor(steps[call["output"]]["grad_outputs"][0])
        names = [operand["name"] for operand in call["operands"]]
        borders = [(one["border"]["node"], one["border"]["argnum"]) for one in call["operands"]]
        operands: list[Operand] = [nodes[node]["inputs"][argnum] for node, argnum in borders]
        returned = [
            _tensor(steps[node]["grad_inputs"][argnum]) if "edge" in operand else None
            for (node, argnum), operand in zip(borders, operands, strict=True)
        ]
        values = [_tensor(operand["value"]) for operand in operands]
        if seed is None or any(
            value is None or ("edge" in operand and gradient is None)
            for value, operand, gradient in zip(values, operands, returned, strict=True)
        ):
            return None
        tensors = [
            _unfolded(value, seed) if name in _BATCHED and "edge" not in operand else value
            for name, value, operand in zip(names, values, operands, strict=True)
            if value is not None
        ]
        named = [_named(operand, nodes[call["node"]]) for operand in operands]
        saved = dict(zip(names, tensors, strict=True))
        kinds: list[Kind | None] = [*map(Kind.of, tensors)]
        if call["op"] == "linear" and "bias" not in names:
            named, kinds, returned = [*named, _NO_BIAS], [*kinds, None], [*returned, None]
        wanted = {argnum for argnum, gradient in enumerate(returned) if gradient is not None}
        known = Unexplained({key: Kind.of(one) for key, one in saved.items()}, [Kind.of(seed)], kinds, wanted)
        name = _node_name(call["op"])
        described = self._formulas.describe(
            name, known, named, nodes[call["output"]]["outputs"], [call["op"], *(None for _ in named)]
        )
        shapes = [None if kind is None else kind.shape for kind in kinds]
        verdict = self._formulas.check(saved, name, [seed], returned, shapes, described.letters)
        if verdict is None or not verdict.holds or described.formula is None:
            return None
        # Torch's table has the call for other devices than this one: its lines did not run.
        told: CallFormula = {"formula": {**described.formula, "derivatives_yaml": []}}
        if verdict.substitutions:
            told["substitutions"] = verdict.substitutions
        if verdict.moves:
            told["moves"] = verdict.moves
        return told


def _unfolded(value: torch.Tensor, seed: torch.Tensor) -> torch.Tensor:
    """What the node was given as rows, in the shape in which the call was given it."""
    lead = seed.shape[:-1]
    return value.reshape(*lead, -1) if value.dim() == 2 and lead.numel() == value.shape[0] else value  # noqa: PLR2004


def _named(operand: Operand, node: Node) -> Operand:
    """With the variable that the node saved it from, where the program's text says nothing of it."""
    if "source" in operand or "edge" in operand:
        return operand
    alias = next(
        (one["alias_of"] for one in node["saved"] if one["name"] == operand["name"] and "alias_of" in one), None
    )
    return operand if alias is None else {**operand, "source": alias}


def _tensor(value: Gradient | TensorValue | None) -> torch.Tensor | None:
    """A value that was told in full, and is real."""
    return None if value is None or "data" not in value or "complex" in value["dtype"] else tensor_of(value)
