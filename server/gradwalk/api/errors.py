"""Every error as application/problem+json (RFC 9457), or as a page; nothing of the server's inside leaks.

A browser that opens an address, also in a frame on somebody's slide, gets a page that says the same. Besides the
standard members the JSON has `kind` and `hint`, with the meaning they have in a `problem` event, and the `fact` that
they say, so that a page can show both alike, in its own language.
"""

import logging
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any, Final

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

from gradwalk.api.faults import describe_invalid
from gradwalk.api.languages import language_of
from gradwalk.engine.engine import BusyError
from gradwalk.exports.markup import render
from gradwalk.protocol.document import encode
from gradwalk.protocol.events import Problem
from gradwalk.protocol.facts import Fact, fact
from gradwalk.rooms.room import (
    NoSuchRoom,
    NotAParticipant,
    NotAsked,
    NotThePresenter,
    RoomsFull,
    RoomsOutOfReach,
)
from gradwalk.store.store import StoreError
from gradwalk.words.catalogue import say, tell, tell_attribute
from gradwalk.words.errors import FactError

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
_PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_ROOM_RETRY_SECONDS = 30
_PASSING = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.SERVICE_UNAVAILABLE)
_FACT_ERRORS: dict[type[FactError], HTTPStatus] = {
    BusyError: HTTPStatus.TOO_MANY_REQUESTS,
    NoSuchRoom: HTTPStatus.NOT_FOUND,
    NotThePresenter: HTTPStatus.FORBIDDEN,
    NotAParticipant: HTTPStatus.FORBIDDEN,
    NotAsked: HTTPStatus.CONFLICT,
    RoomsFull: HTTPStatus.TOO_MANY_REQUESTS,
    RoomsOutOfReach: HTTPStatus.SERVICE_UNAVAILABLE,
}


class FactAnswer(HTTPException):
    """An error answer that says a fact."""

    def __init__(self, status: int, why: Fact) -> None:
        super().__init__(status, tell(why))
        self.fact = why


def problem_response(  # noqa: PLR0913 - what an answer of RFC 9457 has, and what a page needs
    status: int,
    why: Fact,
    language: str,
    *,
    kind: str = "protocol",
    words: str | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """One error answer: the fact in that language, with its title and its hint, and as it is.

    `words` are what Python or PyTorch said itself.
    """
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": tell_attribute(why, "title", language) or HTTPStatus(status).phrase,
        "status": status,
        "detail": tell(why, language),
        "kind": kind,
        "fact": why,
    }
    if words is not None:
        body |= {"detail": f"{body['detail']} {say('problem-words', language, words=words)}", "words": words}
    hint = tell_attribute(why, "hint", language)
    if hint is not None:
        body["hint"] = hint
    own = {"Cache-Control": "no-store", "Content-Language": language, **(headers or {})}
    return Response(encode(body), status_code=status, media_type=MEDIA_TYPE, headers=own)


def answer_problem(status: int, found: Problem, language: str) -> Response:
    """A problem of a run as an error answer."""
    return problem_response(status, found["fact"], language, kind=found["kind"], words=found.get("words"))


def error_answer(
    scope: Scope, status: int, why: Fact, *, kind: str = "protocol", headers: dict[str, str] | None = None
) -> Response:
    """The same as a page for a browser that opens the address itself, as JSON for all others."""
    language = language_of(scope)
    if scope["method"] != "GET" or "text/html" not in Headers(scope=scope).get("accept", ""):
        return problem_response(status, why, language, kind=kind, headers=headers)
    page = render(
        "error.html",
        language=language,
        title=tell_attribute(why, "title", language) or HTTPStatus(status).phrase,
        detail=tell(why, language),
        hint=tell_attribute(why, "hint", language),
        again=say("page-try-again", language) if status in _PASSING else None,
        home=say("api-page-home", language),
    )
    # May be seen wherever the program could be seen that is not there.
    framing = scope["app"].state.settings.frame_ancestors if scope["path"].startswith("/embed") else "'none'"
    own = {
        "Cache-Control": "no-store",
        "Content-Language": language,
        "Content-Security-Policy": f"{_PAGE_POLICY}; frame-ancestors {framing}",
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    return HTMLResponse(page, status_code=status, headers={**own, **(headers or {})})


def too_long_answer(scope: Scope) -> Response:
    """For a body over the limit."""
    return error_answer(scope, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, fact("api-too-long"), kind="too_big")


def fact_answer(scope: Scope, error: FactError) -> Response:
    """For what has to wait, where `Retry-After` says how long, and for what is the matter with a room."""
    status = next(found for kind, found in _FACT_ERRORS.items() if isinstance(error, kind))
    if status is not HTTPStatus.TOO_MANY_REQUESTS:
        return error_answer(scope, status, error.fact)
    seconds = error.retry_after_seconds if isinstance(error, BusyError) else _ROOM_RETRY_SECONDS
    return error_answer(scope, status, error.fact, kind="busy", headers={"Retry-After": str(seconds)})


async def _answer_http(request: Request, error: HTTPException) -> Response:
    status = error.status_code
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return too_long_answer(request.scope)
    if isinstance(error, FactAnswer):
        return error_answer(request.scope, status, error.fact)
    phrase = HTTPStatus(status).phrase
    is_missing = status == HTTPStatus.NOT_FOUND
    why = fact("api-no-page") if is_missing else fact("api-status", status=str(status), phrase=phrase)
    return error_answer(request.scope, status, why, headers=dict(error.headers or {}))


async def _answer_invalid(request: Request, error: RequestValidationError) -> Response:
    if all(fault["loc"][:1] == ("path",) for fault in error.errors()):
        return error_answer(request.scope, HTTPStatus.NOT_FOUND, fact("api-no-page"))
    return error_answer(request.scope, HTTPStatus.UNPROCESSABLE_ENTITY, describe_invalid(error.errors()))


async def _answer_fact(request: Request, error: FactError) -> Response:
    return fact_answer(request.scope, error)


async def _answer_store(request: Request, error: StoreError) -> Response:
    log.error("store: %s", error)
    return error_answer(request.scope, HTTPStatus.SERVICE_UNAVAILABLE, fact("api-store"), kind="internal")


async def _answer_bug(request: Request, error: Exception) -> Response:
    log.error("a request broke the server", exc_info=error)
    return error_answer(request.scope, HTTPStatus.INTERNAL_SERVER_ERROR, fact("api-bug"), kind="internal")


ERROR_HANDLERS: Final[dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]]] = {
    HTTPException: _answer_http,
    RequestValidationError: _answer_invalid,
    **dict.fromkeys(_FACT_ERRORS, _answer_fact),
    StoreError: _answer_store,
    Exception: _answer_bug,
}
"""From exceptions to answers."""
