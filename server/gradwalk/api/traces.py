"""Traces: asked for, followed, fetched."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Request
from fastapi.responses import JSONResponse
from starlette.responses import Response
from structlog.contextvars import bind_contextvars

from gradwalk.api.bodies import ProgramRoute
from gradwalk.api.clients import client_of
from gradwalk.api.codings import choose_coding
from gradwalk.api.errors import FactAnswer
from gradwalk.api.event_stream import Stream
from gradwalk.api.languages import language_of
from gradwalk.api.service import Service
from gradwalk.api.streams import read_last_event_id, stream_events, stream_run
from gradwalk.engine.runs import RunState
from gradwalk.protocol.document import join_document
from gradwalk.protocol.facts import fact
from gradwalk.protocol.requests import TraceRequest
from gradwalk.store.compression import unpack

router = APIRouter(route_class=ProgramRoute, prefix="/api/traces", tags=["traces"])

EVENT_STREAM = "text/event-stream"
IMMUTABLE = "public, max-age=31536000, immutable"
JSON = "application/json"
_SOON_SECONDS = "1"

TraceId = Annotated[str, Path(description="A trace's content address.", pattern=r"^[0-9a-f]{40}$")]
Accept = Annotated[str, Header()]
LastEventId = Annotated[str | None, Header(description="The last event a reader has; garbage is read as none.")]


async def service_of(request: Request) -> Service:
    """The service behind every route. Async like every dependency: a plain function is sent through a thread."""
    service: Service = request.app.state.service
    return service


ServiceOf = Annotated[Service, Depends(service_of)]
Client = Annotated[str, Depends(client_of)]


async def _language_of(request: Request) -> str:
    return language_of(request.scope)


Language = Annotated[str, Depends(_language_of)]

REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"description": "The body cannot be read as JSON."},
    403: {"description": "It came from another site's page."},
    413: {"description": "The request is too long."},
    415: {"description": "The body is not JSON."},
    422: {"description": "The request is not as it should be."},
    429: {"description": "Too many programs wait; `Retry-After` says when to try again."},
}
NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"description": "No such trace here (any more)."}}


@router.post(
    "",
    status_code=HTTPStatus.ACCEPTED,
    responses={
        200: {"description": "Known already, or the events themselves."},
        202: {"description": "It runs; follow it at `events`."},
        **REFUSALS,
    },
)
async def create_trace(request: Request, body: TraceRequest, accept: Accept = "") -> Response:
    """Runs a program, or finds its trace. With `Accept: text/event-stream` the events follow at once."""
    # Asked for by a whole hall at once, and each dependency costs as much as all that follows here.
    service, client = await service_of(request), await client_of(request)
    return await find_or_run(service, body, client, streamed=EVENT_STREAM in accept)


async def find_or_run(service: Service, body: TraceRequest, client: str, *, streamed: bool) -> Response:
    """The events of a program as they come, or where its trace is to be had."""
    trace = await service.identify(body)
    bind_contextvars(trace_id=trace)
    stored = await service.find_trace(trace)
    if stored is not None:
        if streamed:
            return stream_events(service, stored, trace, -1, client)
        return _receipt(HTTPStatus.OK, trace, RunState.DONE.value)
    run = await service.start_trace(trace, body, client)
    if streamed:
        return stream_run(service, run, -1)
    return _receipt(HTTPStatus.ACCEPTED, trace, run.state.value)


@router.get(
    "/{trace}",
    responses={
        200: {"description": "The finished document."},
        202: {"description": "It runs; `Retry-After` says when to ask again."},
        304: {"description": "The reader has it."},
        **NOT_FOUND,
    },
)
async def read_trace(
    trace: TraceId, service: ServiceOf, accept_encoding: Accept = "", if_none_match: Accept = ""
) -> Response:
    """The finished document: immutable, compressed once."""
    name = f'"{trace}"'
    kept = {"ETag": f"W/{name}", "Cache-Control": IMMUTABLE, "Vary": "Accept-Encoding"}
    stored = await service.find_trace(trace)
    if stored is not None:
        if name in if_none_match:
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=kept)
        coding = choose_coding(accept_encoding)
        if coding is None:
            return Stream(_paced(unpack(stored)), kept, JSON)
        body = await service.encode_trace(trace, stored, coding)
        return Response(body, media_type=JSON, headers={**kept, "Content-Encoding": coding})
    run = await service.find_run(trace)
    if run is None or (run.outcome is not None and not run.log):
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-no-trace"))
    if run.outcome is None:
        headers = {"Retry-After": _SOON_SECONDS, "Cache-Control": "no-store"}
        return JSONResponse({"id": trace, "status": run.state.value}, HTTPStatus.ACCEPTED, headers)
    headers = kept if run.outcome.lasting else {"Cache-Control": "no-store"}
    return Response(await asyncio.to_thread(join_document, run.log), media_type=JSON, headers=headers)


@router.get(
    "/{trace}/events",
    responses={
        200: {"description": "Events."},
        204: {"description": "Nothing is left after `Last-Event-ID`."},
        **NOT_FOUND,
    },
)
async def follow_trace(
    trace: TraceId, service: ServiceOf, client: Client, last_event_id: LastEventId = None
) -> Response:
    """Server-sent events from the start or after `Last-Event-ID`, of a run under way or a finished trace."""
    after = read_last_event_id(last_event_id)
    stored = await service.find_trace(trace)
    if stored is not None:
        events = await service.events_of(trace, stored, client)
        return _nothing_left() if after >= len(events) - 1 else stream_events(service, stored, trace, after, client)
    run = await service.find_run(trace)
    if run is None:
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-no-trace"))
    if run.outcome is not None and after >= len(run.log) - 1:
        return _nothing_left()
    return stream_run(service, run, after)


async def _paced(parts: Iterator[bytes]) -> AsyncGenerator[bytes]:
    """On the loop, since each takes a tenth of a millisecond; each is sent in its client's turn."""
    for part in parts:
        yield part


def _receipt(status: HTTPStatus, trace: str, state: str) -> Response:
    links = {"self": f"/api/traces/{trace}", "events": f"/api/traces/{trace}/events"}
    body = {"id": trace, "status": state, "links": links}
    return JSONResponse(body, status, {"Cache-Control": "no-store", "Location": links["self"]})


def _nothing_left() -> Response:
    return Response(status_code=HTTPStatus.NO_CONTENT, headers={"Cache-Control": "no-store"})
