"""Sentences from the catalogues that the page reads too (`en.ftl`, one file per language; Project Fluent)."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Final, Literal

from fluent.runtime import FluentBundle, FluentResource

from gradwalk.protocol.facts import Fact, Filling
from gradwalk.words.numbers import spell_numbers, spell_shape

LANGUAGE: Final = "en"
FOLDER = Path(__file__).parent
LANGUAGES: Final = tuple(sorted(path.stem for path in FOLDER.glob("*.ftl")))

Attribute = Literal["title", "hint", "question"]
"""What a message may say besides its sentence: a heading, what to do about it, what somebody asked."""


_SPOKEN: ContextVar[str] = ContextVar("language", default=LANGUAGE)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Inside, everything is said in this language where no other is asked for: a file is of one language throughout."""
    before = _SPOKEN.set(language)
    try:
        yield
    finally:
        _SPOKEN.reset(before)


def language_spoken() -> str:
    """The language of what is said here and now."""
    return _SPOKEN.get()


def say(key: str, /, language: str | None = None, **operands: str | int) -> str:
    """The message `key` with its operands filled in; a number chooses the plural and is written with it.

    Raises:
        LookupError: there is no such message, or it needs an operand that is not there.
    """
    return _filled(key, None, {**operands}, language or _SPOKEN.get())


def tell(fact: Fact, language: str | None = None) -> str:
    """A fact as a sentence or a part of one, with backticks round code.

    Raises:
        LookupError: as `say`.
    """
    language = language or _SPOKEN.get()
    return _filled(fact["kind"], None, _operands(fact, language), language)


def tell_attribute(fact: Fact, attribute: Attribute, language: str | None = None) -> str | None:
    """A fact's heading, or what to do about it; None where the catalogue has none.

    Raises:
        LookupError: as `say`.
    """
    language = language or _SPOKEN.get()
    bundle = _bundle_with(fact["kind"], language)
    if not bundle.has_message(fact["kind"]) or attribute not in bundle.get_message(fact["kind"]).attributes:
        return None
    return _filled(fact["kind"], attribute, _operands(fact, language), language)


def read_catalogue(language: str = LANGUAGE) -> str:
    """The text of a catalogue, in Fluent's syntax."""
    return (FOLDER / f"{language}.ftl").read_text("utf-8")


def _filled(key: str, attribute: str | None, operands: dict[str, str | int], language: str) -> str:
    bundle = _bundle_with(key, language)
    if not bundle.has_message(key):
        raise LookupError(f"no message {key!r} in {LANGUAGE}.ftl")
    message = bundle.get_message(key)
    pattern = message.value if attribute is None else message.attributes[attribute]
    assert pattern is not None, f"message {key!r} has attributes only"
    text, errors = bundle.format_pattern(pattern, operands)
    if errors:
        raise LookupError(f"message {key!r}: {errors[0]}")
    return str(text)


def _operands(fact: Fact, language: str) -> dict[str, str | int]:
    return {name: _said(operand, language) for name, operand in fact.get("operands", {}).items()}


def _said(operand: Filling, language: str) -> str | int:
    if isinstance(operand, str | int):
        return operand
    if isinstance(operand, list):
        return _listed([str(_said(one, language)) for one in operand], language)
    if "kind" in operand:
        return tell(operand, language)
    if "numbers" in operand:
        return spell_numbers(operand["numbers"], operand.get("shape", []))
    return spell_shape(operand["shape"])


def _listed(parts: list[str], language: str) -> str:
    """`a`, `a and b`, `a, b and c`."""
    first, *rest = parts or [""]
    if not rest:
        return first
    if len(rest) == 1:
        return say("and", language, first=first, last=rest[0])
    return say("comma", language, first=first, rest=_listed(rest, language))


def _bundle_with(key: str, language: str) -> FluentBundle:
    """Messages are parsed when they are first said: the whole catalogue takes half a second."""
    bundle, text = _bundle(language), _messages(language).get(key)
    if text is not None and not bundle.has_message(key):
        for mentioned in re.findall(r"\{ ([a-z-]+)[. ]", text):
            _bundle_with(mentioned, language)
        bundle.add_resource(FluentResource(text))
    return bundle


@cache
def _bundle(language: str) -> FluentBundle:
    # Isolation marks are for texts that mix directions of writing; in a program's name they would be copied along.
    return FluentBundle([language], use_isolating=False)


@cache
def _messages(language: str) -> dict[str, str]:
    """The text of each message; what a language lacks is said in English."""
    texts = [read_catalogue(each) for each in dict.fromkeys((LANGUAGE, language))]
    messages = [each for text in texts for each in re.split("^(?=[a-z])", text, flags=re.MULTILINE)[1:]]
    return {each.partition(" =")[0]: each for each in messages}
