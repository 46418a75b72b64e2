"""The description of the API, for programs and as a page to read; made when it is first asked for, and once.

FastAPI's own page loads its scripts from another host, which our Content-Security-Policy forbids; this one needs none.
"""

import asyncio

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import HTMLResponse, Response

from gradwalk.api.made_once import MadeOnce
from gradwalk.exports.markup import render
from gradwalk.protocol.document import encode

_BYTES_MAX = 4 << 20
router = APIRouter(include_in_schema=False)


@router.get("/openapi.json")
async def read_description(request: Request) -> Response:
    """The description itself."""
    return Response((await _written(request.app))[0], media_type="application/json")


@router.get("/docs")
async def read_docs(request: Request) -> Response:
    """Every route with what it takes and what it answers."""
    return HTMLResponse((await _written(request.app))[1])


async def _written(app: FastAPI) -> tuple[bytes, bytes]:
    made: MadeOnce[str, tuple[bytes, bytes]] = app.state.description
    return await made.ask(app.version, lambda: asyncio.to_thread(_write, app))


def new_description() -> MadeOnce[str, tuple[bytes, bytes]]:
    """What an application keeps of its description."""
    return MadeOnce(_BYTES_MAX, lambda _, written: sum(map(len, written)))


def _write(app: FastAPI) -> tuple[bytes, bytes]:
    description = app.openapi()
    return encode(description), render("docs.html", description=description).encode()
