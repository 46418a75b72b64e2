"""The language policy: honest programs run as in plain Python, hostile ones are refused with a sentence."""

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gradwalk.protocol.facts import code, fact
from gradwalk.sandbox.attributes import ALWAYS_REFUSED, REFUSED_UNLESS_OWN
from gradwalk.sandbox.language import OfferedLanguage, load_offer
from gradwalk.sandbox.offer import Offer, read_offer
from gradwalk.sandbox.offer_rules import compute_offer
from gradwalk.sandbox.proxies import RefusedAttributeError
from gradwalk.sandbox.refusals import ATTRIBUTES, BUILTINS, MODULES, PATHS
from gradwalk.tracer.source import SourceProblem
from gradwalk.words.catalogue import tell
from gradwalk.words.problems import tell_problem
from tests.sandbox.programs import read_collection, stratify

FOLDER = Path(__file__).parent
ENVIRONMENT = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
HONEST = read_collection("honest")
HOSTILE = read_collection("hostile")
CPU_SECONDS = 20


@pytest.fixture(scope="module")
def offer() -> Offer:
    return load_offer()


def problem_of(offer: Offer, source: str) -> Any:
    with pytest.raises(SourceProblem) as caught:
        OfferedLanguage(offer).admit(ast.parse(source), source)
    return caught.value.problem


def run_offered(offer: Offer, source: str) -> dict[str, Any]:
    """The globals after running a program under the policy in this process; only for harmless ones."""
    language = OfferedLanguage(offer)
    code = compile(language.admit(ast.parse(source), source), "<snippet>", "exec")
    names = language.namespace()
    exec(code, names)
    return names


def test_every_run_of_a_program_has_builtins_of_its_own(offer: Offer) -> None:
    language = OfferedLanguage(offer)
    first, second = (language.namespace()["__builtins__"] for _ in range(2))
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert first is not second
    assert first.keys() == second.keys()


def test_the_collections_are_large_enough() -> None:
    assert len(HONEST) >= 100
    assert len(HOSTILE) >= 900
    assert len({listed.source for listed in HONEST + HOSTILE}) > 0.97 * len(HONEST + HOSTILE)
    assert all(listed.outcomes for listed in HOSTILE)


@pytest.mark.parametrize("part", ["sample", pytest.param("all", marks=pytest.mark.sweep)])
def test_honest_programs_do_and_trace_what_they_do_without_the_policy(run: Callable[..., Any], part: str) -> None:
    honest = stratify(HONEST, by_outcome=False, each=8) if part == "sample" else HONEST
    sources = json.dumps([listed.source for listed in honest])
    modes = ("plain", "offered", "traced-plain", "traced-offered")
    command = ["-W", "ignore", FOLDER / "run_programs.py", CPU_SECONDS, *modes]
    done = run(command, input=sources, environment=ENVIRONMENT, timeout=None)
    lines = iter(map(json.loads, done.stdout.splitlines()))
    found = {mode: [next(lines) for _ in honest] for mode in modes}
    for listed, plain, offered, traced, both in zip(honest, *found.values(), strict=True):
        assert plain["outcome"] == ("error" if "uncaught" in listed.name else "ok"), (listed.name, plain)
        assert offered == plain, listed.name
        assert traced["outcome"] in ("ok", "not_differentiable", "error"), (listed.name, traced)
        assert both == traced or "timing" in listed.name, listed.name


@pytest.mark.parametrize(
    ("source", "thing", "written", "reason", "instead"),
    [
        ("x = 1\ntorch.load('a')", "code", "`torch.load`", "files", "use-values"),
        ("x = 1\nimport os", "code", "`import os`", "files", "use-values"),
        ("x = 1\nopen('a')", "code", "`open`", "files", "use-values"),
        ("x = 1\nimport matplotlib.pyplot as plt", "code", "`import matplotlib.pyplot`", "drawing", "use-print"),
        ("x = 1\nimport torhc", "code", "`import torhc`", "library", "near-module"),
        (
            "x = 1\nprint(x.__class__.__bases__)",
            "refusal-attribute",
            "attribute `.__bases__`",
            "class-tree",
            "use-class-checks",
        ),
        ("x = 1\nasync def f(): pass", "code", "`async def`", "outside", "write-def"),
        ("x = 1\nfrom os import *", "code", "`import os`", "files", "use-values"),
        ("x = 1\nclass M(type): pass", "refusal-metaclass", "A metaclass", "class-making", "use-decorator"),
        ("import operator\noperator.attrgetter('x')", "code", "`operator.attrgetter`", "any-text", "use-lambda"),
        ("x = 1\nclass A:\n    def __del__(self): pass", "refusal-defining", "`__del__`", "untimed", "own-method"),
        ("x = 1\ninput()", "code", "`input`", "types", "use-panel"),
        (
            "x = 1\nprint(nn.LSTM(1, 1)._flat_weights)",
            "refusal-attribute",
            "`._flat_weights`",
            "library-private",
            "own-private",
        ),
    ],
)
def test_a_refusal_teaches(offer: Offer, source: str, thing: str, written: str, reason: str, instead: str) -> None:
    problem = problem_of(offer, source)
    assert problem["kind"] == "rejected"
    assert {name: one["kind"] for name, one in problem["fact"]["operands"].items()} == {
        "thing": thing,
        "reason": f"refusal-{reason}",
        "instead": f"refusal-{instead}",
    }
    assert written in tell_problem(problem).message
    assert problem["span"]["line"] == (3 if "__del__" in source else 2)


def test_every_sentence_of_the_tables_is_whole() -> None:
    for table in (MODULES, PATHS, BUILTINS, ATTRIBUTES):
        for name, (reason, instead) in table.items():
            assert tell(reason).startswith("it "), name
            assert not tell(reason).endswith("."), name
            assert tell(instead)[0].isupper(), name
            assert tell(instead).endswith((".", "...`")), name


def test_spans_count_utf16_units(offer: Offer) -> None:
    problem = problem_of(offer, "x = '🎉é' + torch.load('x')")
    assert problem["span"] == {"line": 1, "column": 12, "end_line": 1, "end_column": 22}


def test_rewriting_keeps_every_position(offer: Offer) -> None:
    source = "import torch\nfrom torch import nn\ns = '{}'.format(\n    torch.ones(2).data\n)\nprint(s.__class__)\n"
    before = {(type(node).__name__, *place(node)) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.expr)}
    tree = OfferedLanguage(offer).admit(ast.parse(source), source)
    after = {(type(node).__name__, *place(node)) for node in ast.walk(tree) if isinstance(node, ast.expr)}
    kept = {one for one in before if one[0] != "Attribute"}
    assert kept <= after
    assert {one[1:] for one in before} <= {one[1:] for one in after}
    lines = [statement.lineno for statement in tree.body]
    assert lines == [1, 2, 3, 6]


def place(node: Any) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


COMPUTE = "import json; from gradwalk.sandbox.offer_rules import compute_offer; print(json.dumps(compute_offer()))"


@pytest.mark.soak
def test_the_offer_is_what_it_was_when_somebody_last_looked(run: Callable[..., Any]) -> None:
    """Fails when an upgrade adds a name: read the difference, then `python -m gradwalk.sandbox.offer_rules`."""
    # In a process of its own: torch.compile and optimizers, once used, put names of theirs on torch's classes.
    fresh = run(["-c", COMPUTE])
    frozen, computed = dict(read_offer()), json.loads(fresh.stdout)
    for kind in ("modules", "attributes"):
        assert frozen[kind].keys() == computed[kind].keys()
        for name, names in computed[kind].items():
            assert sorted(frozen[kind][name]) == sorted(names), name
    assert frozen["private"] == computed["private"]


def test_a_new_name_in_the_library_stays_out(offer: Offer) -> None:
    torch.brand_new_operation = torch.sin  # type: ignore[attr-defined]
    try:
        problem = problem_of(offer, "torch.brand_new_operation(torch.ones(1))")
        assert problem["fact"]["operands"]["thing"] == code("torch.brand_new_operation")
        assert "torch.brand_new_operation" not in compute_offer()["modules"]["torch"]
    finally:
        del torch.brand_new_operation  # type: ignore[attr-defined]


def test_views_cannot_be_changed_and_hold_no_module(offer: Offer) -> None:
    for name in offer.modules:
        view = offer.look_up(name)
        with pytest.raises(AttributeError):
            view.anything = 1  # type: ignore[attr-defined]
        assert not hasattr(view, "__dict__")
        assert not hasattr(view, "_real")
        assert type(view).__name__ == "module"


@pytest.mark.soak
def test_nothing_dangerous_can_be_reached_from_the_offer(run: Callable[..., Any]) -> None:
    done = run(["-W", "ignore", FOLDER / "walk_offer.py", "200000"], environment=ENVIRONMENT, timeout=None)
    report = json.loads(done.stdout)
    assert report["found"] == []
    assert report["objects"] >= 100_000


def test_frames_are_refused_on_everything() -> None:
    for kind in ("gi_frame", "cr_frame", "ag_frame", "tb_frame", "f_globals", "f_back", "co_consts"):
        assert kind in ALWAYS_REFUSED
    assert not ALWAYS_REFUSED & REFUSED_UNLESS_OWN


@pytest.mark.parametrize("module", ["math", "torch.nn.functional", "dataclasses", "itertools", "torch.nn", "torch"])
def test_a_star_import_binds_what_python_binds_as_far_as_it_is_offered(offer: Offer, module: str) -> None:
    plain: dict[str, Any] = {}
    exec(f"from {module} import *", plain)
    names = run_offered(offer, f"from {module} import *")
    bound = {name for name in names if not name.startswith("__")}
    assert bound == {name for name in plain if name in offer.star_names(module)}
    assert bound
    assert not bound & {"os", "sys", "load", "save", "jit"}


def test_the_table_of_an_own_object_is_checked_and_written_through(offer: Offer) -> None:
    names = run_offered(
        offer, "class A:\n    def __init__(self, **k): self.__dict__.update(k)\na = A(x=1, y=2)\nt = vars(a)"
    )
    made, table = names["a"], names["t"]
    table["z"] = 3
    del table["x"]
    assert table.pop("y") == 2
    assert made.__dict__ == {"z": 3} == table
    with pytest.raises(RefusedAttributeError):
        table["__array_interface__"] = {}
    with pytest.raises(RefusedAttributeError):
        run_offered(offer, "import torch\nvars(torch.nn.Linear(1, 1))")


def test_own_private_names_do_not_open_torch_s(offer: Offer) -> None:
    assert run_offered(offer, "class V:\n    def __init__(self): self._prev = 3\nx = V()._prev")["x"] == 3
    problem = problem_of(offer, "class V:\n    def __init__(self): self._typed_storage = 3\n")
    assert problem["fact"]["operands"]["reason"] == fact("refusal-torch-name")
