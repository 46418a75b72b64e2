"""The three stages on steps of real traces: what a person reads must be true and must parse."""

import json
import re
from typing import Any

import pytest
import torch

from gradwalk.formulas.registry import ENTRIES
from gradwalk.formulas.substitute import substitutions
from gradwalk.protocol.events import Substitution
from tests.formulas.live_nodes import Visit, operators, run_backward, sample_visits
from tests.formulas.test_entries import tensor, unparsable


def as_value(value: torch.Tensor) -> dict[str, Any]:
    """A tensor as the protocol tells it, without limits."""
    dense = value if value.layout == torch.strided else value.to_dense()
    data = [
        [number.real, number.imag]
        if isinstance(number, complex)
        else json.loads(json.dumps(number), parse_constant=str)
        for number in dense.flatten().tolist()
    ]
    return {"shape": list(value.shape), "dtype": str(value.dtype).removeprefix("torch."), "data": data}


def as_gradient(value: torch.Tensor | None) -> Any:
    return {"missing": "undefined"} if value is None else as_value(value)


def stages(visit: Visit) -> list[Substitution]:
    saved = [
        {"name": name, "value": as_value(value) if isinstance(value, torch.Tensor) else value}
        for name, value in visit.saved.items()
        if not isinstance(value, (tuple, list))
    ]
    operands = [{"argnum": i, "name": "", "value": None} for i in range(len(visit.grad_inputs))]
    node: Any = {"name": visit.node_name, "inputs": operands, "outputs": [], "saved": saved}
    return substitutions(node, list(map(as_gradient, visit.grad_outputs)), list(map(as_gradient, visit.grad_inputs)))


def stages_of(output: torch.Tensor, v: float = 1.0) -> list[tuple[int, str, str, str]]:
    """The stages of the last operation."""
    last = run_backward([output], fill=v)[0]
    return [(stage["argnum"], stage["symbols"], stage["with_v"], stage["with_numbers"]) for stage in stages(last)]


def scalar(value: float) -> torch.Tensor:
    return torch.tensor(value, requires_grad=True)


def test_a_product_of_two_numbers() -> None:
    assert stages_of(scalar(2.0) * scalar(3.0), v=10) == [
        (0, r"v \odot y", r"10 \cdot y", r"10 \cdot 3 = 30"),
        (1, r"v \odot x", r"10 \cdot x", r"10 \cdot 2 = 20"),
    ]


def test_signs_get_parentheses_and_powers_keep_their_base() -> None:
    assert stages_of(scalar(-2.0) ** 3, v=-1) == [
        (0, r"v \odot p x^{p - 1}", r"-1 \cdot p x^{p - 1}", r"-1 \cdot 3 \cdot (-2)^{3 - 1} = -12")
    ]


def test_a_factor_of_one_is_not_written() -> None:
    assert stages_of(scalar(2.0) + scalar(3.0), v=5) == [(0, "v", "5", "5"), (1, "v", "5", "5")]
    [_, other] = stages_of(torch.add(scalar(2.0), scalar(3.0), alpha=4), v=5)
    assert other == (1, r"\alpha v", r"\alpha \cdot 5", r"4 \cdot 5 = 20")


def test_rounded_numbers_say_so() -> None:
    [(_, _, _, with_numbers)] = stages_of(scalar(2.0).sin())
    assert with_numbers == r"1 \cdot \cos 2 \approx -0.4161"


def test_an_average_counts() -> None:
    [(_, symbols, _, with_numbers)] = stages_of(tensor(1, 2, 3, 5).mean(), v=8)
    assert symbols == r"\tfrac{1}{n} v \cdot \mathbf{1}"
    assert with_numbers == (r"\tfrac{1}{4} \cdot 8 \cdot \mathbf{1} = \begin{bmatrix} 2 \\ 2 \\ 2 \\ 2 \end{bmatrix}")


def test_broadcasting_shows_its_sum() -> None:
    [(_, symbols, _, with_numbers)] = stages_of(scalar(2.0) * torch.tensor([1.0, 4.0]))
    assert symbols == r"\textstyle\sum \left(v \odot y\right)"
    product = r"\begin{bmatrix} 1 \\ 1 \end{bmatrix} \odot \begin{bmatrix} 1 \\ 4 \end{bmatrix}"
    assert with_numbers == rf"\textstyle\sum \left({product}\right) = 5"


def test_what_is_large_keeps_its_symbol() -> None:
    x = torch.arange(100.0, requires_grad=True)
    assert stages_of(x * 2) == []
    [(_, _, with_v, with_numbers)] = stages_of(x.detach().norm() * scalar(2.0), v=2)
    assert with_v == r"2 \cdot x"
    assert with_numbers.startswith(r"2 \cdot 573")


def test_all_stages_in_the_operator_database_parse() -> None:
    written = set()
    covered = {name for entry in ENTRIES for name in entry.nodes}
    for op in operators():
        for visit in sample_visits(op, limit=3):
            if visit.node_name in covered:
                for stage in stages(visit):
                    written |= {stage["symbols"], stage["with_v"], stage["with_numbers"]}
    assert len(written) > 500
    assert unparsable(sorted(written)) == []
    beside = re.compile(r"(?<![\d.^{_])\d+\.?\d* +\d")
    assert [latex for latex in written if beside.search(latex)] == []


@pytest.mark.parametrize("missing", [{"missing": "undefined"}, {"missing": "not_required"}])
def test_a_missing_gradient_has_no_numbers(missing: Any) -> None:
    node: Any = {"name": "MulBackward0", "inputs": [], "outputs": [], "saved": []}
    assert substitutions(node, [missing], [missing, missing]) == []
