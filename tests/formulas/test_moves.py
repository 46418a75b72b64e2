"""The moves of the operator database and of small programs, read cell by cell in plain Python."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from gradwalk.formulas.check import out_of_sight
from gradwalk.formulas.moves import LONGEST_SIDE, MOST_ROWS, moves
from gradwalk.protocol.moves import Move, MoveSource
from gradwalk.tracer.snapshot import snapshot
from tests.formulas.live_nodes import Met, Visit, run_backward
from tests.formulas.printed import Printed, printed

Table = tuple[list[float], list[int]]
"""Cells row by row, and a shape."""


def moves_of(one: Printed) -> list[Move] | None:
    """The moves of an operand's vjp as the tracer asks for them."""
    with out_of_sight():
        found = moves(one.line, one.values, one.returned, one.letters, lambda tensor: snapshot(tensor, 10_000))
    return found and found["moves"]


def read(found: Sequence[Move], one: Printed) -> list[float]:
    """What a reader who knows the format's page alone, and what the node was given and kept, makes of the moves."""
    made: list[Table] = []
    for move in found:
        tables = [_table(source, made, one.values) for source in move["of"]]
        shape = move.get("shape") or (move["value"]["shape"] if "value" in move else [*one.returned.shape])
        made.append((_cells(move, tables, shape), shape))
        if "value" in move:
            assert move["value"]["data"] == pytest.approx(made[-1][0], rel=1e-6, abs=1e-9, nan_ok=True)
    return made[-1][0]


def _table(source: MoveSource, made: Sequence[Table], values: Mapping[str, Tensor]) -> Table:
    if "move" in source:
        cells, shape = made[source["move"]]
    elif "value" in source:
        cells, shape = [float(cell) for cell in source["value"]["data"]], source["value"]["shape"]
    else:
        seeds = [name for name in values if re.fullmatch(r"v\d*", name)]
        name = source.get("operand") or next(one for one in seeds if int(one[1:] or 0) == source["grad_output"])
        cells, shape = values[name].reshape(-1).tolist(), [*values[name].shape]
    return cells, source.get("shape", shape)


def _cells(move: Move, tables: Sequence[Table], shape: Sequence[int]) -> list[float]:
    result = [0.0] * math.prod(shape)
    first = tables[0][0]
    if "source" in move:
        factors = tables[1][0] if len(tables) > 1 else [1.0] * len(result)
        return [0.0 if place < 0 else first[place] * factors[at] for at, place in enumerate(move["source"])]
    if "goal" in move:
        for cell, place in zip(first, move["goal"], strict=True):
            result[place] += cell
        return result
    *given, made = re.split(",|->", move["axes"])
    axes = [re.findall(r"\([^)]*\)|[a-z]", one) for one in (*given, made)]
    shapes = [*(table[1] for table in tables), shape]
    sizes: dict[str, int] = {}
    for indices, dims in zip(axes, shapes, strict=True):
        for index, size in zip(indices, dims, strict=True):
            if len(index) == 1:
                sizes[index] = max(size, sizes.get(index, 1))
    for places in itertools.product(*map(range, sizes.values())):
        at = dict(zip(sizes, places, strict=True))
        flats = [_flat(indices, dims, at) for indices, dims in zip(axes, shapes, strict=True)]
        if None in flats:
            continue
        numbers = [table[0][flat] for table, flat in zip(tables, flats, strict=False)]
        if move["verb"] == "subtract":
            result[flats[-1]] = numbers[0] - numbers[1]
        else:
            result[flats[-1]] += math.prod(numbers)
    return result


def _flat(indices: Sequence[str], dims: Sequence[int], at: Mapping[str, int]) -> Any:
    flat = 0
    for index, size in zip(indices, dims, strict=True):
        place = eval(re.sub(r"(\d)([a-z])", r"\1*\2", index), {}, dict(at)) if len(index) > 1 else at[index]
        place = 0 if len(index) == 1 and size == 1 else place
        if not 0 <= place < size:
            return None
        flat = flat * size + place
    return flat


def small(visits: dict[str, list[Met]]) -> Iterator[Printed]:
    """The first vjps of each node type whose moves are read here: loops in Python take their time."""
    for met in visits.values():
        for _, visit in met[:6]:
            yield from (one for one in printed(visit) if one.is_telling and one.returned.numel() <= 100)


def test_the_moves_alone_make_what_the_engine_returned(visits: dict[str, list[Met]]) -> None:
    verbs = Counter[str]()
    for one in small(visits):
        found = moves_of(one)
        if found is None:
            continue
        verbs.update(move["verb"] for move in found)
        cells = torch.tensor(read(found, one), dtype=torch.float64)
        assert one.is_right(cells.reshape(one.returned.shape).to(one.returned.dtype)), (one.node_name, found)
    assert verbs.keys() == {"scale", "meet", "fold", "deal", "travel", "slide", "win", "subtract"}
    assert verbs.total() > 500


def test_every_table_can_be_seen_whole(visits: dict[str, list[Met]]) -> None:
    for one in small(visits):
        for move in moves_of(one) or []:
            shapes = [source["value"]["shape"] for source in move["of"] if "value" in source]
            shapes += [[*one.values[source["operand"]].shape] for source in move["of"] if "operand" in source]
            for shape in [*shapes, [*one.returned.shape]]:
                assert max([1, *shape[-2:]]) <= LONGEST_SIDE
                assert math.prod(shape[:-1]) <= MOST_ROWS


def leaf(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64).requires_grad_()


PROGRAMS: dict[str, tuple[Callable[[], Tensor], list[list[str]]]] = {
    "rows meet rows, and columns columns": (
        lambda: leaf(2, 3) @ leaf(3, 4),
        [["meet ik,jk->ij mat2"], ["meet kj,ki->ij self"]],
    ),
    "a batch keeps its first letter": (
        lambda: torch.bmm(leaf(2, 2, 3), leaf(2, 3, 2)),
        [["meet aik,ajk->aij mat2"], ["meet akj,aki->aij self"]],
    ),
    "one number is dealt out": (lambda: leaf(2, 3).sum(), [["deal ->ij"]]),
    "copies fold": (lambda: leaf(2, 3).detach() + leaf(3), [["fold ij->j"]]),
    "a factor for each": (lambda: leaf(2, 3) * leaf(2, 3).detach(), [["scale ij,ij->ij other"]]),
    "softmax: v meets s, is subtracted and scaled": (
        lambda: leaf(3).softmax(0),
        [["meet i,i->j result", "subtract i,i->i 0", "scale i,i->i result"]],
    ),
    "the winner takes it": (lambda: functional.max_pool2d(leaf(1, 1, 4, 4), 2), [["win"]]),
    "a window slides": (
        lambda: functional.conv1d(leaf(1, 1, 4), leaf(1, 1, 2), stride=2, padding=1),
        [["slide noz,ock->nc(2z+k-1) weight"], ["slide cok,cn(z+2k-1)->onz input"]],
    ),
    "rows of a table that were read twice add up": (
        lambda: functional.embedding(torch.tensor([1, 1, 0]), leaf(3, 2)),
        [["fold"]],
    ),
    "turned": (lambda: leaf(2, 3).T, [["travel ij->ji"]]),
}


def written(move: Move) -> str:
    others = [str(source.get("operand", source.get("move"))) for source in move["of"][1:]]
    return " ".join([move["verb"], *([move["axes"]] if "axes" in move else []), *others])


@pytest.mark.parametrize("name", PROGRAMS)
def test_moves_are_those_that_a_person_makes(name: str) -> None:
    program, expected = PROGRAMS[name]
    torch.manual_seed(0)
    visit = run_backward([program()])[0]
    found = [moves_of(one) or [] for one in printed(visit)]
    assert [[written(move) for move in some] for some in found] == expected


def test_cross_entropy_deals_v_to_the_class_and_to_all_that_share(visits: dict[str, list[Met]]) -> None:
    logits = leaf(2, 3)
    (_, step) = run_backward([functional.cross_entropy(logits, torch.tensor([0, 2]))], fill=1)
    (found,) = moves_of(next(printed(step))) or []
    assert (found["verb"], found["source"]) == ("deal", [0, 0, 0, 5, 5, 5])
    expected = torch.eye(3, dtype=torch.float64)[[0, 2]] - logits.detach().softmax(1)
    assert found["of"][1]["value"]["data"] == pytest.approx(expected.reshape(-1).tolist())


def test_nothing_is_told_of_a_wrong_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that leaves a cell out."""
    visit: Visit = run_backward([leaf(2, 3) @ leaf(3, 4)])[0]
    (one, _) = printed(visit)
    assert moves_of(one) is not None
    one.returned[0, 0] += 1
    assert moves_of(one) is None
