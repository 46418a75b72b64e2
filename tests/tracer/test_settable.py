"""A name is offered as an input exactly where giving it another value changes the leaf that the pass has."""

import pytest
import torch

from tests.twin import PRELUDE, run_traced

OUT = "\n(x * 2).backward()"
LEAF = "torch.tensor(2., requires_grad=True)"
PROGRAMS = {
    "an assignment": (f"x = {LEAF}", True),
    "a tuple of values": (f"a, x = 1, {LEAF}", True),
    "a generator that is unpacked": ("a, x = (torch.tensor(2., requires_grad=True) for _ in range(2))", True),
    "a list that is unpacked": (f"[x, a] = [{LEAF}, 3]", True),
    "a function that gives two": (f"def make():\n    return {LEAF}, 1\nx, a = make()", True),
    "required later": ("x = torch.tensor(2.)\nx.requires_grad_()", True),
    "a name of a function too": (f"def f():\n    x = 1\nx = {LEAF}", True),
    "a loop": (f"for _ in range(2):\n    x = {LEAF}", False),
    "a with block": (f"with torch.enable_grad():\n    x = {LEAF}", False),
    "an if block": (f"if True:\n    x = {LEAF}", False),
    "bound again": (f"x = torch.tensor(1.)\nx = {LEAF}", False),
}


@pytest.mark.parametrize("case", PROGRAMS)
def test_a_name_is_offered_where_its_value_can_be_set(case: str) -> None:
    made, is_offered = PROGRAMS[case]
    source = PRELUDE + made + OUT
    plain = run_traced(source)
    (leaf,) = [node for node in plain.nodes().values() if node.get("leaf", "").startswith("x")]
    other = run_traced(source, inputs={"x": 5.0})
    (moved,) = [node for node in other.nodes().values() if "leaf" in node]
    is_set = moved["outputs"][0]["value"]["data"] == [5]
    assert ("input" in leaf, is_set) == (is_offered, is_offered)


def test_a_wrong_count_is_pythons_own_error() -> None:
    traced = run_traced("a, x = [1, 2, 3]", inputs={"x": 5})
    (problem,) = traced.of("problem")
    with pytest.raises(ValueError, match="too many values") as raised:
        exec("a, x = [1, 2, 3]", {"torch": torch})
    assert str(raised.value) in str(problem)
