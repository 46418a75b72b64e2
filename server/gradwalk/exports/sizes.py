"""How large a card is, and which groups are open: the page's own rules, from names and shapes alone.

The figures are those of `frontend/src/layout/sizes.ts` and `scene/opening.ts`; `tests/exports` compares the places
that come out with those on a real page.
"""

import math
from typing import NamedTuple

from gradwalk.protocol.graph import Graph, Group, Node
from gradwalk.protocol.values import TensorValue

TITLE_CHARACTER, VALUE_CHARACTER = 8.6, 7.9
NUMBER_CHARACTERS, SEPARATED_NUMBER_CHARACTERS = 6.2, 7.9
PADDING, NARROWEST, NARROWEST_LEAF, WIDEST = 24, 126, 166, 224
TITLE_LINE, VALUE_LINE, FRAME = 24, 22, 18
NUMBERS_WRITTEN_OUT = 3
THUMBNAIL_ROWS, THUMBNAIL_COLUMNS, THUMBNAIL_CELL = 6, 8, 8
CLOSED_GROUP_WIDTH, CLOSED_GROUP_HEIGHT = 196, 64
SMALL_GRAPH_NODES, MOST_BOXES_AT_FIRST = 15, 24


class Size(NamedTuple):
    """Points, which are the page's pixels."""

    width: float
    height: float


def card_size(node: Node) -> Size:
    """The card of one node."""
    value = node["outputs"][0]["value"] if node["outputs"] else None
    is_leaf = node["kind"] == "accumulate_grad"
    name = "leaf" if is_leaf else variable_of(node)
    title = TITLE_CHARACTER * (len(title_of(node)) + (len(name) + 2 if name else 0))
    line = VALUE_CHARACTER * _characters(value) + (40 if is_leaf else 0)
    narrowest = NARROWEST_LEAF if is_leaf else NARROWEST
    width = min(WIDEST, max(narrowest, title + PADDING, line + PADDING))
    return Size(math.ceil(width), TITLE_LINE + 2 * _height(value) + FRAME)


def closed_group_size(group: Group) -> Size:
    """The box of a group whose inside is not shown."""
    width = max(CLOSED_GROUP_WIDTH, len(group["label"]) * TITLE_CHARACTER + 64)
    return Size(min(WIDEST + 40, math.ceil(width)), CLOSED_GROUP_HEIGHT)


def title_of(node: Node) -> str:
    """What stands on top of a card: the leaf's name, else the operation."""
    return node.get("leaf") or node["label"]


def variable_of(node: Node) -> str:
    """The variable that holds a node's value; empty where the program named none."""
    return (node["outputs"][0]["name"] or "") if node["outputs"] else ""


def open_groups(graph: Graph) -> set[str]:
    """All groups of a small graph; of a large one, from the top while it stays readable."""
    if len(graph["nodes"]) <= SMALL_GRAPH_NODES:
        return {group["id"] for group in graph["groups"]}
    children: dict[str | None, list[Group]] = {}
    for group in graph["groups"]:
        children.setdefault(group["parent"], []).append(group)
    opened: set[str] = set()
    closed = children.get(None, [])
    boxes = sum(node["group"] is None for node in graph["nodes"]) + len(closed)
    while closed:
        below = [child for group in closed for child in children.get(group["id"], [])]
        boxes += sum(len(group["nodes"]) for group in closed) + len(below) - len(closed)
        if boxes > MOST_BOXES_AT_FIRST:
            break
        opened |= {group["id"] for group in closed}
        closed = below
    return opened


def _characters(value: TensorValue | None) -> float:
    if value is None:
        return NUMBER_CHARACTERS
    shape = value["shape"]
    count = math.prod(shape)
    if _is_written_out(shape):
        return count * SEPARATED_NUMBER_CHARACTERS if count > 1 else NUMBER_CHARACTERS + 2
    columns = min(shape[-1] if shape else 1, THUMBNAIL_COLUMNS)
    return columns * THUMBNAIL_CELL / VALUE_CHARACTER + len(" x ".join(map(str, shape))) + 3


def _height(value: TensorValue | None) -> float:
    if value is None or _is_written_out(value["shape"]):
        return VALUE_LINE
    columns = value["shape"][-1] if value["shape"] else 1
    rows = math.prod(value["shape"]) // columns if columns else 1
    return max(VALUE_LINE, min(rows, THUMBNAIL_ROWS) * THUMBNAIL_CELL + 6)


def _is_written_out(shape: list[int]) -> bool:
    return len(shape) <= 1 and math.prod(shape) <= NUMBERS_WRITTEN_OUT
