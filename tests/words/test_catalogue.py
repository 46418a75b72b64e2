"""The catalogues: Python and the page read the same from each language, and every message in them is used.

Who reads which language: the examples of RFC 9110 and of gettext's manual, with languages that need not be there.
"""

import ast
import json
import math
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fluent.syntax import FluentParser
from fluent.syntax.ast import BaseNode, Junk, Message, MessageReference, VariableReference
from hypothesis import example, given
from hypothesis import strategies as st

from gradwalk.exports.kit import MODULE
from gradwalk.words import catalogue, languages
from gradwalk.words.catalogue import LANGUAGE, LANGUAGES, read_catalogue, say, tell, tell_attribute
from gradwalk.words.languages import choose_language, language_of_environment
from tests.words.page import new_engine, tell_all, tell_by_page

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "server/gradwalk"
ATTRIBUTES = ("title", "hint", "question")
COUNTS = {"count", "seeds"}
"""Operands that are numbers wherever they choose a plural."""


@cache
def messages_of(language: str = LANGUAGE) -> dict[str, Message]:
    """By name, in the order of the file."""
    body = FluentParser().parse(read_catalogue(language)).body
    assert [entry.content for entry in body if isinstance(entry, Junk)] == []
    messages = [entry for entry in body if isinstance(entry, Message)]
    found = {message.id.name: message for message in messages}
    assert len(found) == len(messages), "a key is there twice"
    return found


def operands_of(node: Any, messages: Mapping[str, Message]) -> set[str]:
    """What a message is filled in with, in any of its parts and of those that it refers to, in its language."""
    match node:
        case VariableReference():
            return {node.id.name}
        case MessageReference():
            message = messages[node.id.name]
            parts = {None: message.value, **{one.id.name: one.value for one in message.attributes}}
            return operands_of(parts[node.attribute and node.attribute.name], messages)
        case BaseNode():
            return operands_of([*vars(node).values()], messages)
        case list():
            return set().union(*(operands_of(each, messages) for each in node))
    return set()


def test_python_and_the_page_read_the_same_with_every_operand_in_it() -> None:
    assert "de" in LANGUAGES
    engine = new_engine()
    differing, incomplete = [], []
    for language in sorted(LANGUAGES, key=lambda one: one != LANGUAGE):
        messages = messages_of(language)
        if language != LANGUAGE:
            engine.call("gradwalk.speak", language, read_catalogue(language))
        facts, sentences = [], []
        for key, message in messages.items():
            names = operands_of(message, messages)
            for count in (1, 2, 1234) if names & COUNTS else (1,):
                operands = {name: count if name in COUNTS else f"<{name} {count}>" for name in names}
                fact = {"kind": key, "operands": operands}
                said = "" if message.value is None else tell(fact, language)
                whole = said + "".join(tell_attribute(fact, one, language) or "" for one in ATTRIBUTES)
                if said:
                    facts.append(fact)
                    sentences.append(said)
                # `about` chooses the hint and is not said.
                unsaid = {name for name, value in operands.items() if str(value) not in whole} - {*COUNTS, "about"}
                if unsaid or re.search("[\u2066-\u2069]", whole):
                    incomplete.append((language, key))
        read = zip(facts, sentences, tell_all(engine, facts), strict=True)
        differing += [(language, fact["kind"]) for fact, ours, theirs in read if ours != theirs]
    assert (differing, incomplete) == ([], [])


@pytest.mark.parametrize("language", [one for one in LANGUAGES if one != LANGUAGE])
def test_a_language_has_messages_of_the_english_one_with_the_same_parts(language: str) -> None:
    english, theirs, text = messages_of(), messages_of(language), read_catalogue(language)
    assert list(theirs) == [key for key in english if key in theirs]
    wrong = []
    for key, other in theirs.items():
        parts = [[one.id.name for one in each.attributes] for each in (other, english[key])]
        names = operands_of(other, theirs), operands_of(english[key], english)
        spans = [one.span for one in (other.value, *(one.value for one in other.attributes)) if one and one.span]
        is_paired = all(text[span.start : span.end].count("`") % 2 == 0 for span in spans)
        if parts[0] != parts[1] or names[0] != names[1] or not is_paired:
            wrong.append(key)
    assert wrong == []


@cache
def facts_in(path: Path) -> list[tuple[str, set[str]]]:
    """Every `fact("kind", name=...)` and `why("kind", "name")` of a module: the kind and the names of the operands."""
    found = []
    text = path.read_text()
    for node in ast.walk(ast.parse(text)) if re.search(r"\b(fact|why)\(", text) else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("fact", "why"):
            kind, *symbols = [one.value if isinstance(one, ast.Constant) else None for one in node.args]
            assert kind is not None, f"{path}:{node.lineno}: the kind is computed"
            found.append((kind, {*symbols, *(keyword.arg or "**" for keyword in node.keywords)}))
    return found


def test_every_fact_has_a_message_that_takes_just_its_operands() -> None:
    messages = messages_of()
    known = {key: operands_of(message, messages) for key, message in messages.items()}
    found = [(path.name, *each) for path in SERVER.rglob("*.py") for each in facts_in(path)]
    assert len(found) > 3
    assert [(name, kind, given) for name, kind, given in found if known.get(kind) != given] == []


def test_the_viewer_has_words_for_facts_and_none_for_the_page() -> None:
    viewer = MODULE.read_text("utf-8")
    tracing = ("engine", "formulas", "protocol", "sandbox", "tracer")
    kinds = {kind for name in tracing for path in (SERVER / name).glob("*.py") for kind, _ in facts_in(path)}
    # What is special about an operation is told on the page alone, and so is what programs can do there.
    assert {kind for kind in kinds if not kind.startswith(("case-", "page-")) and f"{kind}=" not in viewer} == set()
    assert "player-play=" in viewer
    assert "ask-sum=" not in viewer
    assert "case-" not in viewer


def test_every_message_is_used_and_every_message_that_is_used_exists() -> None:
    written = (ROOT / "frontend/src").rglob("*")
    sources = [*SERVER.rglob("*.py"), *(path for path in written if path.suffix in (".ts", ".svelte"))]
    generated = (".gen.ts", ".test.ts", "fact_kinds.py")
    text = "\n".join(path.read_text() for path in sources if not path.name.endswith(generated))
    quoted = set(re.findall(r"[\"']([a-z0-9-]+)[\"']", text))
    assert messages_of().keys() - quoted == set()
    assert set(re.findall(r'\bsay\(\s*"([^"]+)"', text)) <= messages_of().keys()


def test_what_a_language_lacks_is_said_in_english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "en.ftl").write_text(read_catalogue())
    (tmp_path / "fy.ftl").write_text("constant = konstante\n")
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    assert [say(key, "fy") for key in ("constant", "nothing")] == ["konstante", say("nothing", "en")]
    engine = new_engine()
    engine.call("gradwalk.speak", "fy", "constant = konstante\n")
    told = [engine.call("gradwalk.tellFact", json.dumps({"kind": key})) for key in ("constant", "nothing")]
    assert told == ["konstante", say("nothing", "en")]


@pytest.mark.parametrize("key", ["no-such-key", "rule-custom"])
def test_a_missing_message_and_a_missing_operand_are_refused(key: str) -> None:
    with pytest.raises(LookupError):
        say(key)


THREE = ("da", "de", "en")
WANTED = [
    ("", None, "en"),
    ("da, en-gb;q=0.8, en;q=0.7", None, "da"),
    ("en-GB;q=0.8, da;q=0.7, de-AT;q=0.9", None, "de"),
    ("de;q=0, da;q=0.1", None, "da"),
    ("de;q=high, ,;;=", None, "en"),
    ("da", "tlh", "da"),
    ("", "DE-ch", "de"),
]

ENVIRONMENTS = [
    ({}, "en"),
    ({"LANG": "de_DE", "LC_ALL": "C"}, "en"),
    ({"LANG": "de_DE", "LC_MESSAGES": "da_DK@euro"}, "da"),
    ({"LANGUAGE": "sv:da:de", "LANG": "de_DE"}, "da"),
]


def test_the_language_that_is_wanted_most_and_there(monkeypatch):
    monkeypatch.setattr(languages, "LANGUAGES", THREE)
    assert [choose_language(accepted, asked) for accepted, asked, _ in WANTED] == [chosen for *_, chosen in WANTED]
    for variables, chosen in ENVIRONMENTS:
        for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
            monkeypatch.setenv(name, variables.get(name, ""))
        assert language_of_environment() == chosen


REALS = st.floats(allow_nan=False, allow_infinity=False) | st.floats(-10, 10) | st.integers(-(10**9), 10**9)
WORDS = st.sampled_from(["NaN", "Infinity", "-Infinity", True, False])
ENTRIES = REALS | WORDS | st.lists(REALS, min_size=2, max_size=2)
"""A trace spells what is not finite in words."""


@given(entries=st.lists(ENTRIES, min_size=1, max_size=6), columns=st.integers(1, 3))
@example(entries=[0.00012345, 1.0005, 2.5e-7, 123450000.5, -0.0, 5e-324, math.pi, 9999999.5, 0.99995, 1e21], columns=1)
def test_python_and_the_page_spell_alike_and_round_halves_alike(entries, columns):
    shape = [] if len(entries) == 1 else [len(entries)]
    if len(entries) % columns == 0 and columns > 1:
        shape = [len(entries) // columns, columns]
    fact = {"kind": "and", "operands": {"first": {"numbers": entries, "shape": shape}, "last": {"shape": shape}}}
    assert tell_by_page(fact) == tell(fact)
