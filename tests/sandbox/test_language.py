"""What the language policy says of a program that it refuses."""

import ast
from typing import Any

import pytest

from gradwalk.sandbox.language import OfferedLanguage, load_offer
from gradwalk.tracer.source import SourceProblem
from gradwalk.words.problems import tell_problem


@pytest.mark.parametrize(
    ("source", "thing", "written", "reason", "instead"),
    [
        ("torch.load('a')", "code", "`torch.load`", "files", "use-values"),
        ("import matplotlib.pyplot as plt", "code", "`import matplotlib.pyplot`", "drawing", "use-print"),
        ("import torhc", "code", "`import torhc`", "library", "near-module"),
        ("x.__class__.__bases__", "refusal-attribute", "attribute `.__bases__`", "class-tree", "use-class-checks"),
        ("class A:\n    def __del__(self): pass", "refusal-defining", "`__del__`", "untimed", "own-method"),
        ("input()", "code", "`input`", "types", "use-panel"),
    ],
)
def test_a_refusal_teaches(source: str, thing: str, written: str, reason: str, instead: str) -> None:
    source = f"x = '🎉é'; {source}" if source.startswith("torch") else f"x = 1\n{source}"
    with pytest.raises(SourceProblem) as caught:
        OfferedLanguage(load_offer()).admit(ast.parse(source), source)
    problem: Any = caught.value.problem
    assert problem["kind"] == "rejected"
    assert {name: one["kind"] for name, one in problem["fact"]["operands"].items()} == {
        "thing": thing,
        "reason": f"refusal-{reason}",
        "instead": f"refusal-{instead}",
    }
    assert written in tell_problem(problem).message
    if source.startswith("x = '"):  # columns count UTF-16 units
        assert problem["span"] == {"line": 1, "column": 11, "end_line": 1, "end_column": 21}
    else:
        assert problem["span"]["line"] == (3 if "__del__" in source else 2)
