"""oEmbed 1.0: what a consumer needs to show a link of ours as a frame. Found by the link element of every page."""

import re
from html import escape
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import parse_qs, urlsplit

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from gradwalk.api.errors import FactAnswer
from gradwalk.api.programs import open_link
from gradwalk.api.traces import NOT_FOUND, Client, Language, ServiceOf
from gradwalk.protocol.facts import fact

router = APIRouter(tags=["pages"])

WIDTH, HEIGHT = 900, 600
PREVIEW_WIDTH, PREVIEW_HEIGHT = 1200, 630
_DAY_SECONDS = 86_400
_OURS = re.compile(r"/(?:t|embed)/([0-9a-f]{40})/?")


@router.get("/oembed", responses={501: {"description": "Only JSON is spoken here."}, **NOT_FOUND})
async def read_oembed(  # noqa: PLR0913 (one parameter per parameter of the specification)
    request: Request,
    service: ServiceOf,
    client: Client,
    language: Language,
    url: Annotated[str, Query(max_length=2000, description="A page of this server.")],
    maxwidth: Annotated[int | None, Query(ge=1)] = None,
    maxheight: Annotated[int | None, Query(ge=1)] = None,
    form: Annotated[str, Query(alias="format", max_length=20)] = "json",
) -> Response:
    """The frame for a link, no larger than asked."""
    if form != "json":
        raise FactAnswer(HTTPStatus.NOT_IMPLEMENTED, fact("api-oembed-format"))
    snippet, place = _read_link(request, url)
    link = await open_link(snippet, request, service, client, language, place)
    links = link.addresses
    width, height = min(WIDTH, maxwidth or WIDTH), min(HEIGHT, maxheight or HEIGHT)
    answer: dict[str, Any] = {
        "version": "1.0",
        "type": "rich",
        "title": link.title,
        "provider_name": "gradwalk",
        "provider_url": str(request.base_url),
        "cache_age": _DAY_SECONDS,
        "html": iframe(links["embed"], link.title, width, height),
        "width": width,
        "height": height,
    }
    if (maxwidth or PREVIEW_WIDTH) >= PREVIEW_WIDTH and (maxheight or PREVIEW_HEIGHT) >= PREVIEW_HEIGHT:
        answer |= {
            "thumbnail_url": links["preview"],
            "thumbnail_width": PREVIEW_WIDTH,
            "thumbnail_height": PREVIEW_HEIGHT,
        }
    return JSONResponse(answer, headers={"Access-Control-Allow-Origin": "*"})


def iframe(address: str, title: str, width: int, height: int) -> str:
    """The frame's markup."""
    return (
        f'<iframe src="{escape(address)}" title="{escape(title)}" width="{width}" height="{height}" '
        'loading="lazy" allow="fullscreen; clipboard-write" allowfullscreen style="border: 0"></iframe>'
    )


def _read_link(request: Request, url: str) -> tuple[str, str | None]:
    try:
        asked = urlsplit(url)
    except ValueError as error:
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-oembed-address")) from error
    match = _OURS.fullmatch(asked.path)
    if asked.netloc != request.base_url.netloc or match is None:
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-oembed-page"))
    return match[1], parse_qs(asked.query).get("s", [None])[0]
