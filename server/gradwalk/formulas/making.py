"""What a move makes of its tables, cell by cell, and which tables are small enough to be followed so."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import get_args

import torch
from torch import Tensor

from gradwalk.protocol.moves import Move, Verb

LONGEST: Mapping[Verb, int] = {**dict.fromkeys(get_args(Verb), 12), "meet": 32}
"""Rows or columns of a table that is written out: where rows meet columns one pair is followed at a time, else all cells."""
MOST_ROWS = 32
"""Of a batch of matrices."""
MOST_TERMS = 32**3

Shape = tuple[int, ...]


class NoMoves(Exception):
    """The vjp is no short list of moves."""


def is_writable(shape: Sequence[int], longest: int = LONGEST["travel"]) -> bool:
    """Whether a tensor can be written out, its matrices one below the other."""
    return all(0 < size <= longest for size in shape[-2:]) and 0 < math.prod(shape[:-1]) <= MOST_ROWS


_AXIS = re.compile(r"\(([^)]*)\)|([a-z])")
_TERM = re.compile(r"([+-]?\d*)([a-z]?)")


def make(move: Move, tensors: Sequence[Tensor], shape: Shape) -> Tensor:
    """What a move makes of its tables, cell by cell."""
    first = tensors[0].reshape(-1)
    made = first.new_zeros(math.prod(shape))
    if "source" in move:
        source = torch.tensor(move["source"])
        return torch.where(source < 0, 0, first[source.clamp(min=0)]).reshape(shape)
    if "goal" in move:
        goal = torch.tensor(move["goal"])
        return made.index_add(0, goal[goal >= 0], first[goal >= 0]).reshape(shape)
    tables, result = move["axes"].split("->")
    axes = [_AXIS.findall(one) for one in (*tables.split(","), result)]
    shapes = [*(tuple(one.shape) for one in tensors), shape]
    sizes: dict[str, int] = {}
    for indices, dims in zip(axes, shapes, strict=True):
        for (_, letter), size in zip(indices, dims, strict=True):
            if letter:
                sizes[letter] = max(size, sizes.get(letter, 1))
    if math.prod(sizes.values()) > MOST_TERMS:
        raise NoMoves
    nothing = torch.zeros([*sizes.values()], dtype=torch.long)
    grids = {
        letter: nothing + torch.arange(size).reshape([-1 if one == letter else 1 for one in sizes])
        for letter, size in sizes.items()
    }
    places = [_places(indices, dims, grids, nothing) for indices, dims in zip(axes, shapes, strict=True)]
    if move["verb"] == "subtract":
        less = first[places[0]] - tensors[1].reshape(-1)[places[1]]
        return made.index_copy(0, places[2].reshape(-1), less.reshape(-1)).reshape(shape)
    inside = torch.stack([one >= 0 for one in places]).all(0)
    product = torch.ones_like(nothing[inside], dtype=first.dtype)
    for tensor, place in zip(tensors, places, strict=False):
        product = product * tensor.reshape(-1)[place[inside]]
    return made.index_add(0, places[-1][inside], product).reshape(shape)


def _places(indices: Sequence[tuple[str, str]], dims: Shape, grids: Mapping[str, Tensor], nothing: Tensor) -> Tensor:
    """For each place of the letters the flat place in a table, -1 where it is outside."""
    flat, outside = nothing, nothing < 0
    for (window, letter), size in zip(indices, dims, strict=True):
        index = nothing
        if window:
            for factor, name in _TERM.findall(window):
                if factor or name:
                    whole = int(factor) if factor.strip("+-") else -1 if factor == "-" else 1
                    index = index + whole * (grids[name] if name else 1)
        elif size > 1:
            index = grids[letter]
        outside = outside | (index < 0) | (index >= size)
        flat = flat * size + index
    return torch.where(outside, -1, flat)
