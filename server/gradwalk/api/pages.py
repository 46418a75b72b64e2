"""The page: the built front end, also behind permalinks; and what a permalink gives without it."""

import asyncio
import json
from http import HTTPStatus
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse, Response

from gradwalk.api.bodies import WatchedRoute
from gradwalk.api.codings import PageFiles
from gradwalk.api.errors import FactAnswer
from gradwalk.api.languages import VARIES, language_of
from gradwalk.api.oembed import PREVIEW_HEIGHT, PREVIEW_WIDTH
from gradwalk.api.programs import (
    Place,
    addresses_of,
    find_program,
    find_stored,
    find_trace,
    read_place,
    selection_of,
    title_of,
)
from gradwalk.api.reading import Told, describe_stop, draw_preview, tell_all
from gradwalk.api.rooms import Code
from gradwalk.api.service import Service
from gradwalk.api.snippets import SnippetId
from gradwalk.api.traces import Client, ServiceOf
from gradwalk.engine.engine import BusyError
from gradwalk.exports.exporter import ExportUnavailable, NothingToExport
from gradwalk.exports.markup import render
from gradwalk.protocol.facts import fact
from gradwalk.words.catalogue import say, tell, tell_attribute

router = APIRouter(route_class=WatchedRoute, include_in_schema=False)

_REVALIDATED = {"Cache-Control": "no-cache"}


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
        told = Told(
            *json.loads(await service.make_quickly(f"/told/{trace}/{language}", client, tell_all, stored, language))
        )
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
        problems=told.problems,
        sentences=told.sentences,
        nothing=say("api-page-nothing", language),
    )
    return HTMLResponse(page, headers=_REVALIDATED | VARIES)


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
