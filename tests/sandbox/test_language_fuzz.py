"""Whatever the text is, the policy answers with a tree or with a problem: nothing else, and at once."""

import ast
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradwalk.sandbox.attributes import (
    ALWAYS_REFUSED,
    GUARDED,
    REFUSED_UNLESS_OWN,
    find_attribute_refusal,
    is_special,
)
from gradwalk.sandbox.language import OfferedLanguage, load_offer
from gradwalk.sandbox.offer import Offer
from gradwalk.sandbox.refusals import BUILTINS
from gradwalk.tracer.source import SourceProblem, read_program
from gradwalk.words.problems import tell_problem
from tests.sandbox.programs import read_collection

FRAGMENTS = [listed.source for listed in read_collection("honest") + read_collection("hostile")]
TOKENS = sorted({token for source in FRAGMENTS for token in re.findall(r"\w+|[^\w\s]|\n *", source) if len(token) < 40})
DANGEROUS = sorted(
    {name for name in BUILTINS if name.isidentifier()} | ALWAYS_REFUSED | {"__globals__", "__class__", "__subclasses__"}
)


@pytest.fixture(scope="module")
def offer() -> Offer:
    return load_offer()


NAMES = ["x", "self", "torch", "nn", "Box", "_own", "format", "obj", "type", *DANGEROUS]


def names() -> st.SearchStrategy[str]:
    # By number: hypothesis spells a strategy out with all that it samples from, and warns when that is long.
    return st.integers(0, len(NAMES) - 1).map(lambda at: NAMES[at])


def expressions() -> st.SearchStrategy[str]:
    """Python expressions full of what the policy looks at."""
    leaves = names() | st.sampled_from(["1", "'{0.a}'", "f'{x}'", "...", "()", "'__globals__'"])

    def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.builds("{}.{}".format, inner.filter(lambda text: not text[0].isdigit() and text != "..."), names()),
            st.builds("{}({}, *{}, k={})".format, inner, inner, inner, inner),
            st.builds("({} + {})".format, inner, inner),
            st.builds("[{} for {} in {} if {}]".format, inner, names(), inner, inner),
            st.builds("(lambda {}={}: {})".format, names(), inner, inner),
            st.builds("({} if {} else {})".format, inner, inner, inner),
            st.builds("({} := {})".format, names(), inner),
            st.builds("{}[{}:{}]".format, inner, inner, inner),
            st.builds("getattr({}, {!r})".format, inner, names()),
            st.builds("{{**{}, {}: {}}}".format, inner, inner, inner),
        )

    return st.recursive(leaves, grow, max_leaves=8)


def programs() -> st.SearchStrategy[str]:
    """Statements round such expressions."""
    value = expressions()
    simple = st.one_of(
        value,
        st.builds("{} = {}".format, value, value),
        st.builds("{} += {}".format, names(), value),
        st.builds("del {}".format, names()),
        st.builds("import {} as {}".format, names(), names()),
        st.builds("from torch.{} import {} as {}".format, names(), names(), names()),
        st.builds("class {}({}, k={}): {}: int = {}".format, names(), value, value, names(), value),
        st.builds("def {}({}={}, *a): return {}".format, names(), names(), value, value),
        st.builds("for {}.{} in {}: pass".format, names(), names(), value),
        st.builds("with {} as {}: pass".format, value, names()),
        st.builds("try:\n    {}\nexcept {} as {}: pass".format, value, value, names()),
        st.builds("match {}:\n    case {}({}=q): pass".format, value, names(), names()),
        st.builds("global {}".format, names()),
    )
    return st.lists(simple, min_size=1, max_size=5).map("\n".join)


def admit(offer: Offer, source: str) -> ast.Module | None:
    """The tree, or nothing when it was refused; anything else fails the test."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    try:
        return OfferedLanguage(offer).admit(tree, source)
    except SourceProblem as error:
        check_problem(error.problem, source)
        return None


def check_problem(problem: Any, source: str) -> None:
    assert problem["kind"] in ("rejected", "too_big", "syntax", "not_differentiable")
    told = tell_problem(problem)
    assert told.title
    assert told.message
    assert told.hint or problem["kind"] == "syntax"
    if problem["span"]:
        lines = source.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
        assert 1 <= problem["span"]["line"] <= lines


def check_admitted(tree: ast.Module, offer: Offer) -> None:
    """An independent look at what came through: no refused name is left anywhere in it."""
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.AsyncFunctionDef | ast.Await):
            pytest.fail(ast.dump(node)[:200])
        if isinstance(node, ast.Attribute):
            assert node.attr not in ALWAYS_REFUSED
            assert not (isinstance(node.ctx, ast.Load) and node.attr in GUARDED)
            assert not is_special(node.attr) or find_attribute_refusal(node.attr, (), offer.library_names) is None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            assert not is_special(node.id) or node.id in ("__name__", "__doc__")
            assert node.id not in ("eval", "exec", "open", "compile") or node.id in _all_bound(tree) | bound
    compile(tree, "<snippet>", "exec", dont_inherit=True)


def _all_bound(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        for field in ("name", "arg", "rest"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                found.add(value)
    return found


@given(source=programs())
@pytest.mark.soak
@settings(max_examples=150)
def test_programs_of_dangerous_names(offer: Offer, source: str) -> None:
    tree = admit(offer, source)
    if tree is not None:
        try:
            check_admitted(tree, offer)
        except SyntaxError:
            # `return` outside a function and its like: the tracer reports what the compiler says.
            return


@given(parts=st.lists(st.sampled_from(TOKENS), max_size=60))
@settings(max_examples=100)
def test_shuffled_tokens(offer: Offer, parts: list[str]) -> None:
    admit(offer, " ".join(parts))


@given(
    source=st.sampled_from(FRAGMENTS),
    at=st.integers(0, 2_000),
    length=st.integers(0, 12),
    patch=st.sampled_from(TOKENS) | st.text(max_size=4),
)
@settings(max_examples=100)
def test_mutated_programs(offer: Offer, source: str, at: int, length: int, patch: str) -> None:
    at %= len(source)
    admit(offer, (source[:at] + patch + source[at + length :])[:20_000])


@given(source=st.text(max_size=300))
@settings(max_examples=100)
def test_any_text_through_the_tracer_s_door(offer: Offer, source: str) -> None:
    try:
        read_program(source, language=OfferedLanguage(offer))
    except SourceProblem as error:
        check_problem(error.problem, source)


@pytest.mark.parametrize(
    "source",
    [
        "(" * 3_000 + ")" * 3_000,
        "-" * 15_000 + "1",
        "x" + ".y" * 6_000,
        "x = " + " + ".join(["1"] * 5_000),
        "f'" + "{" * 400 + "}" * 400 + "'",
        "lambda: " * 2_000 + "1",
        "[" + "0," * 9_000 + "]",
        "if x:\n" + "".join(" " * depth + "if x:\n" for depth in range(1, 95)) + " " * 96 + "pass",
        "x = '" + "\\N{BULLET}" * 1_500 + "'",
        "@a\n" * 3_000 + "def f(): pass",
        "a" + "(b" * 100 + ")" * 100,
        "try: pass\nexcept: pass\n" * 700,
        "{**" * 80 + "x" + "}" * 80,
    ],
    ids=lambda source: source[:20],
)
def test_shapes_that_strain_a_parser(offer: Offer, source: str) -> None:
    try:
        read_program(source, language=OfferedLanguage(offer))
    except SourceProblem as error:
        check_problem(error.problem, source)


def test_names_that_the_rules_share_are_placed_once() -> None:
    assert not GUARDED & ALWAYS_REFUSED
    assert not GUARDED & REFUSED_UNLESS_OWN
