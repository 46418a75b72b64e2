"""The derivative that a sentence states: v times it, entry by entry, is what the engine returned."""

import pytest
import torch
from torch import Tensor

from gradwalk.formulas.expression import symbols_of
from gradwalk.formulas.factors import factor_of
from gradwalk.formulas.letters import is_seed
from gradwalk.formulas.writing import write
from tests.formulas.live_nodes import Met, Visit
from tests.formulas.printed import Printed, agree, printed
from tests.formulas.reading import read_text


def stated(visit: Visit) -> list[tuple[Printed, Tensor, str]]:
    """Formulas with a derivative, v, and the derivative's text."""
    [*others, v] = [one for one in visit.grad_outputs if one is not None] or [None]
    if others or v is None or v.layout != torch.strided:
        return []
    found = []
    for one in printed(visit):
        factor = factor_of(one.line.expression)
        if factor is not None and one.returned.shape == v.shape:
            assert not any(map(is_seed, symbols_of(factor)))
            found.append((one, v, write(factor, "text", one.letters.spell("text"))))
    return found


@pytest.mark.parametrize("most", [20, pytest.param(None, marks=pytest.mark.sweep)], ids=str)
def test_v_times_the_derivative_is_what_the_engine_returned(most: int | None, visits: dict[str, list[Met]]) -> None:
    for met in visits.values():
        for where, visit in met[:: 1 if most is None else -(-len(met) // most)]:
            for one, v, text in stated(visit):
                value = torch.as_tensor(read_text(text, one.named("text")))
                # 0 times infinity is what the engine avoids by choosing a case first.
                product = torch.where(v.isfinite() & (v != 0), v * value.to(v.dtype), one.returned)
                assert agree(product, one.returned, 1e-7), f"{where}: {text}"


@pytest.mark.parametrize(
    ("node_name", "texts"),
    [
        ("SinBackward0", {"cos(a)"}),
        ("NegBackward0", {"-1"}),
        ("ExpBackward0", {"r"}),
        ("MulBackward0", {"a", "b"}),
        ("ReluBackward0", {"where(r > 0, 1, 0)"}),
        ("SoftmaxBackward0", set()),
        ("MmBackward0", set()),
    ],
)
def test_it_is_written_as_people_write_it(node_name: str, texts: set[str], visits: dict[str, list[Met]]) -> None:
    assert {text for _, visit in visits[node_name] for _, _, text in stated(visit)} == texts
