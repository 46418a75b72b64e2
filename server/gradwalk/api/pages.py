"""The page: the built front end, also behind permalinks; what a permalink gives without it; and the page for frames.

That one has the kit's element and the trace in one answer, without cookies or third parties.
"""

import asyncio
import json
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, FastAPI, Query, Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse, Response

from gradwalk.api.bodies import WatchedRoute
from gradwalk.api.codings import PageFiles
from gradwalk.api.errors import FactAnswer
from gradwalk.api.languages import VARIES, language_of
from gradwalk.api.oembed import PREVIEW_HEIGHT, PREVIEW_WIDTH
from gradwalk.api.programs import (
    Kept,
    Place,
    addresses_of,
    find_program,
    find_stored,
    find_trace,
    read_place,
    selection_of,
    title_of,
)
from gradwalk.api.reading import bake, describe_stop, draw_preview, tell_all
from gradwalk.api.rooms import Code
from gradwalk.api.service import Service
from gradwalk.api.snippets import SnippetId
from gradwalk.api.traces import JSON, Client, ServiceOf
from gradwalk.engine.engine import BusyError
from gradwalk.exports.exporter import ExportUnavailable, NothingToExport
from gradwalk.exports.markup import inside_script, render
from gradwalk.protocol.facts import fact
from gradwalk.protocol.requests import TraceRequest
from gradwalk.store.compression import decompress
from gradwalk.words.catalogue import say, tell, tell_attribute

router = APIRouter(route_class=WatchedRoute, include_in_schema=False)

_REVALIDATED = {"Cache-Control": "no-cache"}
_FRAME_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self' 'wasm-unsafe-eval'",
        "worker-src 'self' blob:",
        "style-src 'unsafe-inline'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors {frame_ancestors}",
    )
)
"""Of a page that others may frame; also right where its origin is opaque."""


@router.get("/")
async def read_page(request: Request) -> Response:
    """The application."""
    return await _page(request)


@router.get("/favicon.ico")
async def find_icon() -> Response:
    """Where browsers look for the icon of an answer that names none, such as JSON."""
    return RedirectResponse("/icon.svg", HTTPStatus.PERMANENT_REDIRECT)


@router.get("/t/{snippet}")
async def read_permalink(
    snippet: SnippetId, request: Request, service: ServiceOf, client: Client, place: Place = None
) -> Response:
    """The application; it asks for the snippet itself and runs nothing unasked. Its head is for link previews."""
    return await _page(request, await _describe(request, service, client, snippet, read_place(place)))


@router.get("/t/{snippet}/code")
async def read_code(snippet: SnippetId, service: ServiceOf) -> Response:
    """The program alone."""
    return PlainTextResponse((await find_program(service, snippet)).source)


@router.get("/t/{snippet}/preview.png")
async def read_preview(snippet: SnippetId, service: ServiceOf, client: Client, place: Place = None) -> Response:
    """The linked step as the picture of a link preview."""
    trace, stored = await find_trace(service, await find_program(service, snippet), client)
    selection = selection_of(read_place(place))
    try:
        picture = await service.make_quickly(
            f"/preview/{trace}/{selection}", client, draw_preview, stored, selection, PREVIEW_WIDTH, PREVIEW_HEIGHT
        )
    except (NothingToExport, ExportUnavailable) as reason:
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-no-picture", why=reason.fact)) from reason
    return Response(picture, media_type="image/png", headers={"Cache-Control": "public, max-age=86400"})


@router.get("/noscript/{snippet}")
async def read_without_script(snippet: SnippetId, request: Request, service: ServiceOf, client: Client) -> Response:
    """Every step as a picture and a sentence."""
    language = language_of(request.scope)
    program = await find_program(service, snippet)
    trace, stored = await find_trace(service, program, client)
    try:
        told = await service.make_quickly(f"/told/{trace}/{language}", client, tell_all, stored, language)
    except ExportUnavailable as reason:
        raise FactAnswer(HTTPStatus.SERVICE_UNAVAILABLE, fact("api-nothing-to-read", why=reason.fact)) from reason
    page = render(
        "noscript.html",
        language=language,
        title=title_of(program.source, language),
        open=say("api-page-open", language),
        page=addresses_of(request, snippet).page,
        source=program.source,
        trace=trace,
        **json.loads(told),
        nothing=say("api-page-nothing", language),
    )
    return HTMLResponse(page, headers=_REVALIDATED | VARIES)


@router.get("/embed")
@router.get("/embed/")
async def read_empty_embed(request: Request) -> Response:
    """A frame whose program is in its own hash: nothing of it reaches the server before the reader runs it."""
    return _frame(request, title="gradwalk", links=None)


@router.get("/embed/{snippet}")
async def read_embed(
    snippet: SnippetId, request: Request, service: ServiceOf, client: Client, place: Place = None
) -> Response:
    """A program's trace for a frame; what is shown of it is in the query or the hash."""
    program = await find_program(service, snippet)
    baked = await _bake(service, await find_trace(service, program, client), client)
    data = await asyncio.to_thread(inside_script, baked.decode())
    wanted, language = read_place(place), language_of(request.scope)
    return _frame(
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


@router.get("/room/{code}")
async def read_room_page(code: Code, request: Request) -> Response:  # noqa: ARG001 (the page reads its address)
    """The application as a follower, or as the presenter's second screen."""
    return await _page(request)


def mount_static(app: FastAPI, directory: Path) -> None:
    """Every other file of the front end; last, because it answers to any path."""
    app.state.page = directory / "index.html"
    if directory.is_dir():
        app.mount("/", PageFiles(directory), name="static")


async def _page(request: Request, head: str = "") -> Response:
    page: Path = request.app.state.page
    if not page.is_file():
        return HTMLResponse(
            _not_built(language_of(request.scope)), HTTPStatus.SERVICE_UNAVAILABLE, _REVALIDATED | VARIES
        )
    if not head:
        return FileResponse(page, headers=_REVALIDATED)
    text = await asyncio.to_thread(page.read_text, "utf-8")
    return HTMLResponse(text.replace("</head>", f"{head}</head>", 1), headers=_REVALIDATED | VARIES)


def _not_built(language: str) -> str:
    why = fact("api-not-built")
    return render(
        "unbuilt.html",
        language=language,
        title=tell_attribute(why, "title", language),
        todo=tell(why, language),
        docs=say("api-description", language),
    )


async def _describe(request: Request, service: Service, client: str, snippet: str, place: str | None) -> str:
    """What a permalink says of itself to whoever previews it; nothing for a program that is not here."""
    try:
        program = await find_program(service, snippet)
    except FactAnswer:
        return ""
    language = language_of(request.scope)
    title = title_of(program.source, language)
    known = await find_stored(service, program)
    said = say("api-preview", language)
    if known is not None:
        try:
            selection = selection_of(place, language)
            address = f"/stop/{known.trace}/{selection}"
            stop = await service.make_quickly(address, client, describe_stop, known.stored, selection)
            where, sentence = json.loads(stop)
            said = say("api-preview-at", language, where=where, sentence=sentence)
        except (ExportUnavailable, BusyError):
            pass
        except NothingToExport:
            said = say("api-preview-nothing", language)
    return render(
        "head.html",
        links=addresses_of(request, snippet, place),
        title=title,
        said=said,
        width=PREVIEW_WIDTH,
        height=PREVIEW_HEIGHT,
    )


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


def _frame(request: Request, **shown: Any) -> Response:
    language = language_of(request.scope)
    headers = {
        "Content-Language": language,
        **VARIES,
        "Content-Security-Policy": _FRAME_POLICY.format(frame_ancestors=request.app.state.settings.frame_ancestors),
        "Cross-Origin-Resource-Policy": "cross-origin",
        **_REVALIDATED,
    }
    return HTMLResponse(render("frame.html", language=language, **shown), headers=headers)
