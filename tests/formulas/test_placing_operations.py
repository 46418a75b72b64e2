"""Operations that torch has no function for, against what torch itself sends back through the op they belong to."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from gradwalk.formulas.expression import Symbol, apply, evaluate, zeros
from gradwalk.formulas.letters import Letters
from gradwalk.formulas.placing_operations import Place
from gradwalk.formulas.writing import write

F64 = torch.float64
REPEATED = torch.tensor([0, 2, -1])
MASK = torch.tensor([True, False, True])
EVERY_OTHER = Place((slice(None), slice(None, None, 2)))


def run(operation: str, *arguments: Tensor, **options: Any) -> Tensor:
    values = {f"a{position}": argument for position, argument in enumerate(arguments)}
    symbols = [Symbol(name, tuple(value.shape)) for name, value in values.items()]
    result: Tensor = evaluate(apply(operation, *symbols, **options), values)
    return result


BACKWARD: dict[str, tuple[Callable[[Tensor], Tensor], tuple[int, ...], tuple[Tensor, ...], dict[str, Any]]] = {
    "into_zeros": (lambda x: x[:, 2], (3, 4), (), {"at": Place((slice(None), 2))}),
    "into_zeros in steps": (lambda x: x[:, ::2], (3, 4), (), {"at": EVERY_OTHER}),
    "added_at": (lambda x: x[REPEATED], (3, 4), (REPEATED,), {"dims": (0,)}),
    "added_at in two dims": (lambda x: x[REPEATED, REPEATED], (3, 4), (REPEATED, REPEATED), {"dims": (0, 1)}),
    "added_at beside a dim": (lambda x: x[:, REPEATED], (2, 3), (REPEATED,), {"dims": (1,)}),
    "added_at around a dim": (
        lambda x: x[REPEATED, :, REPEATED],
        (3, 2, 3),
        (REPEATED, REPEATED),
        {"dims": (0, 2)},
    ),
    "added_at by a mask": (lambda x: x[:, MASK], (2, 3, 4), (MASK,), {"dims": (1,)}),
    "windows_transposed": (
        lambda x: x.unfold(0, 3, 2),
        (7, 2),
        (),
        {"dimension": 0, "size": 3, "step": 2},
    ),
    "pad_transposed by mirroring": (
        lambda x: functional.pad(x, (1, 2, 2, 0), "reflect"),
        (2, 3, 4),
        (),
        {"pad": (1, 2, 2, 0), "mode": "reflect"},
    ),
    "pad_transposed by repeating": (
        lambda x: functional.pad(x, (3, 1), "replicate"),
        (2, 3),
        (),
        {"pad": (3, 1), "mode": "replicate"},
    ),
}


@pytest.mark.parametrize("name", BACKWARD)
def test_what_goes_back_is_the_vjp_of_what_went_forward(name: str) -> None:
    function, shape, indices, options = BACKWARD[name]
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=F64)
    output, back = torch.func.vjp(function, x)
    v = torch.randn_like(output)
    assert torch.equal(run(name.partition(" ")[0], v, *indices, **options, shape=shape), back(v)[0])


def test_what_was_overwritten_gets_zeros() -> None:
    v = torch.randn(3, 4, dtype=F64)
    assert torch.equal(run("with_zeros", v, at=EVERY_OTHER), v * torch.tensor([0, 1, 0, 1]))
    assert torch.equal(run("part", v, at=EVERY_OTHER), v[:, ::2])
    assert torch.equal(run("zeroed_at", v, MASK, dims=(0,)), v * ~MASK[:, None])
    assert torch.equal(run("taken_at", v, REPEATED, dims=(1,)), v[:, REPEATED])
    assert torch.equal(
        run("padded_to", v[0, :3], shape=(2, 2)), torch.tensor([*v[0, :3].tolist(), 0], dtype=F64).reshape(2, 2)
    )


def test_blocks_make_one_matrix() -> None:
    a, b, c, d = torch.arange(4.0)[:, None, None].expand(4, 1, 1)
    assert run("blocks", a, b, c, d).tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("place", "written"),
    [
        (Place((slice(None), 2)), "[:, 2]"),
        (Place((slice(1, None, 2), -1)), "[1::2, -1]"),
        (Place((slice(None, 3),)), "[:3]"),
    ],
)
def test_a_place_is_written_as_python_reads_it(place: Place, written: str) -> None:
    assert str(place) == written
    expression = apply("into_zeros", zeros((2,)), at=place, shape=(3, 4))
    assert (
        write(expression, "text", Letters().spell("text")) == f'into_zeros(zeros((2,)), at="{written}", shape=(3, 4))'
    )
