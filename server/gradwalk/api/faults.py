"""What pydantic has against a request or a setting, as a fact. Its own words are kept as they are."""

from collections.abc import Sequence
from typing import Any

from gradwalk.protocol.facts import Fact, Filling, fact

_SHOWN = 3
_PLACE_CHARACTERS_MAX = 60


def describe_invalid(errors: Sequence[Any]) -> Fact:
    """The first few of `ValidationError.errors()`, and how many more there are."""
    faults: list[Filling] = [
        fact("api-fault", place=_place(each["loc"]), reason=_readable(_reason_of(each))) for each in errors[:_SHOWN]
    ]
    more = len(errors) - _SHOWN
    return fact("api-invalid", faults=fact("and-more", first=faults, count=more) if more > 0 else faults)


def _reason_of(error: Any) -> str:
    # Of what is no JSON, pydantic's words say that alone, the parser's what is wrong.
    return str(error["ctx"]["error"] if error["type"] == "json_invalid" else error["msg"])


def _place(location: Sequence[int | str]) -> str:
    return ".".join(_readable(str(part)[:_PLACE_CHARACTERS_MAX]) for part in location)


def _readable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
