"""Rooms: opened, steered, followed, answered."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query
from fastapi.responses import JSONResponse
from fastapi.sse import KEEPALIVE_COMMENT
from starlette.responses import Response

from gradwalk.api.errors import FactAnswer
from gradwalk.api.event_stream import EventStream
from gradwalk.api.streams import retry_frame
from gradwalk.api.traces import REFUSALS, Client, ServiceOf
from gradwalk.protocol.rooms import CODE, GiveAnswer, OpenRoom, ParticipantId, Presence, PresentState, QuestionId
from gradwalk.rooms.room import NOT_THE_PRESENTER, Audience, GoElsewhere, NoSuchRoom

_GONE: dict[int | str, dict[str, Any]] = {404: {"description": "There is no such room (any more)."}}
_COUNTED: dict[int | str, dict[str, Any]] = {
    429: {"description": "Too much at once; `Retry-After` says when to try again."}
}
_REFUSED: dict[int | str, dict[str, Any]] = {
    **REFUSALS,
    403: {"description": "Secret or participant are another room's, or it came from another site's page."},
    **_COUNTED,
}
_OF_A_ROOM = _GONE | _REFUSED
_BEARER = "Bearer "
_NOT_KEPT = {"Cache-Control": "no-store"}

Code = Annotated[str, Path(description="The room's code.", pattern=CODE)]


async def count_request(service: ServiceOf, client: Client) -> AsyncGenerator[None]:
    """Takes one of the asker's requests to rooms, and of the codes that it may try.

    Raises:
        BusyError: that is one too many.
    """
    await service.rates.room.take(client)
    await service.rates.guess.check(client)
    try:
        yield
    except NoSuchRoom:
        await service.rates.guess.take(client)
        raise


async def read_secret(authorization: Annotated[str, Header(description="`Bearer` and the room's secret.")] = "") -> str:
    """The presenter's secret.

    Raises:
        FactAnswer: there is none.
    """
    if not authorization.startswith(_BEARER):
        raise FactAnswer(HTTPStatus.FORBIDDEN, NOT_THE_PRESENTER)
    return authorization.removeprefix(_BEARER).strip()


Secret = Annotated[str, Depends(read_secret)]
router = APIRouter(prefix="/api/rooms", tags=["rooms"], dependencies=[Depends(count_request)])


@router.post("", status_code=HTTPStatus.CREATED, responses=_REFUSED)
async def open_room(body: OpenRoom, service: ServiceOf, client: Client) -> Response:
    """Opens a room: a code for the hall, a secret for the presenter. Nothing is kept after it closes."""
    code, secret = await service.rooms.open(body.shown, client)
    links = {"self": f"/api/rooms/{code}", "events": f"/api/rooms/{code}/events", "page": f"/room/{code}"}
    answer = {"code": code, "secret": secret, "links": links}
    return JSONResponse(answer, HTTPStatus.CREATED, {**_NOT_KEPT, "Location": links["self"]})


@router.get("/{code}", responses=_GONE | _COUNTED)
async def read_room(code: Code, service: ServiceOf) -> Response:
    """What the hall sees now."""
    return Response(await service.rooms.view(code), media_type="application/json", headers=_NOT_KEPT)


@router.get("/{code}/events", responses={200: {"description": "Views."}, **_OF_A_ROOM})
async def follow_room(
    code: Code,
    service: ServiceOf,
    participant: Annotated[ParticipantId | None, Query(description="The name that the room gave.")] = None,
    authorization: Annotated[str, Header(description="`Bearer` and the secret, for the presenter's view.")] = "",
) -> Response:
    """Server-sent events: `room` with the whole view at each change, `closed` at the end."""
    audience = Audience.HALL
    if authorization:
        await service.rooms.authorize(code, await read_secret(authorization))
        audience = Audience.PRESENTER
    views = service.rooms.follow(code, audience, participant if audience is Audience.HALL else None)
    # The first view is fetched here, so that a room that is gone or full is answered with a status.
    first = await anext(views)
    return EventStream(_frames(first, views), service.metrics.stream("room"))


@router.put("/{code}/state", responses=_OF_A_ROOM)
async def present(code: Code, body: PresentState, service: ServiceOf, secret: Secret) -> Response:
    """Sets what everybody sees."""
    revision = await service.rooms.present(code, secret, body.shown)
    return JSONResponse({"revision": revision}, headers=_NOT_KEPT)


@router.put(
    "/{code}/answers/{question}",
    status_code=HTTPStatus.NO_CONTENT,
    responses={409: {"description": "The question is not open."}, **_OF_A_ROOM},
)
async def answer(code: Code, question: QuestionId, body: GiveAnswer, service: ServiceOf) -> Response:
    """One participant's answer; sent again, the last one counts."""
    await service.rates.participant.take(f"{code}/{body.participant}")
    await service.rooms.answer(code, question, body.participant, body.answer)
    return _nothing()


@router.post("/{code}/participants", status_code=HTTPStatus.CREATED, responses=_OF_A_ROOM)
async def take_seat(code: Code, service: ServiceOf) -> Response:
    """A name in the room for a follower: it answers under that, and only while its page is connected."""
    return JSONResponse({"participant": await service.rooms.seat(code)}, HTTPStatus.CREATED, _NOT_KEPT)


@router.put("/{code}/participants/{participant}", status_code=HTTPStatus.NO_CONTENT, responses=_OF_A_ROOM)
async def note_presence(code: Code, participant: ParticipantId, body: Presence, service: ServiceOf) -> Response:
    """Whether a follower follows or tries something of its own."""
    await service.rates.participant.take(f"{code}/{participant}")
    await service.rooms.note_presence(code, participant, following=body.following)
    return _nothing()


@router.delete("/{code}", status_code=HTTPStatus.NO_CONTENT, responses=_OF_A_ROOM)
async def close_room(code: Code, service: ServiceOf, secret: Secret) -> Response:
    """Ends the room; everything about it is forgotten."""
    await service.rooms.close_room(code, secret)
    return _nothing()


async def _frames(first: bytes | None, views: AsyncGenerator[bytes | None]) -> AsyncGenerator[bytes]:
    async with aclosing(views):
        yield retry_frame()
        yield _frame(first)
        try:
            async for view in views:
                yield _frame(view)
        except GoElsewhere:
            return  # a stream that ends without `closed` is asked for again
    yield b"event: closed\ndata: {}\n\n"


def _frame(view: bytes | None) -> bytes:
    return KEEPALIVE_COMMENT if view is None else b"event: room\ndata: %b\n\n" % view


def _nothing() -> Response:
    return Response(status_code=HTTPStatus.NO_CONTENT, headers=_NOT_KEPT)
