"""Snippets: what a permalink stands for, whatever version of this server made it."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from gradwalk.api.errors import FactAnswer
from gradwalk.api.traces import PROBLEM, ServiceOf
from gradwalk.protocol.facts import fact

router = APIRouter(prefix="/api/snippets", tags=["snippets"])

SnippetId = Annotated[str, Path(description="The hash of source and options.", pattern=r"^[0-9a-f]{40}$")]


@router.get("/{snippet}", response_model=None, responses={404: {"description": "No such program here.", **PROBLEM}})
async def read_snippet(snippet: SnippetId, service: ServiceOf) -> Response:
    """`{source, options}` of a permalink."""
    request = await service.store.get_snippet(snippet)
    if request is None:
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-no-program"))
    return Response(request, media_type="application/json", headers={"Cache-Control": "public, max-age=86400"})
