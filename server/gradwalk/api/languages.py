"""In which language a request is answered."""

from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.types import Scope

from gradwalk.words.languages import choose_language

VARIES = {"Vary": "Accept-Language"}


def language_of(scope: Scope) -> str:
    """As `?lang=` asks for, else as `Accept-Language` does."""
    asked = parse_qs(scope["query_string"].decode("latin-1")).get("lang", [None])[0]
    return choose_language(Headers(scope=scope).get("accept-language", ""), asked)
