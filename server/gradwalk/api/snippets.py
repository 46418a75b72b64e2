"""Snippets: what a permalink stands for, whatever version of this server made it."""

from hmac import compare_digest
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path
from starlette.responses import JSONResponse, Response

from gradwalk.api.bodies import JsonRoute
from gradwalk.api.errors import FactAnswer
from gradwalk.api.traces import REFUSALS, Client, ServiceOf
from gradwalk.protocol.facts import fact
from gradwalk.protocol.requests import TraceRequest

router = APIRouter(route_class=JsonRoute, prefix="/api/snippets", tags=["snippets"])

_NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"description": "No such program here."}}
SnippetId = Annotated[str, Path(description="The hash of source and options.", pattern=r"^[0-9a-f]{40}$")]


@router.post("", status_code=HTTPStatus.CREATED, responses=REFUSALS)
async def keep_snippet(body: TraceRequest, service: ServiceOf, client: Client) -> Response:
    """Keeps a program for its permalink, which runs alone do not; each reading keeps it for longer."""
    snippet = await service.keep_program(body, client)
    links = {"self": f"/api/snippets/{snippet}", "page": f"/t/{snippet}", "embed": f"/embed/{snippet}"}
    headers = {"Cache-Control": "no-store", "Location": links["self"]}
    return JSONResponse({"id": snippet, "links": links}, HTTPStatus.CREATED, headers)


@router.get("/{snippet}", responses=_NOT_FOUND)
async def read_snippet(snippet: SnippetId, service: ServiceOf) -> Response:
    """`{source, options}` of a permalink."""
    request = await service.store.get_snippet(snippet)
    if request is None:
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-no-program"))
    return Response(request, media_type="application/json", headers={"Cache-Control": "public, max-age=86400"})


@router.put("/{snippet}/pin", status_code=HTTPStatus.NO_CONTENT, responses=REFUSALS | _NOT_FOUND)
async def pin_snippet(
    snippet: SnippetId,
    service: ServiceOf,
    client: Client,
    authorization: Annotated[str, Header(description="`Bearer` and the owner's token, GRADWALK_OWNER_TOKEN.")] = "",
) -> None:
    """Keeps the program of a permalink for good: it makes room for no other and does not age."""
    await service.rates.guess.check(client)
    token = service.settings.owner_token.get_secret_value()
    if not token or not compare_digest(authorization.encode(), f"Bearer {token}".encode()):
        await service.rates.guess.take(client)
        raise FactAnswer(HTTPStatus.FORBIDDEN, fact("api-not-the-owner"))
    if not await service.store.pin_snippet(snippet):
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-no-program"))
