"""Sentences from the catalogue that the page reads too (`en.ftl`, Project Fluent)."""

from functools import cache
from pathlib import Path

from fluent.runtime import FluentBundle, FluentResource

LANGUAGE = "en"


def say(key: str, **operands: str | int) -> str:
    """The message `key` with its operands filled in; a number chooses the plural and is written with it.

    Raises:
        LookupError: there is no such message, or it needs an operand that is not there.
    """
    bundle = _bundle(LANGUAGE)
    if not bundle.has_message(key):
        raise LookupError(f"no message {key!r} in {LANGUAGE}.ftl")
    pattern = bundle.get_message(key).value
    assert pattern is not None, f"message {key!r} has attributes only"
    text, errors = bundle.format_pattern(pattern, operands)
    if errors:
        raise LookupError(f"message {key!r}: {errors[0]}")
    return str(text)


def read_catalogue(language: str = LANGUAGE) -> str:
    """The text of a catalogue, in Fluent's syntax."""
    return (Path(__file__).parent / f"{language}.ftl").read_text("utf-8")


@cache
def _bundle(language: str) -> FluentBundle:
    # Isolation marks are for texts that mix directions of writing; in a program's name they would be copied along.
    bundle = FluentBundle([language], use_isolating=False)
    bundle.add_resource(FluentResource(read_catalogue(language)))
    return bundle
