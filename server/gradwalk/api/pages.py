"""The page: the built front end, also behind permalinks."""

from http import HTTPStatus
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.staticfiles import StaticFiles

from gradwalk.api.rooms import Code
from gradwalk.api.snippets import SnippetId

router = APIRouter(include_in_schema=False)

_REVALIDATED = {"Cache-Control": "no-cache"}
_NOT_BUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>gradwalk</title>
<h1>gradwalk is running, but its page has not been built</h1>
<p>From a checkout, <code>make run</code> builds the page and starts the server;
<code>make install</code> builds it alone. The API works: see <a href="/docs">its description</a>.</p>
</html>
"""


@router.get("/")
async def read_page(request: Request) -> Response:
    """The application."""
    return _page(request)


@router.get("/t/{snippet}")
async def read_permalink(snippet: SnippetId, request: Request) -> Response:  # noqa: ARG001 (the page reads its address)
    """The application; it asks for the snippet itself and runs nothing unasked."""
    return _page(request)


@router.get("/room/{code}")
async def read_room_page(code: Code, request: Request) -> Response:  # noqa: ARG001 (the page reads its address)
    """The application as a follower, or as the presenter's second screen."""
    return _page(request)


def mount_static(app: FastAPI, directory: Path) -> None:
    """Every other file of the front end; last, because it answers to any path."""
    app.state.page = directory / "index.html"
    if directory.is_dir():
        app.mount("/", StaticFiles(directory=directory), name="static")


def _page(request: Request) -> Response:
    page: Path = request.app.state.page
    if page.is_file():
        return FileResponse(page, headers=_REVALIDATED)
    return HTMLResponse(_NOT_BUILT, HTTPStatus.SERVICE_UNAVAILABLE, _REVALIDATED)
