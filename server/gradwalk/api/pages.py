"""The page: the built front end, also behind permalinks; what a permalink gives without it; and the page for frames.

That one has the kit's element and the trace in one answer, without cookies or third parties.
"""

import asyncio
import json
from dataclasses import replace
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
from gradwalk.api.programs import Link, LinkOf, Place, open_link, selection_of
from gradwalk.api.reading import bake, describe_stop, draw_preview, tell_all
from gradwalk.api.rooms import Code
from gradwalk.api.snippets import SnippetId
from gradwalk.api.traces import JSON, Client, Language, ServiceOf
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
    snippet: SnippetId, request: Request, service: ServiceOf, client: Client, language: Language, place: Place = None
) -> Response:
    """The application; it asks for the snippet itself and runs nothing unasked. Its head is for link previews."""
    try:
        link = await open_link(snippet, request, service, client, language, place)
    except FactAnswer:
        return await _page(request)
    return await _page(request, await _describe(link))


@router.get("/t/{snippet}/code")
async def read_code(link: LinkOf) -> Response:
    """The program alone."""
    return PlainTextResponse(link.program.source)


@router.get("/t/{snippet}/preview.png")
async def read_preview(link: LinkOf) -> Response:
    """The linked step as the picture of a link preview."""
    kept, selection = await link.find_trace(), selection_of(link.place)
    try:
        picture = await link.make("preview", kept, draw_preview, selection, PREVIEW_WIDTH, PREVIEW_HEIGHT)
    except (NothingToExport, ExportUnavailable) as reason:
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-no-picture", why=reason.fact)) from reason
    return Response(picture, media_type="image/png", headers={"Cache-Control": "public, max-age=86400"})


@router.get("/noscript/{snippet}")
async def read_without_script(link: LinkOf) -> Response:
    """Every step as a picture and a sentence."""
    kept = await link.find_trace()
    try:
        told = await link.make("told", kept, tell_all, link.language)
    except ExportUnavailable as reason:
        raise FactAnswer(HTTPStatus.SERVICE_UNAVAILABLE, fact("api-nothing-to-read", why=reason.fact)) from reason
    page = render(
        "noscript.html",
        language=link.language,
        title=link.title,
        open=say("api-page-open", link.language),
        page=replace(link, place=None).addresses["page"],
        source=link.program.source,
        trace=kept.trace,
        **json.loads(told),
        nothing=say("api-page-nothing", link.language),
    )
    return HTMLResponse(page, headers=_REVALIDATED | VARIES)


@router.get("/embed")
@router.get("/embed/")
async def read_empty_embed(request: Request) -> Response:
    """A frame whose program is in its own hash: nothing of it reaches the server before the reader runs it."""
    return _frame(request, title="gradwalk", links=None)


@router.get("/embed/{snippet}")
async def read_embed(link: LinkOf, request: Request) -> Response:
    """A program's trace for a frame; what is shown of it is in the query or the hash."""
    baked = await link.make("embed", await link.find_trace(), bake)
    data = await asyncio.to_thread(inside_script, baked.decode())
    return _frame(
        request,
        title=link.title,
        links=link.addresses,
        step=link.place,
        pictures=say("api-page-pictures", link.language),
        data=data,
    )


@router.get("/embed/{snippet}/trace.json")
async def read_embedded_trace(
    link: LinkOf,
    inputs: Annotated[
        str | None, Query(alias="i", max_length=4000, description="JSON by name, in the place of the program's own.")
    ] = None,
) -> Response:
    """The trace of a program with everything worked out: what `<grad-walk src>` on any page reads, for ever.

    With other inputs it is the bare trace: whoever asks has the places of its graph already, they follow from shapes.
    Only a program that is kept here is run, and within the rate of links, so that a page of anybody's may ask.
    """
    if inputs is not None:
        kept = await replace(link, program=_with_inputs(link.program, inputs)).find_trace()
        return Response(await asyncio.to_thread(decompress, kept.stored), media_type=JSON)
    kept = await link.find_trace()
    body = await link.make("embed", kept, bake)
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


async def _describe(link: Link) -> str:
    """What a permalink says of itself to whoever previews it."""
    known = await link.find_stored()
    said = say("api-preview", link.language)
    if known is not None:
        try:
            stop = await link.make("stop", known, describe_stop, selection_of(link.place, link.language))
            where, sentence = json.loads(stop)
            said = say("api-preview-at", link.language, where=where, sentence=sentence)
        except (ExportUnavailable, BusyError):
            pass
        except NothingToExport:
            said = say("api-preview-nothing", link.language)
    return render(
        "head.html", links=link.addresses, title=link.title, said=said, width=PREVIEW_WIDTH, height=PREVIEW_HEIGHT
    )


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
