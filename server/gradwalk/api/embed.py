"""The page for frames: the kit's element and the trace, in one answer without cookies or third parties."""

import asyncio
from http import HTTPStatus
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, Response

from gradwalk.api.bodies import WatchedRoute
from gradwalk.api.errors import FactAnswer
from gradwalk.api.languages import VARIES, language_of
from gradwalk.api.programs import Kept, Place, addresses_of, find_program, find_trace, read_place, title_of
from gradwalk.api.reading import bake
from gradwalk.api.service import Service
from gradwalk.api.snippets import SnippetId
from gradwalk.api.traces import JSON, Client, ServiceOf
from gradwalk.exports.markup import inside_script, render
from gradwalk.protocol.facts import fact
from gradwalk.protocol.requests import TraceRequest
from gradwalk.store.compression import decompress
from gradwalk.words.catalogue import say

router = APIRouter(route_class=WatchedRoute, include_in_schema=False)


def frame_policy(frame_ancestors: str) -> str:
    """The Content-Security-Policy of a page that others may frame; also right where its origin is opaque."""
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self' 'wasm-unsafe-eval'",
            "worker-src blob:",
            "style-src 'unsafe-inline'",
            "img-src 'self' data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            f"frame-ancestors {frame_ancestors}",
        )
    )


@router.get("/embed")
@router.get("/embed/")
async def read_empty_embed(request: Request) -> Response:
    """A frame whose program is in its own hash: nothing of it reaches the server before the reader runs it."""
    return _respond(request, title="gradwalk", links=None)


@router.get("/embed/{snippet}")
async def read_embed(
    snippet: SnippetId, request: Request, service: ServiceOf, client: Client, place: Place = None
) -> Response:
    """A program's trace for a frame; what is shown of it is in the query or the hash."""
    program = await find_program(service, snippet)
    baked = await _bake(service, await find_trace(service, program, client), client)
    data = await asyncio.to_thread(inside_script, baked.decode())
    wanted, language = read_place(place), language_of(request.scope)
    return _respond(
        request,
        title=title_of(program.source, language),
        links=addresses_of(request, snippet, wanted),
        step=wanted,
        pictures=say("api-page-pictures", language),
        data=data,
    )


@router.get("/embed/{snippet}/trace.json")
async def read_embedded_trace(
    snippet: SnippetId,
    service: ServiceOf,
    client: Client,
    inputs: Annotated[
        str | None, Query(alias="i", max_length=4000, description="JSON by name, in the place of the program's own.")
    ] = None,
) -> Response:
    """The trace of a program with everything worked out: what `<grad-walk src>` on any page reads, for ever.

    With other inputs it is the bare trace: whoever asks has the places of its graph already, they follow from shapes.
    Only a program that is kept here is run, and within the rate of links, so that a page of anybody's may ask.
    """
    program = await find_program(service, snippet)
    if inputs is not None:
        kept = await find_trace(service, _with_inputs(program, inputs), client)
        return Response(await asyncio.to_thread(decompress, kept.stored), media_type=JSON)
    kept = await find_trace(service, program, client)
    body = await _bake(service, kept, client)
    return Response(body, media_type=JSON, headers={"ETag": f'"{kept.trace}-kit"'})


async def _bake(service: Service, kept: Kept, client: str) -> bytes:
    """With everything worked out: once for all who ask."""
    return await service.make_quickly(f"/embed/{kept.trace}", client, bake, kept.stored)


def _with_inputs(program: TraceRequest, text: str) -> TraceRequest:
    try:
        given = {**program.options.inputs, **orjson.loads(text)}
        raw = program.model_dump()
        return TraceRequest.model_validate({**raw, "options": {**raw["options"], "inputs": given}})
    except (ValueError, TypeError) as error:
        raise FactAnswer(HTTPStatus.UNPROCESSABLE_ENTITY, fact("api-inputs")) from error


def _respond(request: Request, **shown: Any) -> Response:
    language = language_of(request.scope)
    headers = {
        "Content-Language": language,
        **VARIES,
        "Content-Security-Policy": frame_policy(request.app.state.settings.frame_ancestors),
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Cache-Control": "no-cache",
    }
    return HTMLResponse(render("frame.html", language=language, **shown), headers=headers)
