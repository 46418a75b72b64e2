"""The moves of the operator database and of small programs, read cell by cell."""

import math
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from gradwalk.formulas.check import out_of_sight
from gradwalk.formulas.making import MOST_ROWS
from gradwalk.formulas.moves import moves
from gradwalk.protocol.moves import Move
from gradwalk.tracer.snapshot import snapshot
from tests.formulas.cells import read
from tests.formulas.live_nodes import Met, Visit, run_backward
from tests.formulas.printed import Printed, printed


def moves_of(one: Printed) -> list[Move] | None:
    """The moves of an operand's vjp as the tracer asks for them."""
    with out_of_sight():
        found = moves(
            one.line.argnum,
            one.line.expression,
            one.values,
            one.returned,
            one.letters,
            lambda tensor: snapshot(tensor, 10_000),
        )
    return found and found["moves"]


def read_back(found: list[Move], one: Printed) -> list[float]:
    """What a reader who knows what the node was given and kept makes of the moves."""

    def named(name: str) -> tuple[list[float], list[int]]:
        value = one.values[name if name in one.values else "v"]
        return value.reshape(-1).tolist(), [*value.shape]

    return read(found, named, [*one.returned.shape])


def small(visits: dict[str, list[Met]]) -> Iterator[Printed]:
    """The first vjps of each node type whose moves are read here."""
    for met in visits.values():
        for _, visit in met[:6]:
            yield from (one for one in printed(visit) if one.is_telling and one.returned.numel() <= 100)


def test_the_moves_alone_make_what_the_engine_returned_in_tables_that_can_be_seen(visits: dict[str, list[Met]]) -> None:
    verbs = Counter[str]()
    for one in small(visits):
        found = moves_of(one)
        if found is None:
            continue
        verbs.update(move["verb"] for move in found)
        cells = torch.tensor(read_back(found, one), dtype=torch.float64)
        assert one.is_right(cells.reshape(one.returned.shape).to(one.returned.dtype)), (one.node_name, found)
        for move in found:
            shapes = [source["value"]["shape"] for source in move["of"] if "value" in source]
            shapes += [[*one.values[source["operand"]].shape] for source in move["of"] if "operand" in source]
            shapes += [] if "value" in move else [[*one.returned.shape]]
            for shape in shapes:
                assert max([1, *shape[-2:]]) <= (32 if move["verb"] == "meet" else 12)
                assert math.prod(shape[:-1]) <= MOST_ROWS
    assert verbs.keys() == {"scale", "meet", "fold", "deal", "travel", "slide", "win", "subtract"}
    assert verbs.total() > 500


def leaf(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64).requires_grad_()


# The program, and by operand the moves of its vjp.
PROGRAMS: dict[str, tuple[Callable[[], Tensor], str]] = {
    "a table may have 32 columns": (lambda: leaf(4, 32) @ leaf(32, 2), "meet ik,jk->ij mat2 | meet kj,ki->ij self"),
    "and no more": (lambda: leaf(4, 33) @ leaf(33, 2), " | "),
    "softmax: v meets s, is subtracted and scaled": (
        lambda: leaf(3).softmax(0),
        "meet i,i->j result, subtract i,i->i 0, scale i,i->i result",
    ),
    "a window slides": (
        lambda: functional.conv1d(leaf(1, 1, 4), leaf(1, 1, 2), stride=2, padding=1),
        "slide noz,ock->nc(2z+k-1) weight | slide cok,cn(z+2k-1)->onz input",
    ),
    "a window slides in its group of channels": (
        lambda: functional.conv1d(leaf(1, 4, 4), leaf(2, 2, 2), groups=2),
        "slide ngoz,gock->ngc(z+k) weight | slide cgok,ngc(z+k)->ngoz None, travel ijk->jik",
    ),
    "layer norm: scaled, then less its mean and what goes along with the normalised": (
        lambda: functional.layer_norm(leaf(2, 3), (3,), leaf(3), leaf(3)),
        "scale ij,ij->ij None, fold ij,->ik None, subtract ij,ij->ij 1, meet ij,ij->ik None, scale ij,ij->ij None, "
        "subtract ij,ij->ij 4 | meet ij,ij->j None | fold ij->j",
    ),
    "a running sum meets a triangle of ones": (lambda: leaf(4).cumsum(0), "meet a,az->z None"),
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
    assert " | ".join(", ".join(map(written, some)) for some in found) == expected


def test_cross_entropy_is_a_number_times_the_class_minus_the_shares(visits: dict[str, list[Met]]) -> None:
    logits = leaf(2, 3)
    (_, step) = run_backward([functional.cross_entropy(logits, torch.tensor([0, 2]))], fill=1)
    (total, last) = moves_of(next(printed(step))) or []
    assert [written(total), written(last)] == ["fold ij->ik", "scale ij,ij->ij None"]
    assert total["value"]["data"] == [-0.5, -0.5]
    expected = torch.eye(3, dtype=torch.float64)[[0, 2]] - logits.detach().softmax(1)
    assert last["of"][1]["value"]["data"] == pytest.approx(expected.reshape(-1).tolist())


def test_nothing_is_told_of_a_wrong_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that leaves a cell out."""
    visit: Visit = run_backward([leaf(2, 3) @ leaf(3, 4)])[0]
    (one, _) = printed(visit)
    assert moves_of(one) is not None
    one.returned[0, 0] += 1
    assert moves_of(one) is None
