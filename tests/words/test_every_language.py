"""A language is one file: complete, with the operands of the English one, and read alike by the page and by Python."""

import json
from typing import Any

import pytest
from fluent.syntax import FluentParser
from fluent.syntax.ast import Junk, Message, MessageReference, VariableReference
from fluent.syntax.visitor import Visitor
from py_mini_racer import MiniRacer

from gradwalk.exports.kit import BAKE_SCRIPT
from gradwalk.words.catalogue import LANGUAGE, LANGUAGES, read_catalogue, tell, tell_attribute
from tests.words.test_catalogue import COUNTS, operands_of

OTHERS = [language for language in LANGUAGES if language != LANGUAGE]
ATTRIBUTES = ("title", "hint", "question")


class Needs(Visitor):
    """What a pattern is filled in with: variables and other messages."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def visit_VariableReference(self, node: VariableReference) -> None:  # noqa: N802 (the visitor's own convention)
        self.names.add(node.id.name)

    def visit_MessageReference(self, node: MessageReference) -> None:  # noqa: N802
        self.names.add(f"-> {node.id.name}")


def needs(pattern: Any) -> set[str]:
    found = Needs()
    found.visit(pattern)
    return found.names


def messages(language: str) -> dict[str, Message]:
    body = FluentParser().parse(read_catalogue(language)).body
    assert [entry.content for entry in body if isinstance(entry, Junk)] == []
    return {entry.id.name: entry for entry in body if isinstance(entry, Message)}


ENGLISH = messages(LANGUAGE)


def test_there_is_a_second_language() -> None:
    assert "de" in OTHERS


@pytest.mark.parametrize("language", OTHERS)
def test_it_has_every_message_with_the_same_parts_in_the_same_order(language: str) -> None:
    theirs = messages(language)
    assert list(theirs) == list(ENGLISH)
    for key, english in ENGLISH.items():
        other = theirs[key]
        assert [one.id.name for one in other.attributes] == [one.id.name for one in english.attributes], key
        assert needs(other) == needs(english), key


@pytest.mark.parametrize("language", OTHERS)
def test_backticks_pair_up(language: str) -> None:
    for key, entry in messages(language).items():
        for pattern in (entry.value, *(one.value for one in entry.attributes)):
            if pattern is not None and pattern.span is not None:
                text = read_catalogue(language)[pattern.span.start : pattern.span.end]
                assert text.count("`") % 2 == 0, key


@pytest.mark.parametrize("language", OTHERS)
def test_the_page_and_python_read_it_alike(language: str) -> None:
    engine = MiniRacer()
    engine.eval(BAKE_SCRIPT.read_text("utf-8"))
    engine.call("gradwalk.speak", language, read_catalogue(language))
    for key, entry in ENGLISH.items():
        if entry.value is None:
            continue
        names = operands_of(entry)
        for count in (1, 2, 3):
            operands = {name: count if name in COUNTS else f"<{name} {count}>" for name in names}
            fact = {"kind": key, "operands": operands}
            said = tell(fact, language)
            assert engine.call("gradwalk.tellFact", json.dumps(fact)) == said, key
            whole = said + "".join(tell_attribute(fact, one, language) or "" for one in ATTRIBUTES)
            assert all(str(value) in whole or name in COUNTS for name, value in operands.items()), key
