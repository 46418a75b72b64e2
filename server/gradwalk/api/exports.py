"""A finished trace as a file."""

import asyncio
import gzip
import json
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query
from starlette.responses import JSONResponse, Response

from gradwalk.api.errors import problem_response
from gradwalk.api.service import Service, join_document
from gradwalk.api.traces import IMMUTABLE, NOT_FOUND, PROBLEM, ServiceOf, TraceId
from gradwalk.exports.catalogue import EXPORTERS, find_exporter
from gradwalk.exports.exporter import LAST_PHASE, Every, Exporter, ExportUnavailable, NothingToExport, Selection
from gradwalk.protocol.upgrades import load_document

router = APIRouter(prefix="/api", tags=["exports"])


@router.get("/exports", response_model=None)
async def list_exports() -> Response:
    """What a trace can be turned into, in the order of the menu."""
    listed = [
        {
            "name": e.name,
            "media_type": e.media_type,
            "suffix": e.suffix,
            "summary": e.summary,
            "is_still": e.is_still,
            "has_pages": e.has_pages,
        }
        for e in EXPORTERS
    ]
    return JSONResponse({"exports": listed})


@router.get(
    "/traces/{trace}/export/{name}",
    response_model=None,
    responses={
        200: {"description": "The file."},
        409: {"description": "This trace has nothing to draw; the problem says why.", **PROBLEM},
        501: {"description": "This server cannot make such a file; the problem says what is missing.", **PROBLEM},
        **NOT_FOUND,
    },
)
async def export_trace(
    trace: TraceId,
    name: Annotated[str, Path(description="One of `/api/exports`.", max_length=32)],
    service: ServiceOf,
    step: Annotated[int | None, Query(ge=0, lt=2**31, description="1-based; 0 is before the pass.")] = None,
    phase: Annotated[int, Query(ge=1, le=LAST_PHASE)] = LAST_PHASE,
    every: Annotated[Every, Query(description="What one page, slide or picture of a film shows.")] = "step",
) -> Response:
    """The whole trace, or one still of it: the last step unless `step` says another."""
    exporter = find_exporter(name)
    if exporter is None:
        known = ", ".join(each.name for each in EXPORTERS)
        raise HTTPException(HTTPStatus.NOT_FOUND, f"There is no export of that name. There are: {known}.")
    document = await _finished_document(service, trace)
    try:
        body = await asyncio.to_thread(_write, exporter, document, Selection(step, phase, every))
    except NothingToExport as reason:
        return problem_response(HTTPStatus.CONFLICT, "Nothing to draw", _sentence(reason), kind="not_differentiable")
    except ExportUnavailable as reason:
        return problem_response(HTTPStatus.NOT_IMPLEMENTED, "Not available here", _sentence(reason), kind="internal")
    still = "" if not exporter.is_still or step is None else f"-{step}.{phase}"
    disposition = f'inline; filename="gradwalk-{trace[:8]}{still}.{exporter.suffix}"'
    headers = {"Content-Disposition": disposition, "Cache-Control": IMMUTABLE}
    return Response(body, media_type=exporter.media_type, headers=headers)


async def _finished_document(service: Service, trace: str) -> bytes:
    stored = await service.store.get_trace(trace)
    if stored is not None:
        return await asyncio.to_thread(gzip.decompress, stored)
    run = service.find_run(trace)
    if run is None or run.outcome is None or not run.log:
        raise HTTPException(HTTPStatus.NOT_FOUND, "No such finished trace here. Send its program again.")
    return join_document(run.log)


def _write(exporter: Exporter, document: bytes, selection: Selection) -> bytes:
    raw: dict[str, Any] = json.loads(document)
    return exporter.write(load_document(raw), selection)


def _sentence(reason: Exception) -> str:
    text = str(reason)
    return text[:1].upper() + text[1:] + "."
