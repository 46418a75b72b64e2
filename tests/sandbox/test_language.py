"""The language policy: honest programs run as in plain Python, hostile ones are refused with a sentence."""

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradwalk.sandbox.language import OfferedLanguage, load_offer
from gradwalk.tracer.source import SourceProblem
from gradwalk.words.problems import tell_problem
from tests.sandbox.programs import read_collection

RUN_PROGRAMS = Path(__file__).with_name("run_programs.py")
ENVIRONMENT = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
MODES = ("plain", "offered", "traced-plain", "traced-offered")


@pytest.mark.sweep
def test_honest_programs_do_and_trace_what_they_do_without_the_policy(run: Callable[..., Any]) -> None:
    honest = read_collection("honest")
    sources = json.dumps([listed.source for listed in honest])
    done = run(["-W", "ignore", RUN_PROGRAMS, *MODES], input=sources, environment=ENVIRONMENT, timeout=None)
    lines = iter(map(json.loads, done.stdout.splitlines()))
    found = {mode: [next(lines) for _ in honest] for mode in MODES}
    for listed, plain, offered, traced, both in zip(honest, *found.values(), strict=True):
        assert plain["outcome"] == ("error" if "uncaught" in listed.name else "ok"), (listed.name, plain)
        assert offered == plain, listed.name
        assert traced["outcome"] in ("ok", "not_differentiable", "error"), (listed.name, traced)
        assert both == traced or "timing" in listed.name, listed.name


@pytest.mark.parametrize(
    ("source", "thing", "written", "reason", "instead"),
    [
        ("torch.load('a')", "code", "`torch.load`", "files", "use-values"),
        ("import os", "code", "`import os`", "files", "use-values"),
        ("open('a')", "code", "`open`", "files", "use-values"),
        ("import matplotlib.pyplot as plt", "code", "`import matplotlib.pyplot`", "drawing", "use-print"),
        ("import torhc", "code", "`import torhc`", "library", "near-module"),
        ("x.__class__.__bases__", "refusal-attribute", "attribute `.__bases__`", "class-tree", "use-class-checks"),
        ("async def f(): pass", "code", "`async def`", "outside", "write-def"),
        ("from os import *", "code", "`import os`", "files", "use-values"),
        ("class M(type): pass", "refusal-metaclass", "A metaclass", "class-making", "use-decorator"),
        ("class A:\n    def __del__(self): pass", "refusal-defining", "`__del__`", "untimed", "own-method"),
        ("input()", "code", "`input`", "types", "use-panel"),
        ("nn.LSTM(1, 1)._flat_weights", "refusal-attribute", "`._flat_weights`", "library-private", "own-private"),
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
