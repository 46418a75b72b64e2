"""Who reads which language: the examples of RFC 9110 and of gettext's manual, with languages that need not be there."""

import pytest

from gradwalk.words import languages
from gradwalk.words.languages import choose_language, language_of_environment

VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")


@pytest.fixture(autouse=True)
def _three_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "LANGUAGES", ("da", "de", "en"))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


WANTED = [
    ("", None, "en"),
    ("da, en-gb;q=0.8, en;q=0.7", None, "da"),
    ("en-GB;q=0.8, da;q=0.7, de-AT;q=0.9", None, "de"),
    ("de;q=0, da;q=0.1", None, "da"),
    ("fr", None, "en"),
    ("de;q=high, ,;;=", None, "en"),
    ("da", "de", "de"),
    ("da", "tlh", "da"),
    ("", "DE-ch", "de"),
]


@pytest.mark.parametrize(("accepted", "asked", "chosen"), WANTED)
def test_the_language_that_is_wanted_most_and_there(accepted: str, asked: str | None, chosen: str) -> None:
    assert choose_language(accepted, asked) == chosen


ENVIRONMENTS = [
    ({}, "en"),
    ({"LANG": "de_AT.UTF-8"}, "de"),
    ({"LANG": "de_DE", "LC_ALL": "C"}, "en"),
    ({"LANG": "de_DE", "LC_MESSAGES": "da_DK@euro"}, "da"),
    ({"LANGUAGE": "sv:da:de", "LANG": "de_DE"}, "da"),
]


@pytest.mark.parametrize(("variables", "chosen"), ENVIRONMENTS)
def test_the_language_of_the_environment(variables, chosen, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language_of_environment() == chosen
