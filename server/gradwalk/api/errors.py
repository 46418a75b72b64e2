"""Every error as application/problem+json (RFC 9457); nothing of the server's inside leaks.

Besides the standard members there are `kind` and `hint`, with the meaning they have in a `problem` event, and the
`fact` that they say, so that a page can show both alike, in its own language.
"""

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from gradwalk.api.faults import describe_invalid
from gradwalk.api.languages import language_of
from gradwalk.engine.engine import BusyError
from gradwalk.protocol.document import encode
from gradwalk.protocol.events import Problem
from gradwalk.protocol.facts import Fact, fact
from gradwalk.rooms.rooms import (
    NoSuchRoom,
    NotAParticipant,
    NotAsked,
    NotThePresenter,
    RoomError,
    RoomsFull,
    RoomsOutOfReach,
)
from gradwalk.store.store import StoreError
from gradwalk.words.catalogue import say, tell, tell_attribute

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
_ROOM_RETRY_SECONDS = "30"
_ROOM_ERRORS: dict[type[RoomError], HTTPStatus] = {
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


def too_long_response(language: str) -> Response:
    """For a body over the limit."""
    return problem_response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, fact("api-too-long"), language, kind="too_big")


def busy_response(error: BusyError, language: str) -> Response:
    """For what has to wait; `Retry-After` says how long."""
    headers = {"Retry-After": str(error.retry_after_seconds)}
    return problem_response(HTTPStatus.TOO_MANY_REQUESTS, error.fact, language, kind="busy", headers=headers)


def install_error_handlers(app: FastAPI) -> None:
    """From exceptions to answers."""
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(BusyError, _answer_busy)
    app.add_exception_handler(StoreError, _answer_store)
    app.add_exception_handler(RoomError, _answer_room)
    app.add_exception_handler(Exception, _answer_bug)


def _answer_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    language, status = language_of(request.scope), error.status_code
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return too_long_response(language)
    if isinstance(error, FactAnswer):
        return problem_response(status, error.fact, language)
    why = fact("api-status", status=str(status), phrase=HTTPStatus(status).phrase)
    return problem_response(status, why, language, headers=dict(error.headers or {}))


def _answer_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    why = describe_invalid(error.errors())
    return problem_response(HTTPStatus.UNPROCESSABLE_ENTITY, why, language_of(request.scope))


def _answer_busy(request: Request, error: Exception) -> Response:
    assert isinstance(error, BusyError)
    return busy_response(error, language_of(request.scope))


def _answer_store(request: Request, error: Exception) -> Response:
    log.error("store: %s", error)
    language = language_of(request.scope)
    return problem_response(HTTPStatus.SERVICE_UNAVAILABLE, fact("api-store"), language, kind="internal")


def _answer_room(request: Request, error: Exception) -> Response:
    assert isinstance(error, RoomError)
    status = next(found for kind, found in _ROOM_ERRORS.items() if isinstance(error, kind))
    busy = status is HTTPStatus.TOO_MANY_REQUESTS
    headers = {"Retry-After": _ROOM_RETRY_SECONDS} if busy else None
    kind = "busy" if busy else "protocol"
    return problem_response(status, error.fact, language_of(request.scope), kind=kind, headers=headers)


def _answer_bug(request: Request, error: Exception) -> Response:
    log.error("a request broke the server", exc_info=error)
    language = language_of(request.scope)
    return problem_response(HTTPStatus.INTERNAL_SERVER_ERROR, fact("api-bug"), language, kind="internal")
