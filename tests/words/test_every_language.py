"""A language is one file: complete, with the operands of the English one, and read alike by the page and by Python."""

import json

import pytest
from py_mini_racer import MiniRacer

from gradwalk.exports.kit import BAKE_SCRIPT
from gradwalk.words.catalogue import LANGUAGE, LANGUAGES, read_catalogue, tell, tell_attribute
from tests.words.messages import COUNTS, messages_of, operands_of

OTHERS = [language for language in LANGUAGES if language != LANGUAGE]
ATTRIBUTES = ("title", "hint", "question")


ENGLISH = messages_of()


def test_there_is_a_second_language() -> None:
    assert "de" in OTHERS


@pytest.mark.parametrize("language", OTHERS)
def test_it_has_every_message_with_the_same_parts_in_the_same_order(language: str) -> None:
    theirs = messages_of(language)
    assert list(theirs) == list(ENGLISH)
    for key, english in ENGLISH.items():
        other = theirs[key]
        assert [one.id.name for one in other.attributes] == [one.id.name for one in english.attributes], key
        assert operands_of(other, theirs) == operands_of(english, ENGLISH), key


@pytest.mark.parametrize("language", OTHERS)
def test_backticks_pair_up(language: str) -> None:
    for key, entry in messages_of(language).items():
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
        names = operands_of(entry, ENGLISH)
        for count in (1, 2, 3):
            operands = {name: count if name in COUNTS else f"<{name} {count}>" for name in names}
            fact = {"kind": key, "operands": operands}
            said = tell(fact, language)
            assert engine.call("gradwalk.tellFact", json.dumps(fact)) == said, key
            whole = said + "".join(tell_attribute(fact, one, language) or "" for one in ATTRIBUTES)
            assert all(str(value) in whole or name in COUNTS for name, value in operands.items()), key
