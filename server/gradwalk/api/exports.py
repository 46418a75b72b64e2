"""A finished trace as a file."""

import asyncio
import gzip
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, HTTPException, Path, Query
from fastapi.sse import format_sse_event
from starlette.responses import JSONResponse, Response

from gradwalk.api.errors import problem_response
from gradwalk.api.event_stream import EventStream
from gradwalk.api.finished import IMMUTABLE
from gradwalk.api.service import Service
from gradwalk.api.traces import NOT_FOUND, PROBLEM, ServiceOf, TraceId
from gradwalk.api.workshop import Making
from gradwalk.exports.catalogue import EXPORTERS, find_exporter
from gradwalk.exports.exporter import (
    LAST_PHASE,
    Direction,
    Every,
    Exporter,
    ExportUnavailable,
    NothingToExport,
    Report,
    Selection,
)
from gradwalk.protocol.document import encode, join_document
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


_PROBLEMS: dict[int | str, dict[str, Any]] = {
    409: {"description": "This trace has nothing to draw; the problem says why.", **PROBLEM},
    501: {"description": "This server cannot make such a file; the problem says what is missing.", **PROBLEM},
    **NOT_FOUND,
}
Name = Annotated[str, Path(description="One of `/api/exports`.", max_length=32)]


@dataclass(frozen=True)
class Wanted:
    """The part of the trace that a file shows."""

    step: Annotated[int | None, Query(ge=0, lt=2**31, description="1-based; 0 is before the pass.")] = None
    phase: Annotated[int, Query(ge=1, le=LAST_PHASE)] = LAST_PHASE
    every: Annotated[Every, Query(description="What one page, slide or picture of a film shows.")] = "step"
    direction: Annotated[Direction, Query(description="Which walk; the forward one has phases 1 to 3.")] = "backward"

    @property
    def query(self) -> str:
        """As in an address."""
        given = {"step": self.step, "phase": self.phase, "every": self.every, "direction": self.direction}
        return urlencode({name: value for name, value in given.items() if value is not None})


@router.get(
    "/traces/{trace}/export/{name}", response_model=None, responses={200: {"description": "The file."}, **_PROBLEMS}
)
async def export_trace(
    trace: TraceId, name: Name, service: ServiceOf, wanted: Annotated[Wanted, Depends()]
) -> Response:
    """The whole trace, or one still of it: the last step unless `step` says another."""
    exporter = _exporter(name)
    try:
        body = await (await _ask(service, trace, exporter, wanted)).body()
    except (NothingToExport, ExportUnavailable) as reason:
        return _refusal(reason)
    still = "" if not exporter.is_still or wanted.step is None else f"-{wanted.step}.{wanted.phase}"
    disposition = f'inline; filename="gradwalk-{trace[:8]}{still}.{exporter.suffix}"'
    headers = {"Content-Disposition": disposition, "Cache-Control": IMMUTABLE}
    return Response(body, media_type=exporter.media_type, headers=headers)


@router.get(
    "/traces/{trace}/export/{name}/progress",
    response_model=None,
    responses={
        200: {
            "description": "`progress` {done, of} while pages are drawn, then `done` {address}, or `problem`.",
            "content": {"text/event-stream": {}},
        },
        **NOT_FOUND,
    },
)
async def follow_export(
    trace: TraceId, name: Name, service: ServiceOf, wanted: Annotated[Wanted, Depends()]
) -> Response:
    """Makes the same file and tells how far it is; it is then fetched from the address told at the end."""
    making = await _ask(service, trace, _exporter(name), wanted)
    told = _tell(making, f"/api/traces/{trace}/export/{name}?{wanted.query}")
    return EventStream(told, service.metrics.stream("export"))


async def _tell(making: Making, address: str) -> AsyncGenerator[bytes]:
    async for done, of in making.progress():
        yield format_sse_event(event="progress", data_str=encode({"done": done, "of": of}).decode())
    try:
        await making.body()
    except (NothingToExport, ExportUnavailable) as reason:
        yield format_sse_event(event="problem", data_str=encode({"detail": _sentence(reason)}).decode())
    else:
        yield format_sse_event(event="done", data_str=encode({"address": address}).decode())


def _exporter(name: str) -> Exporter:
    exporter = find_exporter(name)
    if exporter is None:
        known = ", ".join(each.name for each in EXPORTERS)
        raise HTTPException(HTTPStatus.NOT_FOUND, f"There is no export of that name. There are: {known}.")
    return exporter


async def _ask(service: Service, trace: str, exporter: Exporter, wanted: Wanted) -> Making:
    document = await _finished_document(service, trace)

    def make(report: Report) -> bytes:
        raw: dict[str, Any] = json.loads(document)
        selection = Selection(wanted.step, wanted.phase, wanted.every, wanted.direction, report)
        return exporter.write(load_document(raw), selection)

    return service.workshop.ask(f"{trace}/{exporter.name}?{wanted.query}", make)


def _refusal(reason: Exception) -> Response:
    if isinstance(reason, NothingToExport):
        return problem_response(HTTPStatus.CONFLICT, "Nothing to draw", _sentence(reason), kind="not_differentiable")
    return problem_response(HTTPStatus.NOT_IMPLEMENTED, "Not available here", _sentence(reason), kind="internal")


async def _finished_document(service: Service, trace: str) -> bytes:
    stored = await service.find_trace(trace)
    if stored is not None:
        return await asyncio.to_thread(gzip.decompress, stored)
    run = await service.find_run(trace)
    if run is None or run.outcome is None or not run.log:
        raise HTTPException(HTTPStatus.NOT_FOUND, "No such finished trace here. Send its program again.")
    return join_document(run.log)


def _sentence(reason: Exception) -> str:
    text = str(reason)
    return text[:1].upper() + text[1:] + "."
