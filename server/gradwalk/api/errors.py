"""Every error as application/problem+json (RFC 9457); nothing of the server's inside leaks.

Besides the standard members there are `kind` and `hint`, with the meaning they have in a `problem` event, so
that a page can show both alike.
"""

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from gradwalk.engine.engine import BusyError
from gradwalk.protocol.document import encode
from gradwalk.rooms.rooms import NoSuchRoom, NotAsked, NotThePresenter, RoomError, RoomsFull, RoomsOutOfReach
from gradwalk.store.store import StoreError

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
_PLACES_SHOWN = 3
_ROOM_RETRY_SECONDS = "30"
_ROOM_ERRORS: dict[type[RoomError], tuple[HTTPStatus, str]] = {
    NoSuchRoom: (HTTPStatus.NOT_FOUND, "No such room"),
    NotThePresenter: (HTTPStatus.FORBIDDEN, "You do not steer this room"),
    NotAsked: (HTTPStatus.CONFLICT, "This question is closed"),
    RoomsFull: (HTTPStatus.TOO_MANY_REQUESTS, "No place left"),
    RoomsOutOfReach: (HTTPStatus.SERVICE_UNAVAILABLE, "Rooms do not answer"),
}


def problem_response(
    status: int,
    title: str,
    detail: str,
    *,
    kind: str = "protocol",
    hint: str | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """One error answer."""
    body: dict[str, Any] = {"type": "about:blank", "title": title, "status": status, "detail": detail, "kind": kind}
    if hint is not None:
        body["hint"] = hint
    own = {"Cache-Control": "no-store", **(headers or {})}
    return Response(encode(body), status_code=status, media_type=MEDIA_TYPE, headers=own)


def too_long_response() -> Response:
    """For a body over the limit."""
    return problem_response(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "The request is too long",
        "This request is longer than the server reads. Send a shorter program or smaller inputs.",
        kind="too_big",
    )


def install_error_handlers(app: FastAPI) -> None:
    """From exceptions to answers."""
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(BusyError, _answer_busy)
    app.add_exception_handler(StoreError, _answer_store)
    app.add_exception_handler(RoomError, _answer_room)
    app.add_exception_handler(Exception, _answer_bug)


def _answer_http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    title = HTTPStatus(error.status_code).phrase
    if error.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return too_long_response()
    return problem_response(error.status_code, title, str(error.detail), headers=dict(error.headers or {}))


def _answer_invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    sentences = [f"{_place(each['loc'])}: {each['msg']}" for each in found[:_PLACES_SHOWN]]
    more = [f"and {len(found) - _PLACES_SHOWN} more"] if len(found) > _PLACES_SHOWN else []
    detail = "; ".join(sentences + more).encode("utf-8", "replace").decode()
    return problem_response(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "The request is not as it should be",
        detail,
        hint="The form of requests is at /docs.",
    )


def _answer_busy(_: Request, error: Exception) -> Response:
    assert isinstance(error, BusyError)
    seconds = error.retry_after_seconds
    return problem_response(
        HTTPStatus.TOO_MANY_REQUESTS,
        "The server is busy",
        f"{error} Try again in {seconds} s.",
        kind="busy",
        headers={"Retry-After": str(seconds)},
    )


def _answer_store(_: Request, error: Exception) -> Response:
    log.error("store: %s", error)
    return problem_response(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "The store of traces does not answer",
        "Traces cannot be read or kept at the moment. Whoever runs this server finds the reason in its log.",
        kind="internal",
    )


def _answer_room(_: Request, error: Exception) -> Response:
    status, title = next(found for kind, found in _ROOM_ERRORS.items() if isinstance(error, kind))
    busy = status is HTTPStatus.TOO_MANY_REQUESTS
    headers = {"Retry-After": _ROOM_RETRY_SECONDS} if busy else None
    return problem_response(status, title, str(error), kind="busy" if busy else "protocol", headers=headers)


def _answer_bug(_: Request, error: Exception) -> Response:
    log.error("a request broke the server", exc_info=error)
    return problem_response(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "The server made a mistake",
        "This is a bug of gradwalk, not of your program; it was written to the server's log.",
        kind="internal",
    )


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part)[:60] for part in location)
