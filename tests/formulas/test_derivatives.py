"""The table against its source, the wheel's derivatives.yaml, and against live nodes."""

import json

import pytest
import torch

from gradwalk.formulas.derivatives import TABLE_PATH, operand_names
from gradwalk.formulas.derive import derive_table, render_table


@pytest.mark.soak
def test_table_equals_a_fresh_derivation() -> None:
    """Red after a torch upgrade: run `python -m gradwalk.formulas.derive` and read the diff."""
    assert TABLE_PATH.read_text(encoding="utf-8") == render_table(derive_table())


def test_table_is_for_the_installed_torch() -> None:
    table = json.loads(TABLE_PATH.read_text(encoding="utf-8"))
    assert table["torch"] == torch.__version__.partition("+")[0]


@pytest.mark.parametrize(
    ("node_name", "count", "expected"),
    [
        ("MulBackward0", 2, ("self", "other")),
        ("CatBackward0", 3, ("tensors[0]", "tensors[1]", "tensors[2]")),
        ("CatBackward0", 0, ()),
        ("AddmmBackward0", 3, ("self", "mat1", "mat2")),
        ("MyFunctionBackward", 2, ("input0", "input1")),
        ("MulBackward0", 3, ("input0", "input1", "input2")),
        ("CopySlices", 2, ("base", "source")),
        ("AccumulateGrad", 0, ()),
    ],
)
def test_operand_names(node_name: str, count: int, expected: tuple[str, ...]) -> None:
    assert operand_names(node_name, count) == expected


def test_operands_line_up_with_next_functions() -> None:
    a, b, c = (torch.ones(2, 2, requires_grad=True) for _ in range(3))
    for output in (torch.addmm(a, b, c), torch.cat([a, b, c]), torch.where(a > 0, b, c), torch.lerp(a, b, c)):
        node = output.grad_fn
        assert node is not None
        count = len(node.next_functions)
        assert not operand_names(node.name(), count)[0].startswith("input")
