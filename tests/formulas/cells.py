"""Reads moves, every cell by its indices, by what the page of the trace format says of them."""

import math
import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from gradwalk.protocol.moves import Move, MoveSource

Table = tuple[list[float], list[int]]
"""Cells row by row, and a shape."""


def read(found: Sequence[Move], named: Callable[[str], Table], shape: list[int]) -> list[float]:
    """The cells that the last move makes; `named` gives operands and saved tensors, and v as `v0`, `v1`, ..."""
    made: list[Table] = []
    for move in found:
        tables = [_table(source, made, named) for source in move["of"]]
        whole = move.get("shape") or (move["value"]["shape"] if "value" in move else shape)
        made.append((_cells(move, tables, whole), whole))
        if "value" in move:
            assert move["value"]["data"] == pytest.approx(made[-1][0], rel=1e-5, abs=1e-6, nan_ok=True)
    return made[-1][0]


def _table(source: MoveSource, made: Sequence[Table], named: Callable[[str], Table]) -> Table:
    if "move" in source:
        cells, shape = made[source["move"]]
    elif "value" in source:
        cells, shape = [float(cell) for cell in source["value"]["data"]], source["value"]["shape"]
    else:
        cells, shape = named(source["operand"] if "operand" in source else f"v{source['grad_output']}")
    return cells, source.get("shape", shape)


def _cells(move: Move, tables: Sequence[Table], shape: Sequence[int]) -> list[float]:
    result = np.zeros(math.prod(shape))
    first = tables[0][0]
    if "source" in move:
        return [0.0 if place < 0 else first[place] for place in move["source"]]
    if "goal" in move:
        np.add.at(result, move["goal"], first)
        return result.tolist()
    *given, made = re.split(",|->", move["axes"])
    axes = [re.findall(r"\([^)]*\)|[a-z]", one) for one in (*given, made)]
    shapes = [*(table[1] for table in tables), shape]
    sizes: dict[str, int] = {}
    for indices, dims in zip(axes, shapes, strict=True):
        for index, size in zip(indices, dims, strict=True):
            if len(index) == 1:
                sizes[index] = max(size, sizes.get(index, 1))
    count = math.prod(sizes.values())
    places = np.array([*np.ndindex(*sizes.values())], int).reshape(count, len(sizes)).T
    at, inside, flats = dict(zip(sizes, places, strict=True)), np.full(count, True), []
    for indices, dims in zip(axes, shapes, strict=True):
        flat = np.zeros(count, int)
        for index, size in zip(indices, dims, strict=True):
            place = eval(re.sub(r"(\d)([a-z])", r"\1*\2", index), {}, at) * (len(index) > 1 or size > 1)
            inside &= (place >= 0) & (place < size)
            flat = flat * size + place
        flats.append(flat)
    numbers = [np.array(table[0])[flat[inside]] for table, flat in zip(tables, flats, strict=False)]
    made_at = numbers[0] - numbers[1] if move["verb"] == "subtract" else math.prod(numbers)
    np.add.at(result, flats[-1][inside], made_at)
    return result.tolist()
