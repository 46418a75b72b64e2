"""What torch's own derivatives.yaml says about a node: its operands, its outputs, its formulas.

The table is data derived from the wheel at development time (`derive.py`). It is keyed by node name
(`MulBackward0`); the digit is the overload's place, so every name has exactly one schema. Nodes that
autograd makes outside that table (AccumulateGrad, CopySlices, custom Functions) have no entry.
"""

import json
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

TABLE_PATH = Path(__file__).with_name("derivatives.json")

_OUTSIDE_THE_TABLE = {
    # No nodes: a call of several is read as one.
    **{f"CrossEntropyBackward{at}": ("self",) for at in range(5)},
    "CrossEntropyBackward5": ("self", "target"),
    "CrossEntropyBackward6": ("self", "target"),
    "CrossEntropyBackward7": ("self", "target", "weight"),
    **{f"EinsumBackward{more}": tuple(f"operands[{at}]" for at in range(more + 1)) for more in range(4)},
    "AccumulateGrad": ("variable",),
    "CopySlices": ("base", "source"),
    "CopyBackwards": ("self", "src"),
    "torch::autograd::CopyBackwards": ("self", "src"),
    "torch::autograd::CopySlices": ("base", "source"),
}


@dataclass(frozen=True, slots=True)
class DerivativeEntry:
    """One node name of derivatives.yaml."""

    node_name: str
    op: str
    """The op without its overload: `mul`."""
    schema: str
    """The whole schema, `mul.Tensor(Tensor self, Tensor other) -> Tensor`."""
    operands: tuple[str, ...]
    """Differentiable arguments in the order of `next_functions`; a name in `lists` stands for several."""
    lists: tuple[str, ...]
    """The operands that are lists of tensors and expand to one slot per member."""
    outputs: tuple[str, ...]
    """Differentiable returns in the order of `grad_output` slots. A node may have fewer slots at run time."""
    lines: tuple[str, ...]
    """`self: grad * other`, one per formula of the table; a formula may serve several operands."""

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Type and name of what the op takes by position, in order: `("Tensor", "condition")`."""
        listed = self.schema.partition("(")[2].rpartition(") ->")[0]
        pairs = [parameter.split("=")[0].rpartition(" ") for parameter in listed.split(", ")]
        by_position = pairs[: next((at for at, pair in enumerate(pairs) if pair[2] == "*"), len(pairs))]
        return tuple((kind, unmistakable(name)) for kind, _, name in by_position)


def unmistakable(name: str) -> str:
    """An operand's or saved value's name; `v` is grad_output in formulas, so the operands of weight norm are called as
    in `torch.nn.utils.weight_norm`.
    """
    return {"v": "weight_v", "g": "weight_g"}.get(name, name)


@cache
def _records() -> dict[str, dict[str, str | list[str]]]:
    records: dict[str, dict[str, str | list[str]]] = json.loads(TABLE_PATH.read_text(encoding="utf-8"))["nodes"]
    return records


def node_names() -> tuple[str, ...]:
    """Every node name of the table, sorted."""
    return tuple(_records())


@lru_cache(maxsize=1_024)
def derivative_line(node_name: str) -> DerivativeEntry | None:
    """The table's entry for a node, None where the table does not know it."""
    record = _records().get(node_name)
    if record is None:
        return None
    return DerivativeEntry(
        node_name=node_name,
        op=str(record["op"]),
        schema=str(record["schema"]),
        operands=tuple(map(unmistakable, record["operands"])),
        lists=tuple(record.get("lists", ())),
        outputs=tuple(record["outputs"]),
        lines=tuple(record["lines"]),
    )


@lru_cache(maxsize=4_096)
def operand_names(node_name: str, count: int) -> tuple[str, ...]:
    """Names for the `count` slots of a node's `next_functions`, in their order.

    A tensor list expands to `tensors[0]`, `tensors[1]`, ... Slots that nothing names are `input0`,
    `input1`, ... by position, so the answer always has `count` names.
    """
    entry = derivative_line(node_name)
    if entry is None:
        known = _OUTSIDE_THE_TABLE.get(node_name, ())
        return known if len(known) == count else _positional(count)
    if not entry.lists:
        return entry.operands if len(entry.operands) == count else _positional(count)
    members, rest = divmod(count - (len(entry.operands) - len(entry.lists)), len(entry.lists))
    if rest or members < 0:
        # Lists of different lengths: which slot belongs to which list is not known.
        return _positional(count)
    return tuple(
        name
        for operand in entry.operands
        for name in ([f"{operand}[{i}]" for i in range(members)] if operand in entry.lists else [operand])
    )


def _positional(count: int) -> tuple[str, ...]:
    return tuple(f"input{position}" for position in range(count))
