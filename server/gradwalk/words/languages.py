"""Which of the catalogues is read to whom."""

import os
import re
from collections.abc import Iterable
from typing import Final

from gradwalk.words.catalogue import LANGUAGE, LANGUAGES

_VARIABLES: Final = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")


def choose_language(accepted: str, asked: str | None = None) -> str:
    """The language of an answer.

    Args:
        accepted: the header `Accept-Language`, empty without one.
        asked: what was asked for by name; what nobody can read is ignored.
    """
    return _first([*([asked] if asked else []), *_by_preference(accepted)])


def language_of_environment() -> str:
    """As gettext has it: the first that is set of LANGUAGE, LC_ALL, LC_MESSAGES, LANG."""
    wished = next((value for name in _VARIABLES if (value := os.environ.get(name))), "")
    return _first(re.split("[.@]", each)[0].replace("_", "-") for each in wished.split(":"))


def _first(preferred: Iterable[str]) -> str:
    """The first that there is, whatever its region; as the page chooses."""
    known = {language.lower(): language for language in LANGUAGES}
    tags = [tag.lower() for tag in preferred]
    found = (known.get(tag) or known.get(tag.partition("-")[0]) for tag in tags)
    return next(filter(None, found), LANGUAGE)


def _by_preference(accepted: str) -> list[str]:
    """`de-AT, de;q=0.9, en;q=0.8` in order of the weights; those with 0 are not wanted."""
    weighed = []
    for each in accepted.split(","):
        name, _, weight = each.replace(" ", "").partition(";q=")
        try:
            weighed.append((float(weight or 1), name))
        except ValueError:
            continue
    return [name for weight, name in sorted(weighed, key=lambda one: -one[0]) if weight > 0 and name]
