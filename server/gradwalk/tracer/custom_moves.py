"""The moves of a custom backward: what it did with v, as an expression of the values it worked with.

Operations inside a Function are recorded with their values, not with the names of those. Equal values are one object,
so what an operation reads is the v, the saved tensor or the earlier result that has this value, the latest of several.
What is computed without v is called as the program calls it, where it does.
Where another tensor has the same value as v, it is taken for v; a product of both is then no move.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import torch

from gradwalk.formulas.check import out_of_sight
from gradwalk.formulas.expression import Expression, Symbol, apply, reshape, total, transpose
from gradwalk.formulas.letters import Letters
from gradwalk.formulas.making import LONGEST, MOST_ROWS
from gradwalk.formulas.moves import moves
from gradwalk.formulas.ways import has_v
from gradwalk.protocol import graph as protocol
from gradwalk.protocol.graph import InnerOp
from gradwalk.protocol.moves import VjpMoves
from gradwalk.protocol.values import Gradient, TensorValue
from gradwalk.tracer.values import ValueTable, tensor_of

MOST_OPERATIONS: Final = 20
MOST_CELLS: Final = LONGEST["meet"] * MOST_ROWS
Names = Sequence[str | None]
_Shape = Sequence[int]
_Rule = Callable[[Sequence[Expression], Sequence[TensorValue], TensorValue], Expression | None]
"""Of the operands, their values and that of the result."""


def custom_moves(
    node: protocol.Node,
    inside: Sequence[tuple[InnerOp, Names]],
    received: Sequence[Gradient],
    returned: Sequence[Gradient],
    values: ValueTable,
) -> list[VjpMoves]:
    """Per operand the moves of what a custom backward did, as far as it is a short list of them.

    Args:
        inside: each operation, with the names that its results are given to.
    """
    arrived = [(output, v) for output, v in enumerate(received) if "missing" not in v]
    if len(arrived) != 1 or len(inside) > MOST_OPERATIONS:
        return []
    reading = _Reading(node, *arrived[0])
    for operation, names in inside:
        reading.read(operation, names)
    with out_of_sight():
        return [*reading.moves(returned, values)]


class _Reading:
    """What is known of values, by identity, while operations are read in turn."""

    def __init__(self, node: protocol.Node, output: int, v: TensorValue) -> None:
        self._known: dict[int, Expression] = {}
        self._values: list[TensorValue] = []
        self._tensors: dict[str, torch.Tensor] = {}
        self._letters: dict[str, str] = {}
        self._inner: list[str] = []
        """Of these, what is no tensor of the node's."""
        self._name(f"v{output}" if output else "v", v)
        for operand in node["inputs"]:
            self._name(operand["name"], operand["value"], operand.get("source"))
        for saved in node["saved"]:
            self._name(saved["name"], saved["value"])

    def read(self, operation: InnerOp, names: Names) -> None:
        """Adds what an operation made; where it is not known what that has to do with v, nothing."""
        given = [one for one in operation["inputs"] if one is not None]
        operands = [one for one in map(self._find, given) if one is not None]
        if len(operands) < len(operation["inputs"]):
            return
        made, rule = operation["outputs"], _RULES.get(operation["op"])
        is_apart = not any(map(has_v, operands))
        if is_apart and any(names):
            self._name_inner(made, names)
        elif rule is not None and len(made) == 1 and made[0] is not None and _is_readable(made[0]):
            found = rule(operands, given, made[0])
            if found is not None:
                self._keep(made[0], found)
        if is_apart:
            self._name_inner(made, [f"{operation['op']}(…)"] * len(made))

    def moves(self, returned: Sequence[Gradient], values: ValueTable) -> Iterator[VjpMoves]:
        for argnum, gradient in enumerate(returned):
            if "missing" in gradient or (expression := self._find(gradient)) is None:
                continue
            letters = Letters(self._letters)
            found = moves(argnum, expression, self._tensors, tensor_of(gradient), letters, values.value_of, self._inner)
            if found is not None:
                yield found

    def _name_inner(self, made: Sequence[TensorValue | None], sources: Names) -> None:
        for one, source in zip(made, sources, strict=False):
            if source is not None:
                name = f"inner {len(self._inner)}"
                self._inner.append(name)
                self._name(name, one, source)

    def _name(self, name: str, value: TensorValue | None, source: str | None = None) -> None:
        if value is None or not _is_readable(value) or id(value) in self._known:
            return
        self._tensors[name] = tensor_of(value)
        self._letters[name] = source or name
        self._keep(value, Symbol(name, tuple(value["shape"])))

    def _keep(self, value: TensorValue, expression: Expression) -> None:
        self._known[id(value)] = expression
        self._values.append(value)

    def _find(self, value: TensorValue) -> Expression | None:
        """A value, or the transpose of one: `.T` is no call that is recorded."""
        known = self._known.get(id(value))
        if known is not None or len(value["shape"]) != 2 or not _is_readable(value):
            return known
        turned = tensor_of(value).T
        return next(
            (
                transpose(self._known[id(one)])
                for one in self._values
                if (one["shape"], one["dtype"]) == ([*turned.shape], value["dtype"])
                and torch.equal(tensor_of(one), turned)
            ),
            None,
        )


def _is_readable(value: TensorValue) -> bool:
    """Whether it is real, and small enough for a table."""
    return len(value.get("data", ())) <= MOST_CELLS and "data" in value and "complex" not in value["dtype"]


def _of_two(operation: str) -> _Rule:
    def rule(operands: Sequence[Expression], _given: Sequence[TensorValue], _made: TensorValue) -> Expression | None:
        return apply(operation, *operands) if len(operands) == 2 else None  # noqa: PLR2004

    return rule


def _multiplied(operands: Sequence[Expression], given: Sequence[TensorValue], made: TensorValue) -> Expression | None:
    """Of two, or of one and a number, which the values say."""
    if len(operands) != 1:
        return _of_two("mul")(operands, given, made)
    ratios = (tensor_of(made) / tensor_of(given[0])).reshape(-1)
    ratios = ratios[ratios.isfinite()]
    factor = float(f"{float(ratios[0]):.6g}") if ratios.numel() else 0.0
    return operands[0] * factor if torch.allclose(ratios, torch.full_like(ratios, factor)) else None


def _of_one(make: Callable[[Expression, _Shape], Expression]) -> _Rule:
    return lambda operands, _given, made: make(operands[0], made["shape"]) if len(operands) == 1 else None


def _summed(operands: Sequence[Expression], given: Sequence[TensorValue], made: TensorValue) -> Expression | None:
    """Over the dims that are gone, as far as sizes say which."""
    shape, left = given[0]["shape"], made["shape"]
    dims = [dim for dim in range(len(shape)) if [*shape[:dim], *shape[dim + 1 :]] == left]
    if left and len(dims) != 1:
        return None
    return reshape(total(operands[0], dims if left else None), left)


_RULES: Mapping[str, _Rule] = {
    **dict.fromkeys(("mm", "matmul", "bmm", "mv"), _of_two("matmul")),
    **{name: _of_two(name) for name in ("sub", "outer")},
    "mul": _multiplied,
    "t": _of_one(lambda one, _: transpose(one)),
    "neg": _of_one(lambda one, _: -one),
    **dict.fromkeys(("reshape", "view", "squeeze", "unsqueeze", "flatten"), _of_one(reshape)),
    "sum": _summed,
}
